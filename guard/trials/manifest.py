"""What a folder holds: path → kind, executable bit, content; folders themselves don't count.

A trial's workspace is listed when it is laid and again when the target is done. A file is
read again unless inode, change time and size are the same and the change time is older than
the trial: an agent can set a modification time back, but not a change time.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from typing import Final, NamedTuple

FILE: Final = "file"
LINK: Final = "link"
#: A FIFO, a socket, a device: never opened.
SPECIAL: Final = "special"
UNREADABLE: Final = "unreadable"

#: Nanoseconds by which a change time may lag behind the clock (a tick of the kernel, doubled).
TICK_NS = 20_000_000
READ_BYTES = 1 << 18


class Item(NamedTuple):
    """One path of a folder."""

    kind: str
    executable: bool = False
    digest: str = ""
    """SHA-256 of the content or of the link's target."""
    stamp: tuple[int, int, int] = (0, 0, 0)
    """Inode, change time in ns, size."""

    @property
    def content(self) -> tuple[str, bool, str]:
        """What counts: all but the stamp."""
        return self[:3]


Manifest = Mapping[bytes, Item]


def stamp_of(status: os.stat_result) -> tuple[int, int, int]:
    """Return what changes whenever a file is written."""
    return status.st_ino, status.st_ctime_ns, status.st_size


def scan_folder(
    root: bytes,
    before: Manifest | None = None,
    started_ns: int = 0,
    folders: dict[bytes, os.stat_result] | None = None,
) -> dict[bytes, Item]:
    """List a folder; of ``before``, made until ``started_ns``, what can't have changed is kept.

    The states of the folders in it are noted in ``folders``.
    """
    known = before or {}
    trusted_until = started_ns - TICK_NS
    found: dict[bytes, Item] = {}
    waiting = [b""]
    while waiting:
        prefix = waiting.pop()
        for entry in _list(root, prefix, found):
            path = prefix + entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path + b"/")
                    if folders is not None:
                        folders[path] = entry.stat(follow_symlinks=False)
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError:
                found[path] = Item(UNREADABLE)
                continue
            old = known.get(path)
            stamp = stamp_of(status)
            if old is not None and old.stamp == stamp and stamp[1] < trusted_until:
                found[path] = old
            else:
                found[path] = read_item(entry.path, status)
    return found


def _list(root: bytes, prefix: bytes, found: dict[bytes, Item]) -> list[os.DirEntry[bytes]]:
    folder = root + b"/" + prefix
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except PermissionError:
        # The agent is gone and this is its copy: taking the folder back is nobody's loss.
        return _list_taken_back(folder, prefix, found)
    except OSError:
        if prefix:
            found[prefix.rstrip(b"/")] = Item(UNREADABLE)
        return []


def _list_taken_back(
    folder: bytes, prefix: bytes, found: dict[bytes, Item]
) -> list[os.DirEntry[bytes]]:
    try:
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        found[prefix.rstrip(b"/")] = Item(UNREADABLE)
        return []


def read_item(path: bytes, status: os.stat_result) -> Item:
    """Return the entry of one file, which is read."""
    stamp = stamp_of(status)
    if stat.S_ISLNK(status.st_mode):
        return Item(LINK, False, _link_digest(path), stamp)
    executable = bool(status.st_mode & stat.S_IXUSR)
    if not stat.S_ISREG(status.st_mode):
        return Item(SPECIAL, False, str(stat.S_IFMT(status.st_mode)), stamp)
    digest = _file_digest(path)
    return Item(FILE if digest else UNREADABLE, executable, digest, stamp)


def _link_digest(path: bytes) -> str:
    try:
        return hashlib.sha256(os.readlink(path)).hexdigest()
    except OSError:
        return ""


def _file_digest(path: bytes) -> str:
    digest = hashlib.sha256()
    try:
        fd = open_regular(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        while part := os.read(fd, READ_BYTES):
            digest.update(part)
    except OSError:
        return ""
    finally:
        os.close(fd)
    return digest.hexdigest()


def open_regular(path: bytes | str, flags: int) -> int:
    """Open a file that may have become a FIFO or unreadable meanwhile, without hanging."""
    flags |= os.O_NONBLOCK | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except PermissionError:
        os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) | stat.S_IRUSR)
        return os.open(path, flags)


def digest_of(manifest: Manifest) -> str:
    """Return one digest of all that counts in a folder."""
    digest = hashlib.sha256()
    for path in sorted(manifest):
        kind, executable, content = manifest[path].content
        digest.update(b"%s\0%s\0%d\0%s\n" % (path, kind.encode(), executable, content.encode()))
    return "sha256:" + digest.hexdigest()


def same_content(before: Manifest, after: Manifest) -> bool:
    """Tell whether nothing that counts differs."""
    return before is after or (
        before.keys() == after.keys()
        and all(
            item is before[path] or item.content == before[path].content
            for path, item in after.items()
        )
    )
