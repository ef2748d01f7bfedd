"""The folders of servers of guard's own: made in memory where there is room, swept after a kill."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from guard.plugin import TargetError
from guard_postgres.binaries import is_open

if TYPE_CHECKING:
    import pwd

#: What their names begin with.
KIND: Final = "guard-postgres-"
#: Free bytes that one needs: templates and databases are some 8 MB each.
ROOM: Final = 1 << 30
#: Seconds before a folder without a lock counts as left: its maker locks it at once.
YOUNG: Final = 30.0
#: Seconds for a server to end.
STOP: Final = 10.0


def make_folder(user: pwd.struct_passwd | None) -> str:
    """Return a new folder of the server's user, in memory where there is room."""
    for root in _roots():
        if not os.access(root, os.W_OK | os.X_OK) or (user is not None and not is_open(root)):
            continue
        free = os.statvfs(root)
        if free.f_bavail * free.f_frsize < ROOM:
            continue
        sweep(root)
        folder = tempfile.mkdtemp(prefix=KIND, dir=root)
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        return folder
    tried = ", ".join(_roots())
    raise TargetError(f"no folder has {ROOM >> 20} MiB for a PostgreSQL server: tried {tried}")


def _roots() -> list[str]:
    return list(dict.fromkeys(("/dev/shm", tempfile.gettempdir(), "/tmp", "/var/tmp")))


def sweep(root: str) -> None:
    """Remove the servers below a folder whose guard is gone."""
    for name in os.listdir(root):
        if name.startswith(KIND):
            _sweep_one(os.path.join(root, name))


def _sweep_one(folder: str) -> None:
    try:
        if time.time() - os.stat(folder).st_mtime < YOUNG:
            return
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return  # it is gone, or another user's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        end_server(_server_of(folder))
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass  # its guard is alive
    finally:
        os.close(lock)


def _server_of(folder: str) -> int:
    """Return the process that serves the data of a folder; 0 where none does."""
    import psutil

    try:
        with open(os.path.join(folder, "data", "postmaster.pid"), encoding="ascii") as file:
            pid = int(file.readline())
        words = psutil.Process(pid).cmdline()
    except (OSError, ValueError, psutil.Error):
        return 0
    return pid if any(folder in word for word in words) else 0


def end_server(pid: int) -> None:
    """End a server at once: its data goes with it."""
    if not pid:
        return
    ends = time.monotonic() + STOP
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, 3)  # SIGQUIT: immediate shutdown
    while is_alive(pid) and time.monotonic() < ends:
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    import psutil

    try:
        return bool(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
