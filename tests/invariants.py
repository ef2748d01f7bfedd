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


#: Of a worktree's own folder, what says where it is and on which commit.
OF_WORKTREES = ("HEAD", "gitdir", "commondir", "locked")


def snapshot_state(repo: ScratchRepo) -> dict[str, str]:
    """Return all of a repository that belongs to its user, as name → text or digest.

    Read from the files alone: it is asked around each hook of each test, and a git process for
    every line of it took longer than the hooks. An object never changes: by its name and size
    it is the one that it was.
    """
    common, index, head, config, folder, objects, *stores = _git_paths(
        repo, "index", "HEAD", "config", ".", "objects", "refs", "packed-refs", "reftable"
    )
    return {
        "index": _digest(index),
        "HEAD": head.read_text(),
        "refs": "\n".join(line for store in stores for line in _contents(store)),
        "config": _digest(config),
        "worktrees": "\n".join((_digest(common / "HEAD"), *_worktrees(common / "worktrees"))),
        "stashes": _digest(common / "logs" / "refs" / "stash"),
        "objects": "\n".join(_sizes(objects)),
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
    """Return the folder that all worktrees share, and what git names so."""
    asked = [word for name in names for word in ("--git-path", name)]
    found = repo.git("rev-parse", "--path-format=absolute", "--git-common-dir", *asked)
    return [Path(path) for path in found.removesuffix("\n").split("\n")]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "none"


def _contents(path: Path) -> Iterator[str]:
    """Yield each file below a path, or the path itself, with a digest of what it holds."""
    if path.is_file():
        yield f"{path} {_digest(path)}"
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            yield f"{folder}/{name} {_digest(Path(folder, name))}"


def _worktrees(folder: Path) -> Iterator[str]:
    for line in _contents(folder):
        if line.rpartition(" ")[0].rpartition("/")[2] in OF_WORKTREES:
            yield line


def _sizes(path: Path) -> Iterator[str]:
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            yield f"{folder}/{name} {os.stat(os.path.join(folder, name)).st_size}"


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
