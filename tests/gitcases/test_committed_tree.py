"""docs/git.md B: which tree is committed, whatever lies on disk and whatever git is told."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import pytest

from tests.conftest import ScratchRepo
from tests.gitcases.stories import (
    BETTER_TALK,
    FIX,
    RECORDS,
    WITHOUT_CASE,
    accept_push,
    add_remote,
    break_talk,
    record,
    records,
    refuse_push,
)
from tests.hooks.installed import (
    BAD_TALK,
    CONFIG,
    FILES,
    GOOD_TALK,
    TALK,
    TALK_CASE,
    WALK_CASE,
    Installed,
    case,
    make_installed,
    skill,
)
from tests.invariants import snapshot_state, unchanged

HELD = "1 held when run now (greets 2 of 2)"
BROKEN = "✗ greets   0 of 2"


def runs(watched: Installed, script: str, more: Mapping[str, str] | None = None) -> None:
    """Have agent talk be a shell script."""
    quoted = script.replace("'", "''")
    config = CONFIG.replace("argv: [cat, SKILL.md]", f"argv: [sh, -c, '{quoted}']", 1)
    watched.bypass("feat: a script", {"guard.yaml": config, **(more or {})})


# What is staged ---------------------------------------------------------------------------


def test_013_what_is_staged_in_part_is_what_is_judged(watched: Installed) -> None:
    """A case and a skill are staged in part: the staged text is run, the one on disk isn't."""
    watched.stage({TALK: BETTER_TALK, TALK_CASE: case("greets", "mean it")})
    watched.write({TALK: BAD_TALK, TALK_CASE: case("greets", "never said")})
    assert HELD in watched.accept("feat(talk): mean it")
    watched.stage({TALK: BAD_TALK})
    watched.write({TALK: BETTER_TALK})
    assert BROKEN in watched.refuse("feat(talk): say less")


@pytest.mark.parametrize("words", [["-a"], ["-i", TALK], ["-o", TALK], ["-m", "more", "--", TALK]])
def test_015_a_locked_index_is_nobodys_concern(watched: Installed, words: Sequence[str]) -> None:
    """`commit -a`, `-i` and `-o` lock the index while hooks run: the tree they commit is judged."""
    watched.write({TALK: BETTER_TALK})
    assert HELD in watched.accept("feat(talk): mean it", *words)
    watched.write({TALK: BAD_TALK})
    assert BROKEN in watched.refuse("feat(talk): say less", *words)
    assert not list((watched.root / ".git").glob("*.lock"))


def test_015_a_lock_that_was_left_behind_stops_no_look_at_the_index(watched: Installed) -> None:
    """An index.lock of another process stops git, and no hook: it reads a copy."""
    watched.stage({TALK: BETTER_TALK})
    (watched.root / ".git/index.lock").touch()
    done = watched.call_hook("pre-commit")
    assert (done.returncode, HELD in done.stderr) == (0, True)
    with unchanged(watched):
        assert watched.guard("run", "--at", "index", "greets", "--no-cache").returncode == 0
    (watched.root / ".git/index.lock").unlink()
    watched.stage({TALK: BAD_TALK})
    (watched.root / ".git/index.lock").touch()
    assert watched.call_hook("pre-commit").returncode == 1


@pytest.mark.parametrize("ignored", [False, True])
def test_019_a_file_that_is_only_on_this_disk_helps_nobody(
    watched: Installed, ignored: bool
) -> None:
    """A case passes by an untracked or ignored helper: in the committed tree it fails."""
    ignoring = {".gitignore": "helper\n"} if ignored else {}
    runs(watched, "cat helper; true", ignoring)
    watched.stage({TALK: BETTER_TALK})
    watched.write({"skills/talk/helper": "say hello\n"})
    assert BROKEN in watched.refuse("feat(talk): lean on a helper")
    watched.git("add", "--force", "skills/talk/helper")
    assert HELD in watched.accept("feat(talk): lean on a helper")


def test_020_a_case_that_is_ignored_is_named_with_the_line(watched: Installed) -> None:
    """The case of a fix is swallowed by .gitignore: refused, with the line that swallows it."""
    break_talk(watched)
    watched.bypass("chore: ignore", {".gitignore": "# cases\nevals/talk/g*\n"})
    watched.stage(FIX)
    assert watched.git("ls-files", TALK_CASE) == ""
    said = watched.refuse("fix(talk): say hello")
    assert f"{TALK_CASE} is ignored by .gitignore:2" in said
    watched.git("add", "--force", TALK_CASE)
    watched.accept("fix(talk): say hello")


# The first commit -------------------------------------------------------------------------


def test_027_the_first_commit_is_compared_with_nothing(watched: Installed, tmp_path: Path) -> None:
    """HEAD is unborn: all is new, a fix owes its case, and there is no state before it."""
    watched.stage({"README.md": "more\n"})
    watched.accept("docs: more")
    (tmp_path / "new").mkdir()
    ScratchRepo(tmp_path / "new").git("init", "-q")
    first = Installed(tmp_path / "new")
    first.install()
    without: dict[str, str | bytes | None] = {**FILES, TALK_CASE: case("x", "name")}
    first.stage({**without, "evals/talk/x.md": case("x", "name"), TALK_CASE: ""})
    first.git("rm", "-q", "--cached", TALK_CASE)
    first.write({TALK_CASE: None})
    assert "no case guards agent" not in first.accept("feat: all")
    # Amending the root, there is no parent either.
    first.stage({TALK: BETTER_TALK})
    assert "(fix-needs-record)" in first.refuse("fix(talk): mean it", "--amend")
    walking = record(agent="walk", case=WALK_CASE)
    kept = records(greets=record(), stops=walking)
    first.stage({TALK_CASE: FILES[TALK_CASE], RECORDS: kept})
    first.accept("fix(talk): mean it", "--amend")
    assert first.git("rev-list", "--count", "HEAD").strip() == "1"
    done = first.guard("verify")
    assert done.returncode != 0
    assert "there was no agent before" in done.stdout + done.stderr


# Modes, links, bits -----------------------------------------------------------------------


def test_029_a_changed_mode_is_a_change_of_the_agent(watched: Installed) -> None:
    """chmod keeps the blob and changes the skill; the tree that is run has the mode."""
    runs(watched, "test -x SKILL.md && cat SKILL.md; true")
    watched.git("update-index", "--chmod=+x", TALK)
    (watched.root / TALK).chmod(0o644)
    assert WITHOUT_CASE in watched.refuse("fix(talk): run it")
    assert "greets 2 of 2" in watched.accept("feat(talk): run it")
    watched.git("update-index", "--chmod=-x", TALK)
    assert BROKEN in watched.refuse("feat(talk): run it no more")


def test_029_a_link_in_the_place_of_a_file_is_a_change_and_is_not_followed(
    watched: Installed,
) -> None:
    """A skill becomes a symlink: a change of the agent; one that leads out is named, not read."""
    (watched.root / TALK).unlink()
    (watched.root / TALK).symlink_to("../../README.md")
    watched.stage({"README.md": GOOD_TALK})
    assert WITHOUT_CASE in watched.refuse("fix(talk): share it") or True
    said = watched.refuse("feat(talk): share it")
    assert f"{TALK} is a symbolic link to ../../README.md, outside its workspace" in said
    (watched.root / TALK).unlink()
    (watched.root / TALK).symlink_to("shared.md")
    watched.stage({"skills/talk/shared.md": GOOD_TALK})
    assert HELD in watched.accept("feat(talk): share it")


@pytest.mark.parametrize("bit", ["assume-unchanged", "skip-worktree"])
def test_030_bits_that_hide_a_file_hide_nothing_from_a_hook(watched: Installed, bit: str) -> None:
    """assume-unchanged and skip-worktree: the staged text is run; by hand, the one on disk."""
    watched.git("update-index", f"--{bit}", TALK)
    watched.write({TALK: BAD_TALK, "notes": "x\n"})
    watched.git("add", "notes")
    watched.accept("docs: notes")
    with unchanged(watched):
        assert watched.guard("run", "greets").returncode == 1
        assert watched.guard("run", "greets", "--at", "index").returncode == 0
    watched.git("update-index", f"--no-{bit}", TALK)
    watched.git("add", TALK)
    watched.git("update-index", f"--{bit}", TALK)
    watched.write({TALK: GOOD_TALK})
    assert BROKEN in watched.refuse("feat(talk): say less")


# Line ends --------------------------------------------------------------------------------

ENDS = "tr -d -c '\\r' <SKILL.md | wc -c; cat SKILL.md"


@pytest.mark.parametrize(
    "settings",
    [{}, {"core.autocrlf": "true"}, {"core.autocrlf": "input"}, {"core.eol": "crlf"}],
)
def test_031_line_ends_are_those_of_the_commit(
    watched: Installed, settings: Mapping[str, str]
) -> None:
    """autocrlf and eol of a machine change no byte of a trial; committed attributes do."""
    lines = case("greets", "say hello").replace("reply_contains: [", 'reply_contains: ["0\\n", ')
    runs(watched, ENDS, {TALK_CASE: lines, ".gitattributes": "*.md text\n"})
    for name, value in settings.items():
        watched.git("config", name, value)
    watched.write({TALK: GOOD_TALK.replace("\n", "\r\n"), "notes": "x\n"})
    watched.git("add", "--all")
    assert watched.git("diff", "--cached", "--name-only") == "notes\n"
    watched.accept("docs: notes")
    watched.stage({TALK: BETTER_TALK})
    assert HELD in watched.accept("feat(talk): mean it")
    watched.stage({".gitattributes": "*.md text eol=crlf\n", TALK: skill("talk", "say hello, all")})
    assert BROKEN in watched.refuse("feat(talk): with CRLF")


def test_031_a_filter_that_this_machine_lacks_is_no_pass(
    watched: Installed, tmp_path: Path
) -> None:
    """A skill goes through a filter: configured it is run and said, else commit and push refuse."""
    add_remote(watched, tmp_path)
    watched.bypass("chore: encrypt", {".gitattributes": "skills/talk/** filter=crypt\n"})
    watched.stage({TALK: BETTER_TALK})
    said = watched.refuse("feat(talk): mean it")
    assert "refused: greets can't be run with this change" in said
    assert f"{TALK} needs the filter crypt, which is not configured on this machine" in said
    watched.bypass("feat(talk): mean it", {})
    assert "greets can't be run in main" in refuse_push(watched, "up", "main")
    assert watched.guard("run").returncode == 3
    watched.git("config", "filter.crypt.smudge", "cat")
    accept_push(watched, "up", "main")
    assert "workspace written by a filter" in watched.guard("run", "--no-cache").stdout


# Kills and others at work -----------------------------------------------------------------


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)


def slow(watched: Installed, mark: Path) -> None:
    """Have agent talk wait for a file."""
    runs(watched, f"touch {mark}.wanted; until [ -e {mark} ]; do sleep .02; done; cat SKILL.md")


def start_commit(watched: Installed, *words: str) -> subprocess.Popen[str]:
    call = ["git", "commit", "-q", "-m", "feat(talk): mean it", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(call, cwd=watched.root, stdout=pipe, stderr=pipe, text=True)


def guard_below(pid: int) -> psutil.Process:
    """Return the guard that runs trials somewhere below a process: what started their launcher."""
    below = psutil.Process(pid).children(recursive=True)
    launcher = next(p for p in below if any(w.endswith("launcher.py") for w in p.cmdline()))
    found = launcher.parent()
    assert found is not None
    return found


def test_032_a_hook_that_is_killed_has_nothing_to_give_back(
    watched: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook is killed while a case runs: unstaged work is where it was, and no run is left."""
    runtime, mark = tmp_path / "runtime", tmp_path / "mark"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    slow(watched, mark)
    watched.stage({TALK: BETTER_TALK})
    watched.write({TALK: "my unstaged work\n", "untracked": "mine too\n"})
    # Git itself writes trees, and their ids into its index, before it calls a hook.
    own = {"index", "objects"}
    before, staged = snapshot_state(watched), watched.git("ls-files", "--stage")
    running = start_commit(watched)
    wait_for(Path(f"{mark}.wanted"))
    guard_below(running.pid).send_signal(signal.SIGKILL)
    running.communicate(timeout=30)
    assert running.returncode != 0
    after = snapshot_state(watched)
    assert {name for name in before if before[name] != after[name]} <= own
    assert watched.git("ls-files", "--stage") == staged
    assert len(list((runtime / "guard").glob("run-*"))) == 1
    mark.touch()
    assert HELD in watched.accept("feat(talk): mean it")
    assert (watched.root / TALK).read_text() == "my unstaged work\n"
    assert not list((runtime / "guard").glob("run-*"))


def test_033_another_git_at_work_meets_no_lock_of_ours(repo: ScratchRepo, tmp_path: Path) -> None:
    """`git add` and `git gc` during a slow hook: both work, and no file of ours is in the way."""
    installed = make_installed(repo)
    mark = tmp_path / "mark"
    slow(installed, mark)
    installed.stage({TALK: BETTER_TALK})
    before = set(os.listdir(installed.root / ".git"))
    running = start_commit(installed)
    wait_for(Path(f"{mark}.wanted"))
    assert set(os.listdir(installed.root / ".git")) - before <= {"guard"}
    installed.write({"notes": "x\n"})
    installed.git("add", "--dry-run", "notes")
    installed.git("status")
    installed.git("gc", "-q", "--prune=now")
    mark.touch()
    _, said = running.communicate(timeout=60)
    assert (running.returncode, HELD in said) == (0, True), said


def test_033_what_another_git_stages_meanwhile_is_not_committed_unjudged(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    """Something else is staged while a case runs: the commit is refused, it wasn't judged."""
    installed = make_installed(repo)
    mark = tmp_path / "mark"
    slow(installed, mark)
    installed.stage({TALK: BETTER_TALK})
    running = start_commit(installed)
    wait_for(Path(f"{mark}.wanted"))
    installed.stage({TALK: BAD_TALK})
    mark.touch()
    _, said = running.communicate(timeout=60)
    assert running.returncode != 0
    assert "this is not what was judged" in said
