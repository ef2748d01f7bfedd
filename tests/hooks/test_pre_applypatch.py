"""`git am` with guard's pre-applypatch hook: a mailed fix is asked for its case before it lands."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.regressions import FILE, SCHEMA, write_regressions
from tests.conftest import ScratchRepo
from tests.hooks.installed import BAD_TALK, FILES, TALK, Done, Installed, case, skill
from tests.invariants import snapshot_state

BETTER_TALK = skill("talk", "say hello, and mean it")
MEANS = "evals/talk/means.md"
RECORD = {
    "agent": "talk",
    "case": MEANS,
    "before": {"kind": "parent"},
    "fails_on": ["reply_contains"],
    "proof": None,
}
CASE: dict[str, str | bytes] = {
    MEANS: case("means", "mean it"),
    FILE: write_regressions({"schema": SCHEMA, "regressions": {"means": RECORD}}),
}


@pytest.fixture
def mailed(repo: ScratchRepo) -> Installed:
    found = Installed(repo.root)
    found.bypass("feat: all", FILES)
    found.install()
    done = found.guard("install", "--applypatch")
    assert (done.returncode, "pre-applypatch" in done.stdout) == (0, True), done
    return found


def mail(repo: Installed, folder: Path, message: str, files: dict[str, str | bytes]) -> Path:
    """Return a mailed patch of a commit that the repository doesn't have."""
    repo.bypass(message, dict(files))
    repo.git("format-patch", "-q", "-1", "-o", str(folder))
    repo.git("reset", "-q", "--hard", "HEAD~")
    [patch] = folder.glob("*.patch")
    return patch


def apply(repo: Installed, *args: str) -> Done:
    return repo.run("git", "am", "-q", *args)


def test_a_mailed_fix_without_its_case_is_refused(mailed: Installed, tmp_path: Path) -> None:
    patch = mail(mailed, tmp_path / "p", "fix(talk): mean it", {TALK: BETTER_TALK})
    head = mailed.git("rev-parse", "HEAD")
    done = apply(mailed, str(patch))
    assert done.returncode != 0
    assert "(fix-needs-case)" in done.stderr
    assert "git am --continue" in done.stderr
    assert "git commit" not in done.stderr
    assert mailed.git("rev-parse", "HEAD") == head


def test_without_the_hook_it_lands(repo: ScratchRepo, tmp_path: Path) -> None:
    found = Installed(repo.root)
    found.bypass("feat: all", FILES)
    found.install()
    patch = mail(found, tmp_path / "p", "fix(talk): mean it", {TALK: BETTER_TALK})
    assert apply(found, str(patch)).returncode == 0


@pytest.mark.parametrize(
    ("message", "files"),
    [
        ("feat(talk): mean it", {TALK: BETTER_TALK}),
        ("fix(talk): mean it", {TALK: BETTER_TALK, **CASE}),
        ("fix: a typo", {"README.md": "A talk.\n"}),
        ("fix(talk): mean it\n\nGuard-Exempt: nothing that a case could see", {TALK: BETTER_TALK}),
    ],
    ids=["no fix", "with its case", "no agent's", "exempt"],
)
def test_what_owes_nothing_lands(
    mailed: Installed, tmp_path: Path, message: str, files: dict[str, str | bytes]
) -> None:
    done = apply(mailed, str(mail(mailed, tmp_path / "p", message, files)))
    assert done.returncode == 0, done
    assert mailed.git("log", "-1", "--format=%s").strip() == message.partition("\n")[0]


def test_the_case_is_added_and_it_goes_on(mailed: Installed, tmp_path: Path) -> None:
    patch = mail(mailed, tmp_path / "p", "fix(talk): mean it", {TALK: BETTER_TALK})
    assert apply(mailed, str(patch)).returncode != 0
    assert apply(mailed, "--continue").returncode != 0
    mailed.stage(CASE)
    done = apply(mailed, "--continue")
    assert done.returncode == 0, done
    assert MEANS in mailed.git("show", "--name-only", "--format=", "HEAD")


def test_abort_leaves_all_as_it_was(mailed: Installed, tmp_path: Path) -> None:
    patch = mail(mailed, tmp_path / "p", "fix(talk): mean it", {TALK: BETTER_TALK})
    mailed.write({"notes.txt": "mine\n"})
    kept = ("HEAD", "refs", "config", "worktrees", "stashes")
    before, sound = snapshot_state(mailed), mailed.git("fsck", "--strict")
    assert apply(mailed, str(patch)).returncode != 0
    mailed.git("am", "--abort")
    after = snapshot_state(mailed)
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert mailed.git("fsck", "--strict") == sound
    assert mailed.git("status", "--porcelain") == "?? notes.txt\n"
    assert not (mailed.root / ".git/rebase-apply").exists()


def test_a_series_stops_at_the_patch_that_owes(mailed: Installed, tmp_path: Path) -> None:
    start = mailed.git("rev-parse", "HEAD").strip()
    mailed.bypass("docs: one", {"README.md": "one\n"})
    mailed.bypass("fix(talk): two", {TALK: BETTER_TALK})
    mailed.git("format-patch", "-q", start, "-o", str(tmp_path / "p"))
    mailed.git("reset", "-q", "--hard", start)
    done = apply(mailed, *map(str, sorted((tmp_path / "p").iterdir())))
    assert (done.returncode != 0, "(fix-needs-case)" in done.stderr) == (True, True)
    assert mailed.git("log", "-1", "--format=%s") == "docs: one\n"


def test_a_rebase_judges_nothing_again(mailed: Installed) -> None:
    mailed.git("checkout", "-q", "-b", "side")
    mailed.bypass("fix(talk): mean it", {TALK: BETTER_TALK})
    mailed.git("checkout", "-q", "main")
    mailed.bypass("docs: more", {"README.md": "more\n"})
    mailed.git("checkout", "-q", "side")
    assert mailed.run("git", "rebase", "-q", "--apply", "main").returncode == 0


def test_in_a_linked_worktree(mailed: Installed, tmp_path: Path) -> None:
    patch = mail(mailed, tmp_path / "p", "fix(talk): mean it", {TALK: BETTER_TALK})
    mailed.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    done = apply(Installed(tmp_path / "linked"), str(patch))
    assert (done.returncode != 0, "(fix-needs-case)" in done.stderr) == (True, True)


def test_a_later_install_keeps_it_and_uninstall_takes_it_away(mailed: Installed) -> None:
    hook = mailed.root / ".git/hooks/pre-applypatch"
    written = hook.read_bytes()
    hook.write_bytes(written.replace(b"python=", b"python=/gone"))
    mailed.install()
    assert hook.read_bytes() == written
    assert mailed.guard("uninstall").returncode == 0
    assert not hook.exists()
    mailed.install()
    assert not hook.exists()


def test_an_earlier_hook_is_called_first(repo: ScratchRepo, tmp_path: Path) -> None:
    found = Installed(repo.root)
    found.bypass("feat: all", FILES)
    hook = found.root / ".git/hooks/pre-applypatch"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho theirs >&2\n")
    hook.chmod(0o755)
    assert found.guard("install", "--applypatch").returncode == 0
    patch = mail(found, tmp_path / "p", "feat(talk): say less", {TALK: BAD_TALK})
    done = apply(found, str(patch))
    assert (done.returncode, done.stderr.count("theirs")) == (0, 1), done


def test_by_hand_it_says_that_there_is_no_patch(mailed: Installed) -> None:
    done = mailed.guard("hook", "pre-applypatch")
    assert (done.returncode, "no patch is being applied" in done.stderr) == (2, True)
