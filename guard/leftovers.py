"""Temporary folders that a killed process leaves behind, found and removed by the next one.

Each is locked as long as its process lives. A lock, not a process id: containers that share a
temporary folder don't see each other's processes.
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import Final

#: Seconds before a folder without a lock counts as left: its maker locks it at once.
YOUNG: Final = 60.0
#: What the names of such folders begin with; workspaces are swept by `guard.trials.runfolder`.
KINDS: Final = ("objects-", "index-", "scratch-")
#: Where else such folders may lie, where TMPDIR is inside a repository.
ELSEWHERE: Final = ("/tmp", "/var/tmp", "/dev/shm")
_locks: dict[str, int] = {}


def make_folder(kind: str) -> str:
    """Make a temporary folder of this process; `remove_folder` removes it."""
    import tempfile

    root = _root(_outside(tempfile.gettempdir()))
    if not _locks:
        sweep(root)
    path = tempfile.mkdtemp(prefix=f"{kind}-", dir=root)
    _locks[path] = os.open(path, os.O_RDONLY)
    fcntl.flock(_locks[path], fcntl.LOCK_EX)
    return path


def remove_folder(path: str) -> None:
    """Remove a folder that `make_folder` made, with all that is below."""
    import shutil

    shutil.rmtree(path, ignore_errors=True)
    lock = _locks.pop(path, None)
    if lock is not None:
        os.close(lock)


def sweep(root: str) -> None:
    """Remove what processes that are gone left in a folder of guard's own."""
    for name in os.listdir(root):
        if name.startswith(KINDS):
            _sweep_one(os.path.join(root, name))


def _sweep_one(path: str) -> None:
    import shutil

    try:
        if time.time() - os.stat(path).st_mtime < YOUNG:
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except OSError:
        pass  # its process is alive
    finally:
        os.close(descriptor)


def _outside(temporary: str) -> str:
    """Return a temporary folder outside any repository: what lies inside would be tested, too."""
    for folder in (temporary, *ELSEWHERE):
        if os.access(folder, os.W_OK | os.X_OK) and not in_repository(folder):
            return folder
    return temporary


def in_repository(folder: str, known: str = "") -> bool:
    """Tell whether a folder lies in a working tree, as git would find it, or in a known one."""
    at, root = os.path.realpath(folder), os.path.realpath(known) if known else ""
    while at != root and not os.path.lexists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:
            return False
        at = above
    return True


def _root(temporary: str) -> str:
    """Return a folder of the user's own below the temporary one, or that where none can be had."""
    path = os.path.join(temporary, f"guard-{os.getuid()}")
    try:
        os.makedirs(path, 0o700, exist_ok=True)
        status = os.lstat(path)
    except OSError:
        return temporary
    is_ours = status.st_uid == os.getuid() and not status.st_mode & 0o077
    return path if is_ours and os.path.isdir(path) and not os.path.islink(path) else temporary
