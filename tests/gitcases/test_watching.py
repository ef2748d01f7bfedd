"""The witness itself: it sees what a hook changes, and that no hook ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.gitcases.watching import SEEN, Witness
from tests.hooks.installed import BAD_TALK, TALK, Installed, make_installed

HARMS = {
    "index": "echo x >x && git add x",
    "refs": "git update-ref refs/heads/other HEAD",
    "config": "git config user.name other",
    "files": "echo more >>README.md",
    "objects": "echo some | git hash-object -w --stdin",
    "git directory": "touch .git/left-behind",
}


def make_witness(repo: ScratchRepo, tmp_path: Path, body: str) -> Witness:
    hook = repo.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{body}\n")
    hook.chmod(0o755)
    witness = Witness(hook.parent, tmp_path / SEEN)
    witness.wrap()
    return witness


@pytest.mark.parametrize("what", HARMS)
def test_a_hook_that_changes_something_is_seen(
    repo: ScratchRepo, tmp_path: Path, what: str
) -> None:
    repo.commit("base", {"README.md": "one\n"})
    witness = make_witness(repo, tmp_path, HARMS[what])
    repo.commit("next", {"a.txt": "a\n"})
    with pytest.raises(AssertionError, match=f"pre-commit changed .*{what}"):
        witness.check()


def test_a_witness_that_saw_no_hook_fails(repo: ScratchRepo, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no hook ran"):
        Witness(repo.root, tmp_path / SEEN).check()


def test_the_code_of_a_hook_is_kept(repo: ScratchRepo, tmp_path: Path) -> None:
    witness = make_witness(repo, tmp_path, "exit 3")
    repo.write({"a.txt": "a\n"})
    repo.git("add", "a.txt")
    assert repo.run("git", "commit", "-qm", "no").returncode != 0
    witness.check()


def test_refusals_come_through(watched: Installed) -> None:
    watched.stage({TALK: BAD_TALK})
    said = watched.refuse("feat: say nothing")
    assert "greets" in said


def test_installed_hooks_alone_are_wrapped(repo: ScratchRepo) -> None:
    found = make_installed(repo)
    names = sorted(path.name for path in (found.root / ".git" / "hooks").iterdir())
    assert names == ["commit-msg", "pre-commit", "pre-merge-commit", "pre-push"]
