"""What no hook may change, by rule 10 of docs/git.md: taken before and after."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.scratch_repo import ScratchRepo

#: Guard's own memory, and what git itself writes while it makes a commit.
IGNORED = ("guard", "COMMIT_EDITMSG", "MERGE_MSG", "logs", "objects", "ORIG_HEAD")


def snapshot_state(repo: ScratchRepo) -> dict[str, str]:
    """Return all of a repository that belongs to its user, as name → text or digest."""
    index, head, config, folder = _git_paths(repo, "index", "HEAD", "config", ".")
    return {
        "index": _digest(index),
        "HEAD": head.read_text(),
        "refs": repo.git("for-each-ref"),
        "config": _digest(config),
        "worktrees": repo.git("worktree", "list", "--porcelain"),
        "stashes": repo.git("stash", "list"),
        "objects": repo.git("count-objects", "--verbose"),
        "fsck": repo.git("fsck", "--strict", check=False),
        "files": "\n".join(_files(repo.root)),
        "git directory": "\n".join(_names(folder)),
    }


@contextmanager
def unchanged(repo: ScratchRepo) -> Generator[None]:
    """Fail where what happens inside changes anything of the user's."""
    before = snapshot_state(repo)
    yield
    after = snapshot_state(repo)
    changed = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    assert not changed, changed


def _git_paths(repo: ScratchRepo, *names: str) -> list[Path]:
    asked = [word for name in names for word in ("--git-path", name)]
    found = repo.git("rev-parse", "--path-format=absolute", *asked)
    return [Path(path) for path in found.removesuffix("\n").split("\n")]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "none"


def _names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in os.scandir(folder) if entry.name not in IGNORED)


def _files(root: Path) -> Iterator[str]:
    for folder, names, files in os.walk(os.fsencode(root)):
        names[:] = sorted(name for name in names if name != b".git")
        for name in sorted(files):
            path = os.path.join(folder, name)
            info = os.lstat(path)
            with open(os.devnull if os.path.islink(path) else path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            yield f"{path!r} {info.st_mode:o} {info.st_mtime_ns} {digest}"
