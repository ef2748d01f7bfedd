"""The look that tests take at a repository sees each thing that a hook might do to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.invariants import unchanged
from tests.scratch_repo import ScratchRepo

Act = Callable[[ScratchRepo], object]


def git(*words: str) -> Act:
    return lambda repo: repo.git(*words)


def cut(repo: ScratchRepo) -> None:
    name = repo.git("rev-parse", "HEAD").strip()
    path = repo.root / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o644)
    path.write_bytes(b"")


ACTS: dict[str, Act] = {
    "a branch": git("branch", "other"),
    "a packed branch": git("pack-refs", "--all", "--prune"),
    "HEAD": git("checkout", "-q", "--detach"),
    "the index": git("rm", "-q", "--cached", "a"),
    "a setting": git("config", "x.y", "z"),
    "an object": git("hash-object", "-w", "--stdin"),
    "an object that is cut": cut,
    "a stash": git("stash", "push", "-q"),
    "a worktree": git("worktree", "add", "-q", "../beside"),
    "a worktree's commit": git("-C", "../there", "checkout", "-q", "--detach", "HEAD~1"),
    "a file": lambda repo: repo.write({"a": "other\n"}),
    "a lock": lambda repo: (repo.root / ".git" / "index.lock").touch(),
}


@pytest.mark.parametrize("what", ACTS)
def test_each_change_is_seen(repo: ScratchRepo, what: str) -> None:
    repo.commit("one", {"a": "1\n"})
    repo.commit("two", {"a": "2\n"})
    repo.git("worktree", "add", "-q", "--detach", "../there")
    repo.write({"a": "3\n"})
    with unchanged(repo):
        repo.git("log", "--oneline")
    with pytest.raises(AssertionError), unchanged(repo):
        ACTS[what](repo)
