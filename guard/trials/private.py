"""Folders for temporary files that each trial has for itself: ``/tmp`` and its like.

A program that writes ``/tmp/state`` in one run and reads it in the next would make a proof of
nothing. In a namespace each slot gets folders of its own, emptied after every trial. What lay
there when the slot was opened stays in reach: folders and sockets as they are (a display, an
ssh agent, tools that someone unpacked there), small files as copies.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import Final, NamedTuple

from guard.trials.runfolder import RunPlace
from guard.workspace import remove_entry

SHARED_BY_ALL: Final = ("/tmp", "/var/tmp", "/dev/shm")
#: Bytes up to which a file is copied; a larger one is the user's own, as a folder is.
COPIED_BYTES: Final = 64 << 10
#: Entries beyond which a folder is left as it is: each is a mount, and they have an end.
MOST_ENTRIES: Final = 5000
STICKY: Final = 0o1777


class PrivateFolder(NamedTuple):
    """One folder that a slot has for itself, and where what is written to it lies."""

    path: str
    backing: str
    seen: frozenset[str]
    """What of the real folder is to be seen in it; each is a place to mount it on."""
    copied: dict[str, tuple[int, ...]]
    """Name → what tells a copy that nobody has touched."""

    def clean(self) -> None:
        """Make it again what it was before the first trial. Raises OSError."""
        touched = set(self.copied)
        with os.scandir(self.backing) as entries:
            for entry in entries:
                if entry.name in self.seen:
                    continue
                if self.copied.get(entry.name) == _state_of(entry.path):
                    touched.remove(entry.name)
                else:
                    remove_entry(entry.path)
        for name in touched:
            self.copy(name)

    def copy(self, name: str) -> None:
        """Copy a small file or a link of the real folder."""
        place = os.path.join(self.backing, name)
        _copy(os.path.join(self.path, name), place)
        self.copied[name] = _state_of(place)


class PrivateFolders(NamedTuple):
    """What the trials of one slot get in place of the folders that all programs share."""

    made: tuple[PrivateFolder, ...] = ()
    shared: tuple[str, ...] = ()
    """Those that can't be replaced."""


def make_private_folders(place: RunPlace, paths: Iterable[str] = SHARED_BY_ALL) -> PrivateFolders:
    """Make a slot's own folders, as far as that can be done."""
    there = [path for path in dict.fromkeys(map(os.path.realpath, paths)) if os.path.isdir(path)]
    made = tuple(filter(None, (_make(place, path) for path in there)))
    return PrivateFolders(made, tuple(sorted({*there} - {folder.path for folder in made})))


def _make(place: RunPlace, path: str) -> PrivateFolder | None:
    try:
        entries = list(os.scandir(path))
    except OSError:
        return None
    if len(entries) > MOST_ENTRIES:
        return None
    backing = place.new_folder("shared")
    os.chmod(backing, STICKY)
    copied = {entry.name for entry in entries if _is_copied(entry)}
    mounted = [entry for entry in entries if entry.name not in copied]
    for entry in mounted:
        _make_mount_point(entry, os.path.join(backing, entry.name))
    folder = PrivateFolder(path, backing, frozenset(entry.name for entry in mounted), {})
    for name in copied:
        folder.copy(name)
    return folder


def _is_copied(entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        return True
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= COPIED_BYTES


def _make_mount_point(entry: os.DirEntry[str], place: str) -> None:
    if entry.is_dir(follow_symlinks=False):
        os.mkdir(place)
    else:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _state_of(path: str) -> tuple[int, ...]:
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _copy(source: str, place: str) -> None:
    """Copy a link or a small file; one that is gone or can't be read isn't there."""
    try:
        if os.path.islink(source):
            os.symlink(os.readlink(source), place)
            return
        with open(source, "rb") as file:
            content = file.read(COPIED_BYTES)
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except OSError:
        return
    fd = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode | stat.S_IWUSR)
    with os.fdopen(fd, "wb") as file:
        file.write(content)
