"""Workspaces that are used again: of what a trial left, only what it changed is laid anew.

A file is as it was where its inode, change time and size are: whatever is done to a file sets
its change time, and nobody can set that back. What was changed is written as a new file, so
that a link or a descriptor that somebody kept leads to the old one. At the least doubt the
whole folder is thrown away.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from guard.trials.manifest import TICK_NS, UNREADABLE, Item, Manifest, scan_folder
from guard.trials.runfolder import RunPlace
from guard.trials.template import Template, lay_piece, parents_of
from guard.workspace import NOTE, Reuse, Upkeep, make_own_folders, remove_tree

NAME: Final = NOTE + "reused"
#: Changes beyond which laying everything anew is as fast.
MOST_CHANGES: Final = 2000

Folders = Mapping[bytes, os.stat_result]


class Laid(NamedTuple):
    """One folder that the template lies in, and what it looked like then."""

    parking: str
    """Where it lies while no trial uses it."""
    files: dict[bytes, Item]
    folders: dict[bytes, os.stat_result]
    since_ns: int
    """When it was ready: what changed later has a later change time."""
    attributes: tuple[str, ...]
    """Extended attributes that each new folder has here."""


class Listed(NamedTuple):
    """What a folder holds after a trial."""

    files: Manifest
    folders: Folders


class PooledWay:
    """Folders that are mended after each trial, and moved to where the next one runs."""

    def __init__(self, template: Template, place: RunPlace, note: str = "") -> None:
        self.note = f"{NAME} ({note})" if note else NAME
        self._template = template
        self._place = place
        self._lock = threading.Lock()
        self._parked: list[tuple[Laid, Listed | None]] = []

    def lay(self, folder: str) -> tuple[Manifest, Upkeep]:
        """Move a mended folder there, or lay a new one. Raises OSError."""
        make_own_folders(folder)
        target = os.fsencode(folder) + b"/ws"
        while (taken := self._take()) is not None:
            laid = self._mended(*taken)
            if laid is not None:
                os.rename(laid.parking, target)
                return laid.files, _Pooled(self, laid)
            remove_tree(taken[0].parking)
        laid = self._new(target)
        return laid.files, _Pooled(self, laid)

    def _take(self) -> tuple[Laid, Listed | None] | None:
        with self._lock:
            return self._parked.pop() if self._parked else None

    def park(self, laid: Laid, listed: Listed | None) -> None:
        """Keep a folder, moved to its parking place, for the next trial."""
        with self._lock:
            self._parked.append((laid, listed))

    def _new(self, target: bytes) -> Laid:
        files = self._template.lay(target)
        folders = _states(target, (b"", *self._template.folders))
        attributes = tuple(os.listxattr(target))
        return Laid(self._place.new_path("kept"), files, folders, time.time_ns(), attributes)

    def _mended(self, laid: Laid, listed: Listed | None) -> Laid | None:
        """Return the folder as it was laid; None where that is in doubt."""
        root = os.fsencode(laid.parking)
        try:
            mending = _Mending(self._template, root, laid, listed or list_all(root, laid))
            if not mending.is_sure():
                return None
            mending.mend()
        except OSError:
            return None
        return laid._replace(since_ns=time.time_ns())


def list_all(root: bytes, laid: Laid) -> Listed:
    """List a folder and the folders in it."""
    folders: dict[bytes, os.stat_result] = {}
    files = scan_folder(root, laid.files, laid.since_ns, folders)
    folders[b""] = os.lstat(root)
    return Listed(files, folders)


class _Pooled:
    """The upkeep of one folder while a trial uses it."""

    def __init__(self, way: PooledWay, laid: Laid) -> None:
        self._way = way
        self._laid = laid
        self._listed: Listed | None = None
        self._removed = False

    def scan(self, root: bytes, before: Manifest, started_ns: int) -> Manifest:
        """List the folder; what is the same as before is the very same item."""
        folders: dict[bytes, os.stat_result] = {}
        files = scan_folder(root, before, started_ns, folders)
        try:
            folders[b""] = os.lstat(root)
        except OSError:
            return files
        self._listed = Listed(files, folders)
        return files

    def remove(self, folder: str, reuse: Reuse) -> None:
        """Move the workspace to where the next trial finds it, and remove the rest."""
        is_parked = not self._removed and reuse is not Reuse.NEVER and self._park(folder)
        self._removed = True
        remove_tree(folder)
        if is_parked:
            self._way.park(self._laid, self._listed if reuse is Reuse.AS_LISTED else None)

    def _park(self, folder: str) -> bool:
        try:
            if os.path.islink(f"{folder}/ws"):
                return False
            os.rename(f"{folder}/ws", self._laid.parking)
        except OSError:
            return False
        return True


class _Mending:
    """Makes a folder again what it was when it was laid."""

    def __init__(self, template: Template, root: bytes, laid: Laid, listed: Listed) -> None:
        self._template = template
        self._root = root
        self._laid = laid
        self._there = listed
        base, found = laid.files, listed.files
        self._added = [path for path in found if path not in base]
        self._changed = [path for path, item in base.items() if found.get(path) is not item]
        self._new_folders = sorted(listed.folders.keys() - laid.folders.keys())
        self._touched = {path for path in listed.folders if self._is_touched(path)}

    def _is_touched(self, folder: bytes) -> bool:
        old, new = self._laid.folders.get(folder), self._there.folders[folder]
        if old is None:
            return False
        young = new.st_ctime_ns >= self._laid.since_ns - TICK_NS
        return young or _state(old) != _state(new)

    def is_sure(self) -> bool:
        """Tell whether all that differs is known, and can be mended."""
        changes = len(self._added) + len(self._changed) + len(self._new_folders)
        if changes > MOST_CHANGES:
            return False
        if any(item.kind == UNREADABLE for item in self._there.files.values()):
            return False
        old = self._laid.folders[b""]
        owner = (old.st_dev, old.st_uid, old.st_gid)
        folders = self._there.folders.values()
        if any((s.st_dev, s.st_uid, s.st_gid) != owner for s in folders):
            return False
        return all(
            tuple(os.listxattr(self._place(path), follow_symlinks=False)) == self._laid.attributes
            for path in self._touched
        )

    def mend(self) -> None:
        """Undo all changes. Raises OSError where one can't be undone."""
        for path in sorted(self._touched):
            self._give_mode(path)
        self._remove_added()
        folders = self._laid.folders
        gone = sorted(folders.keys() - self._there.folders.keys())
        for path in gone:
            os.mkdir(self._place(path))
        for path in self._changed:
            self._lay(path)
        changed = (*self._added, *self._changed, *gone, *self._new_folders)
        again = self._touched.union(gone, *map(_above, changed)) & folders.keys()
        for path in again:
            self._give_mode(path)
        folders.update(_states(self._root, again))

    def _remove_added(self) -> None:
        for path in self._new_folders:
            place = os.fsdecode(self._place(path))
            if os.path.isdir(place) and not os.path.islink(place):
                remove_tree(place)
            if os.path.lexists(place):
                raise OSError(0, "can't be removed")
        for path in self._added:
            try:
                os.unlink(self._place(path))
            except (FileNotFoundError, NotADirectoryError):
                continue  # with a folder that was added

    def _lay(self, path: bytes) -> None:
        place = self._place(path)
        if os.path.lexists(place):
            os.unlink(place)
        self._laid.files[path] = lay_piece(self._template.pieces[path], place)

    def _give_mode(self, folder: bytes) -> None:
        mode = stat.S_IMODE(self._laid.folders[folder].st_mode)
        if stat.S_IMODE(os.lstat(self._place(folder)).st_mode) != mode:
            os.chmod(self._place(folder), mode)

    def _place(self, path: bytes) -> bytes:
        return os.path.join(self._root, path) if path else self._root


def _above(path: bytes) -> list[bytes]:
    """Return the folders above a path, the root among them."""
    return [*parents_of(path), b""]


def _state(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_ctime_ns, status.st_mode


def _states(root: bytes, folders: Iterable[bytes]) -> dict[bytes, os.stat_result]:
    return {path: os.lstat(os.path.join(root, path) if path else root) for path in folders}
