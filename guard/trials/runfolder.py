"""Where a run keeps its workspaces: in memory where there is room, never in a repository.

One folder a run, named by the process that owns it, so that the next run can sweep what a
killed one left.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from copy import copy

from guard.closing import Closing
from guard.errors import UsageError
from guard.git import Repo
from guard.leftovers import in_repository
from guard.workspace import remove_entry, remove_tree

#: Free bytes that a run wants beyond twice what it lays.
MARGIN_BYTES = 64 << 20
PREFIX = "run-"


class RunFolder(Closing):
    """The folders of one run; made when first used, removed by `close`."""

    def __init__(self, repo: Repo, roots: Sequence[str] | None = None) -> None:
        self._repository = repo.root or repo.git_dir
        self._roots = list(roots) if roots is not None else candidate_roots()
        self._places: dict[str, RunPlace] = {}
        self._lock = threading.Lock()
        atexit.register(self.close)

    def place(self, size: int = 0) -> RunPlace:
        """Return the first place with room for ``size`` bytes twice. Raises `UsageError`."""
        with self._lock:
            for root in self._roots:
                if not is_usable(root, self._repository) or not _has_room(root, size):
                    continue
                if root not in self._places:
                    sweep(root)
                    self._places[root] = RunPlace(root)
                return self._places[root]
        raise UsageError(
            f"no folder outside a repository has room for trials: tried {', '.join(self._roots)}",
            "TMPDIR=/a/folder/with/room guard run",
        )

    def close(self) -> None:
        """Remove everything."""
        atexit.unregister(self.close)
        for place in self._places.values():
            place.remove()
        self._places.clear()


class RunShare:
    """What one user of a run's folder makes there: he can remove it, and no more."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._parts: dict[str, RunPlace] = {}

    def place(self, size: int = 0) -> RunPlace:
        """Return the first place with room for ``size`` bytes twice. Raises `UsageError`."""
        place = self._run.place(size)
        return self._parts.setdefault(place.path, place.part())

    def remove(self) -> None:
        """Remove all that was made through this share."""
        for part in self._parts.values():
            part.remove_own()


class RunPlace:
    """One run's folder below one root."""

    def __init__(self, root: str) -> None:
        self.root = root
        name = f"{PREFIX}{os.getpid()}-{start_time(os.getpid())}-{os.urandom(3).hex()}"
        self.path = os.path.join(root, name)
        os.mkdir(self.path, 0o700)
        self._made: set[str] = set()
        self._own: list[str] = []
        self._strays: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def new_path(self, kind: str) -> str:
        """Return a fresh path in the run's folder; nothing is there yet."""
        with self._lock:
            name = f"{kind}{len(self._made) + 1}"
            self._made.add(name)
            self._own.append(name)
        return os.path.join(self.path, name)

    def part(self) -> RunPlace:
        """Return the same place, which knows for `remove_own` what was made through it."""
        part = copy(self)
        part._own = []
        return part

    def remove_own(self) -> None:
        """Remove what was made through this one."""
        while self._own:
            remove_tree(os.path.join(self.path, self._own.pop()))

    def new_folder(self, kind: str) -> str:
        """Make a fresh folder in the run's folder."""
        path = self.new_path(kind)
        os.mkdir(path, 0o700)
        return path

    def remove(self) -> None:
        """Remove it all, by another name: an interrupted thread may still write to this one."""
        going = self.path + "-going"
        try:
            os.rename(self.path, going)
        except OSError:
            going = self.path
        remove_tree(going)

    def strays_since(self, moment: float) -> list[str]:
        """Return what trials put into the run's own folder since a time of the monotonic clock.

        It may have been any trial that was running then: each of them is told.
        """
        with self._lock:
            for name in os.listdir(self.path):
                if name not in self._made:
                    self._strays.append((time.monotonic(), f"../../../{name}"))
                    remove_entry(os.path.join(self.path, name))
            return sorted(name for found, name in self._strays if found >= moment)


def candidate_roots() -> list[str]:
    """Return where runs may lie, in memory first."""
    uid = os.getuid()
    roots = [f"/dev/shm/guard-{uid}", os.path.join(tempfile.gettempdir(), f"guard-{uid}")]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        roots.insert(0, os.path.join(runtime, "guard"))
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [*roots, os.path.join(cache, "guard", "runs")]


def is_usable(root: str, repository: str) -> bool:
    """Tell whether programs can be run there by us alone, outside any repository."""
    if in_repository(root, repository):
        return False
    try:
        os.makedirs(root, 0o700, exist_ok=True)
        status = os.lstat(root)
        noexec = os.statvfs(root).f_flag & getattr(os, "ST_NOEXEC", 0)
    except OSError:
        return False
    ours = status.st_uid == os.getuid() and not status.st_mode & 0o077
    return ours and not noexec and os.path.isdir(root) and os.access(root, os.W_OK | os.X_OK)


def _has_room(root: str, size: int) -> bool:
    free = os.statvfs(root)
    return free.f_bavail * free.f_frsize >= 2 * size + MARGIN_BYTES


def sweep(root: str) -> None:
    """Remove the folders of runs whose process is gone."""
    for name in os.listdir(root):
        pid, _, rest = name.removeprefix(PREFIX).partition("-")
        if not name.startswith(PREFIX) or not pid.isdecimal():
            continue
        if start_time(int(pid)) != rest.partition("-")[0]:
            remove_tree(os.path.join(root, name))


def start_time(pid: int) -> str:
    """Return when a process started, as one word that a later process of its id won't share."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, *fields = file.read().rpartition(b") ")[2].split()
    except FileNotFoundError:
        if os.path.exists("/proc/self/stat"):
            return "gone"
    else:
        # In a container without an init nobody waits for the orphans of what was killed.
        return "gone" if state in (b"Z", b"X") else fields[18].decode()
    import psutil

    try:
        return str(int(psutil.Process(pid).create_time()))
    except psutil.Error:
        return "gone"
