"""docs/git.md A: what git gives a hook, and what stands around it."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from guard.nesting import marker_of
from tests.conftest import ScratchRepo
from tests.gitcases.stories import (
    BETTER_TALK,
    FIX,
    RECORDS,
    WITHOUT_CASE,
    ZERO,
    break_talk,
    commit_in,
    record,
    records,
)
from tests.hooks.installed import (
    BAD_TALK,
    CONFIG,
    FILES,
    GOOD_TALK,
    TALK,
    Installed,
    case,
)
from tests.invariants import unchanged

#: A folder, and the words of `git` that commit there.
Place = tuple[Path, tuple[str, ...]]


def hooks_of(watched: Installed) -> str:
    return str(watched.root / ".git" / "hooks")


def borrow_hooks(watched: Installed, place: Path, *git: str) -> None:
    """Have another repository call the hooks that are watched."""
    done = commit_in(place, *git, "config", "core.hooksPath", hooks_of(watched))
    assert done.returncode == 0, done.stderr


def main_worktree(watched: Installed, folder: Path) -> Place:
    return watched.root, ("git",)


def linked_subfolder(watched: Installed, folder: Path) -> Place:
    watched.git("worktree", "add", "-q", str(folder / "linked"))
    return folder / "linked" / "skills", ("git",)


def from_elsewhere(watched: Installed, folder: Path) -> Place:
    ceiling = f"GIT_CEILING_DIRECTORIES={folder}"
    return folder, ("env", ceiling, "git", "-C", str(watched.root / "evals"))


def through_a_link(watched: Installed, folder: Path) -> Place:
    (folder / "link").symlink_to(watched.root)
    return folder / "link" / "skills", ("git",)


def submodule(watched: Installed, folder: Path) -> Place:
    above = folder / "above"
    above.mkdir()
    ScratchRepo(above).git("init", "-q")
    ScratchRepo(above).git("submodule", "--quiet", "add", str(watched.root), "below")
    borrow_hooks(watched, above / "below")
    return above / "below", ("git",)


def bare_with_worktree(watched: Installed, folder: Path) -> Place:
    watched.git("clone", "-q", "--bare", str(watched.root), str(folder / "bare"))
    borrow_hooks(watched, folder / "bare")
    ScratchRepo(folder / "bare").git("worktree", "add", "-q", str(folder / "tree"), "main")
    return folder / "tree", ("git",)


def separate_git_dir(watched: Installed, folder: Path) -> Place:
    """A clone whose .git is a file, as `git init --separate-git-dir` leaves it."""
    where = str(folder / "clone")
    watched.git("clone", "-q", "--separate-git-dir", str(folder / "dir"), str(watched.root), where)
    borrow_hooks(watched, folder / "clone")
    return folder / "clone" / "skills", ("git",)


def own_index(watched: Installed, folder: Path) -> Place:
    """An index of the user's own, named relatively."""
    shutil.copy(watched.root / ".git" / "index", folder / "index")
    return watched.root, ("env", "GIT_INDEX_FILE=../index", "git")


PLACES: Sequence[Callable[[Installed, Path], Place]] = (
    *(main_worktree, linked_subfolder, from_elsewhere, through_a_link, submodule),
    *(bare_with_worktree, separate_git_dir, own_index),
)


WAYS: Sequence[tuple[Callable[[Installed, Path], Place], str]] = (
    *((make, "staged") for make in PLACES),
    *((main_worktree, way) for way in ("-a", "paths")),
)


@pytest.mark.parametrize(("make", "way"), WAYS, ids=lambda value: getattr(value, "__name__", value))
def test_004_index_file_in_every_place(
    watched: Installed, tmp_path: Path, make: Callable[[Installed, Path], Place], way: str
) -> None:
    """`GIT_INDEX_FILE` is relative here and absolute there; the verdict is the same everywhere."""
    place, git = make(watched, tmp_path)
    caller = ScratchRepo(place)
    top = caller.run(*git, "rev-parse", "--show-toplevel").stdout.strip()
    ScratchRepo(Path(top)).write({TALK: BETTER_TALK})
    if way == "staged":
        assert caller.run(*git, "add", ":/").returncode == 0
    words = {"staged": (), "-a": ("-a",), "paths": ("--", ":/")}[way]
    done = caller.run(*git, "commit", "-q", "-m", "fix: mean it", *words)
    assert done.returncode == 1, done.stderr
    assert WITHOUT_CASE in done.stderr
    done = caller.run(*git, "commit", "-q", "-m", "docs: mean it", *words)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def dotfiles(watched: Installed, tmp_path: Path) -> ScratchRepo:
    """A work tree without a .git; its git directory lies in a sibling folder."""
    home = tmp_path / "home"
    home.mkdir()
    found = ScratchRepo(home)
    where = ("--git-dir=../dot.git", "--work-tree=.")
    found.git(*where, "init", "-q")
    found.git(*where, "config", "core.bare", "false")
    borrow_hooks(watched, home, *where)
    found.write(FILES)
    found.git(*where, "add", "--all")
    found.git(*where, "commit", "-q", "--no-verify", "-m", "feat: all")
    found.write({TALK: BETTER_TALK})
    return found


def test_006_commands_of_a_refusal_find_the_repository(dotfiles: ScratchRepo) -> None:
    """Where git was told by options where the repository is, the printed commands tell it too."""
    place = ("--git-dir=../dot.git", "--work-tree=.")
    call = ("git", *place, "commit", "-q", "-am")
    said = dotfiles.run(*call, "fix: mean it").stderr
    dotfiles.write({"evals/talk/means.md": case("means", "mean it")})
    dotfiles.write({RECORDS: records(means=record(case="evals/talk/means.md"))})
    commands = [line[11:].partition("      #")[0] for line in said.splitlines() if " git " in line]
    assert [command.split()[3] for command in commands] == ["add", "commit"], said
    for command in commands:
        done = dotfiles.run("sh", "-c", command)
        assert done.returncode == 0, done.stderr
    assert dotfiles.git(*place, "log", "-1", "--format=%s") == "fix: mean it\n"


@pytest.mark.parametrize(
    ("folder", "words", "env"),
    [
        (".", ("--git-dir=../dot.git", "--work-tree=."), {}),
        (".", (), {"GIT_DIR": "../dot.git", "GIT_WORK_TREE": "."}),
        ("evals", ("--git-dir=../../dot.git", "-c", "core.worktree=../home"), {}),
    ],
)
def test_006_git_directory_apart_from_the_work_tree(
    dotfiles: ScratchRepo, folder: str, words: tuple[str, ...], env: dict[str, str]
) -> None:
    """Git directory and work tree are given relatively: both are found, the verdict is the same."""
    caller = ScratchRepo(dotfiles.root / folder)
    done = caller.run("git", *words, "commit", "-q", "-am", "fix: mean it", env=env)
    assert done.returncode == 1, done.stderr
    assert WITHOUT_CASE in done.stderr
    done = caller.run("git", *words, "commit", "-q", "-am", "docs: mean it", env=env)
    assert done.returncode == 0, done.stderr


# 7: hooks below hooks --------------------------------------------------------------------

MAKES_A_REPOSITORY = """\
git init -q made && cd made && git -c user.name=n -c user.email=e commit -q --allow-empty -m c
ls .git/hooks 2>/dev/null | grep -v sample; cat ../SKILL.md; echo "below: $GUARD_HOOK_ACTIVE"
"""


def set_program(watched: Installed, program: str, **more: str) -> None:
    """Let agent talk be a shell program; its workspace is the skill's folder."""
    argv = f"[sh, -c, {program!r}]".replace("\\n", "; ").replace("; '", "'")
    watched.bypass("chore: program", {"guard.yaml": CONFIG.replace("[cat, SKILL.md]", argv, 1)})


def test_007_configuration_of_the_user_reaches_no_case(watched: Installed, tmp_path: Path) -> None:
    """Global hooksPath, signing and templates don't reach repositories that a case makes."""
    set_program(watched, MAKES_A_REPOSITORY)
    trap = tmp_path / "trap"
    (trap / "hooks").mkdir(parents=True)
    (trap / "hooks" / "pre-commit").write_text("#!/bin/sh\necho trapped >&2; exit 1\n")
    (trap / "hooks" / "pre-commit").chmod(0o755)
    settings = f"[core]\n hooksPath = {trap}/hooks\n[commit]\n gpgSign = true\n"
    settings += f"[user]\n signingKey = none\n[init]\n templateDir = {trap}\n"
    (tmp_path / "gitconfig").write_text(settings)
    env = {"GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"), "GIT_TEMPLATE_DIR": str(trap)}

    (tmp_path / "plain").mkdir()
    plain = ScratchRepo(tmp_path / "plain").run("sh", "-c", MAKES_A_REPOSITORY, env=env)
    assert "trapped" in plain.stderr, "the configuration does no harm: this test shows nothing"

    watched.stage({TALK: BETTER_TALK})
    done = watched.call_hook("pre-commit", **env)
    assert done.returncode == 0, done.stderr
    assert "held when run now (greets 2 of 2)" in done.stderr


def test_007_a_hook_below_our_own_hook_steps_aside(watched: Installed, tmp_path: Path) -> None:
    """A hook of ours that runs below another one on the same repository judges nothing twice."""
    set_program(watched, MAKES_A_REPOSITORY)
    watched.stage({TALK: BETTER_TALK})
    watched.accept("docs: mean it")
    said = watched.guard("show", "greets#1").stdout
    assert re.search(rf"below: \d+ \S+ {re.escape(str(watched.root))}/\.git\n", said)

    watched.stage({TALK: BAD_TALK})
    watched.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Installed(tmp_path / "linked")
    linked.stage({TALK: BAD_TALK})
    same = {"GUARD_HOOK_ACTIVE": marker_of(f"{watched.root}/.git")}
    for place in (watched, linked):
        done = place.call_hook("pre-commit", **same)
        assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
        assert "not judged again" in done.stderr
        # Of another repository, and of no process above.
        for said in (marker_of(f"{tmp_path}/.git"), f"{watched.root}/.git"):
            assert place.call_hook("pre-commit", GUARD_HOOK_ACTIVE=said).returncode == 1


def test_007_hooks_of_the_user_are_called_by_git_alone(watched: Installed, tmp_path: Path) -> None:
    """A snapshot writes an index of its own: the user's post-index-change hook isn't for that."""
    hook = watched.root / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\necho called >>{tmp_path}/called\n")
    hook.chmod(0o755)
    watched.stage({TALK: BETTER_TALK})
    (tmp_path / "called").unlink()
    assert watched.call_hook("pre-commit").returncode == 0
    assert not (tmp_path / "called").exists()


# 8 ---------------------------------------------------------------------------------------


def test_008_commit_from_a_subfolder(watched: Installed) -> None:
    """From a subfolder the verdict is the same, and printed paths are right from there."""
    break_talk(watched)
    below = watched.root / "skills" / "talk"
    watched.stage({TALK: GOOD_TALK})
    at_root = watched.refuse("fix: mean it").splitlines()
    done = watched.try_commit("-m", "fix: mean it", cwd=below)
    assert done.returncode == 1
    said = done.stderr.splitlines()
    assert WITHOUT_CASE in done.stderr
    assert len(said) == len(at_root)
    assert "           git add ../../evals/talk ../../regressions*" in said
    repeat = next(line for line in said if "git commit" in line).partition("#")[0].strip()
    watched.stage(FIX)
    assert ScratchRepo(below).run("sh", "-c", repeat).returncode == 0
    assert watched.git("log", "-1", "--format=%s") == "fix: mean it\n"


def test_008_files_named_by_hand(watched: Installed) -> None:
    """By hand from a subfolder, a file is taken from where the caller stands."""
    watched.stage({TALK: BETTER_TALK, "evals/message": "fix: mean it\n", "message": "docs: x\n"})
    for folder, code in ((watched.root / "evals", 1), (watched.root, 0)):
        done = watched.guard("hook", "commit-msg", "message", cwd=folder)
        assert done.returncode == code, done.stderr
    watched.accept("docs: x")


# 9: a client with buttons ------------------------------------------------------------------


def bare_environment(**more: str) -> tuple[str, ...]:
    kept = {name: os.environ[name] for name in ("HOME", "GIT_CONFIG_GLOBAL")}
    return ("env", "-i", *(f"{name}={value}" for name, value in {**kept, **more}.items()))


def test_009_client_without_path_terminal_and_locale(watched: Installed) -> None:
    """A GUI starts git with a tiny PATH and nothing else: the shim knows its interpreter."""
    git = shutil.which("git")
    assert git is not None
    call = (*bare_environment(PATH="/nowhere"), git, "commit", "-q", "-F", "-")
    watched.stage({TALK: BETTER_TALK})
    refused = watched.run(*call, input="fix: mean it")
    assert refused.returncode == 1, refused.stderr
    assert WITHOUT_CASE in refused.stderr
    assert "\x1b" not in refused.stderr
    assert watched.run(*call, input="docs: mean it").returncode == 0


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_009_closed_standard_streams(watched: Installed, closed: str) -> None:
    """Started without standard streams: the verdict is the same, no file takes their place."""
    commit = f'git commit -q -m "$1" {closed}'
    watched.stage({TALK: BETTER_TALK})
    assert watched.run("sh", "-c", commit, "-", "fix: mean it").returncode == 1
    assert watched.run("sh", "-c", commit, "-", "docs: mean it").returncode == 0


def test_009_no_interpreter_to_be_found(watched: Installed) -> None:
    """With the interpreter gone and none on PATH the hook refuses in plain words."""
    watched.stage({TALK: BETTER_TALK})
    (watched.root / ".git" / "message").write_text("docs: x\n")
    tip = watched.git("rev-parse", "HEAD").strip()
    said = f"refs/heads/main {tip} refs/heads/main {ZERO}\n"
    for stage in ("pre-commit", "commit-msg", "pre-push"):
        hook = watched.root / ".git" / "hooks" / f"{stage}.witnessed"
        hook.write_text(hook.read_text().replace(sys.executable, "/gone/bin/python"))
        call = (*bare_environment(PATH="/usr/bin:/bin"), str(hook), ".git/message")
        done = watched.run(*call, input=said)
        assert done.returncode == 3, done.stderr
        told = f"guard: {stage} can't be judged: /gone/bin/python is gone"
        assert done.stderr.startswith(told), done.stderr
    assert watched.try_commit("-m", "docs: x", cwd=watched.root).returncode == 0


# 10, 11: what can't be written -------------------------------------------------------------

ASCII = {"LC_ALL": "C", "LANG": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_010_output_in_ascii_alone(watched: Installed) -> None:
    """What ASCII can't show is escaped; a tick or a path decides no commit."""
    watched.stage({TALK: BETTER_TALK, "skills/talk/ü \udcff.md": "x\n"})
    file = watched.root / ".git" / "message"
    programs = os.path.dirname(sys.executable)
    for message, code in (("fix: ü\n", 1), ("docs: ü\n", 0)):
        file.write_text(message, encoding="utf-8")
        # As a framework calls them: no shim that sets Python's modes.
        for program, ended in (("guard-affected", 0), (f"guard-commit-msg {file}", code)):
            done = watched.run(*f"{programs}/{program}".split(), env=ASCII)
            assert done.returncode == ended, done.stderr
            assert done.stderr.isascii()
        committed = watched.run("git", "commit", "-q", "-F", str(file), env=ASCII)
        assert committed.returncode == code


def blocked_pipe() -> tuple[int, int]:
    """Return a pipe that is full and doesn't block its writer."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"." * 4096)
    except BlockingIOError:
        return reader, writer


def test_011_pipe_that_does_not_block(watched: Installed) -> None:
    """Standard output is full and doesn't block: all is written once there is room."""
    watched.stage({TALK: BETTER_TALK})
    for message, code in (("fix: mean it", 1), ("docs: mean it", 0)):
        reader, writer = blocked_pipe()
        call = ["git", "commit", "-q", "-m", message]
        git = subprocess.Popen(call, cwd=watched.root, stdout=writer, stderr=writer)
        os.close(writer)
        time.sleep(0.3)
        said = b"".join(iter(lambda: os.read(reader, 1 << 16), b"")).lstrip(b".").decode()  # noqa: B023
        os.close(reader)
        assert git.wait() == code
        assert said.startswith("guard: agent talk changed, 1 case affected")
        assert (WITHOUT_CASE in said) == (code == 1)


def test_011_output_that_is_lost_changes_no_verdict(watched: Installed) -> None:
    """A full disk or a reader that left takes the words, never the verdict."""
    watched.stage({TALK: BETTER_TALK})
    for way in (">/dev/full 2>&1", "2>&1 | true"):
        script = f'set -o pipefail; git commit -q -m "$1" {way}'
        assert watched.run("bash", "-c", script, "-", "fix: mean it").returncode == 1
    assert watched.run("bash", "-c", script, "-", "docs: mean it").returncode == 0


# 12: children, signals, full disks -----------------------------------------------------------


def test_012_child_left_behind_by_a_case(watched: Installed) -> None:
    """A case leaves a child that holds its output: it is killed, and git doesn't wait for it."""
    set_program(watched, "cat SKILL.md; exec 9>&2; sleep 97531 & exit 0")
    watched.stage({TALK: BETTER_TALK})
    began = time.monotonic()
    said = watched.refuse("docs: mean it")
    assert time.monotonic() - began < 30
    assert "orphans" in said
    assert not list(sleepers("97531"))


def sleepers(seconds: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter(["cmdline"]):
        if process.info["cmdline"] == ["sleep", seconds]:
            yield process


def kill_hook(git: psutil.Process, number: int) -> None:
    hooks = [p for p in git.children(recursive=True) if "pre-commit" in p.cmdline()[-1:]]
    # What it is just starting looks like it for a moment.
    min(hooks, key=psutil.Process.create_time).send_signal(number)


def kill_git(git: psutil.Process, number: int) -> None:
    git.send_signal(number)


def kill_group(git: psutil.Process, number: int) -> None:
    os.killpg(git.pid, number)


@pytest.mark.parametrize(
    ("kill", "number"),
    [
        (kill_group, signal.SIGINT),
        (kill_group, signal.SIGKILL),
        (kill_git, signal.SIGINT),
        (kill_hook, signal.SIGTERM),
        (kill_hook, signal.SIGKILL),
    ],
    ids=lambda value: getattr(value, "name", None) or getattr(value, "__name__", "?"),
)
def test_012_killed_hook(
    watched: Installed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kill: Callable[[psutil.Process, int], None],
    number: signal.Signals,
) -> None:
    """Hook, git or both are ended: no case lives on, and nothing of the user's is half done."""
    for name, folder in (("TMPDIR", "tmp"), ("XDG_RUNTIME_DIR", "runtime")):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(name, str(tmp_path / folder))
    # Its own number: another worker may be at the same test.
    seconds = f"9753.{os.getpid()}"
    set_program(watched, f"exec sleep {seconds}")
    watched.stage({TALK: BETTER_TALK})
    head, staged = watched.git("rev-parse", "HEAD"), watched.git("ls-files", "--stage")
    git = subprocess.Popen(
        ["git", "commit", "-q", "-m", "docs: mean it"],
        cwd=watched.root,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: any(sleepers(seconds)))
        top = psutil.Process(git.pid)
        below = top.children(recursive=True)
        kill(top, number)
        git.wait(30)
        wait_until(lambda: not any(sleepers(seconds)) and not any(map(is_alive, below)))
    finally:
        git.kill()
    assert watched.git("rev-parse", "HEAD") == head
    assert watched.git("ls-files", "--stage") == staged
    assert list(watched.root.glob(".git/**/*.lock")) == []

    # A folder that is young may still be its maker's: the next hook takes it for old.
    for left in (tmp_path / "tmp").glob("guard-*/*"):
        os.utime(left, (0, 0))
    watched.write({"guard.yaml": CONFIG})
    watched.git("add", "--all")
    watched.accept("docs: mean it")
    wait_until(
        lambda: not [*(tmp_path / "tmp").glob("guard-*/*"), *(tmp_path / "runtime").glob("guard/*")]
    )


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def test_012_full_disk(watched: Installed) -> None:
    """Nothing can be written any more: what needs to write could not be established."""
    break_talk(watched)
    tip = watched.git("rev-parse", "HEAD").strip()
    watched.stage({TALK: GOOD_TALK})
    (watched.root / ".git" / "message").write_text("fix: say hello\n")
    calls = {"pre-commit": 3, "pre-push up url": 3, "commit-msg .git/message": 1}
    for call, code in calls.items():
        stage, *words = call.split()
        hook = watched.root / ".git" / "hooks" / f"{stage}.witnessed"
        with unchanged(watched):
            done = subprocess.run(
                [hook, *words],
                cwd=watched.root,
                input=f"refs/heads/main {tip} refs/heads/main {ZERO}\n",
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                # What git and SQLite meet then is what they meet on a full disk.
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
            )
        assert done.returncode == code, done.stderr
        assert "bug" not in done.stderr
    watched.accept("docs: the disk has room again")


def test_012_small_temporary_folder(watched: Installed) -> None:
    """The temporary folder can't be written to: another one is taken, or it is said."""
    watched.stage({TALK: BETTER_TALK})
    done = watched.try_commit("-m", "docs: mean it", TMPDIR="/nowhere")
    assert done.returncode == 0, done.stderr
    assert "held when run now" in done.stderr
