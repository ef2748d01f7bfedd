"""What git can't do or can't read: an older git, damaged objects; never a pass, never a trace."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.gitcases.stories import FIX, break_talk
from tests.hooks.installed import TALK, Installed, make_installed
from tests.invariants import unchanged

REAL = shutil.which("git") or "git"
#: As git 2.25 does: what `rev-parse` doesn't know it takes for a name, and repeats it.
REPEATS = f"""#!/bin/sh
if [ "$1" = rev-parse ]; then
  for word; do
    case "$word" in UNKNOWN) echo "$word";; rev-parse) ;; *) {REAL} rev-parse "$word";; esac
  done
  exit 0
fi
exec {REAL} "$@"
"""
MERGES_NO_TREES = f"""#!/bin/sh
case "$1 $2" in
  "merge-tree --write-tree") echo "usage: git merge-tree <base-tree> <a> <b>" >&2; exit 129;;
  "version ") echo "git version 2.37.1";;
  *) exec {REAL} "$@";;
esac
"""


@pytest.fixture
def installed(repo: ScratchRepo) -> Installed:
    return make_installed(repo)


def replace_git(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have another program go by the name of git."""
    (folder / "bin").mkdir()
    (folder / "bin/git").write_text(script)
    (folder / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("unknown", "missing"),
    [
        ("--path-format*|--show-object-format", "git rev-parse --show-object-format"),
        ("--path-format*", "git rev-parse --path-format"),
    ],
)
def test_an_older_git_is_told_by_what_it_lacks(
    installed: Installed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    unknown: str,
    missing: str,
) -> None:
    """Git before 2.28, and before 2.31: one line with the feature that is missing."""
    assert installed.guard("run", "greets").returncode == 0
    replace_git(tmp_path, REPEATS.replace("UNKNOWN", unknown), monkeypatch)
    said = f"this git has no `{missing}`: guard needs git 2.31 or newer"
    for words in (["run"], ["check"], ["hook", "pre-commit"], ["hook", "pre-push", "up", "url"]):
        done = installed.guard(*words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
        assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("old", [False, True])
def test_without_merge_tree_the_pinned_state_stands_in(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    """Git before 2.38 can't take a fix back by a merge: pinned is used, and the report says so."""
    break_talk(installed)
    installed.bypass("fix(talk): say hello", FIX)
    if old:
        replace_git(tmp_path, MERGES_NO_TREES, monkeypatch)
    done = installed.guard("verify", "greets")
    assert done.returncode == 0, done.stdout + done.stderr
    said = "not by the live state: this git is older than 2.38 and can't merge trees"
    assert (said in done.stdout) == old, done.stdout
    assert f"greets PROVEN ({'pinned' if old else 'live'})" in done.stdout


def damage(installed: Installed, name: str, content: bytes | None) -> str:
    oid = installed.git("rev-parse", name).strip()
    file = installed.root / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    return oid


@pytest.mark.parametrize("content", [None, b"", b"junk"])
@pytest.mark.parametrize("name", [f"HEAD:{TALK}", "HEAD:skills/talk", "HEAD^{tree}", "HEAD"])
def test_a_lost_object_is_one_line_and_no_pass(
    installed: Installed, name: str, content: bytes | None
) -> None:
    """A blob, a tree, HEAD's own tree or commit is missing, empty or junk: exit 3, no trace."""
    installed.stage({"notes": "x\n"})
    damage(installed, name, content)
    done = installed.guard("run", "--at", "HEAD", "--no-cache")
    told = done.stdout + done.stderr
    assert (done.returncode, "Traceback" in told) == (3, False), told
    if name.endswith(TALK):
        assert f"{TALK} can't be read: " in told
    if "talk" in name:
        return  # staged, and as HEAD has it: this commit needs neither
    message = installed.root.parent / "message"
    message.write_text("fix: x\n")
    for stage, *words in (["pre-commit"], ["commit-msg", str(message)]):
        done = installed.run(f"{installed.root}/.git/hooks/{stage}", *words)
        assert (done.returncode, "Traceback" in done.stderr) == (3, False), done.stderr
        assert len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize("content", [b"junk", b"DIRC\0\0\0\2\0\0\0\1"])
@pytest.mark.parametrize("stage", ["pre-commit", "commit-msg"])
def test_a_damaged_index_refuses_the_commit(
    installed: Installed, stage: str, content: bytes
) -> None:
    """The index can't be read: hooks refuse in one line, with what git says of it."""
    message = installed.root.parent / "message"
    message.write_text("feat: x\n")
    words = [str(message)] if stage == "commit-msg" else []
    assert installed.call_hook(stage, *words).returncode == 0
    kept = (installed.root / ".git/index").read_bytes()
    (installed.root / ".git/index").write_bytes(content)
    before = sorted(p.name for p in (installed.root / ".git").iterdir())
    done = installed.run(f"{installed.root}/.git/hooks/{stage}", *words)
    assert done.returncode == 3, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "guard: refused: the index can't be compared" in done.stderr
    assert sorted(p.name for p in (installed.root / ".git").iterdir()) == before
    (installed.root / ".git/index").write_bytes(kept)
    with unchanged(installed):
        assert installed.call_hook(stage, *words).returncode == 0
