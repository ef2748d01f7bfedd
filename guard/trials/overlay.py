"""Workspaces as overlays: the tree's files below, what a trial writes above.

Setting one up is a mount; what a trial changed is what lies in the upper folder, where a trial
can't reach it. See `guard.trials.own_mounts` for where the kernel allows that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Final

from guard.git import text_of
from guard.trials.manifest import Item, Manifest, read_item, scan_folder, stamp_of
from guard.trials.own_mounts import OPAQUE, REDIRECT, is_entered, mount_overlay, unmount
from guard.trials.runfolder import RunPlace
from guard.trials.template import Template
from guard.workspace import NOTE, OWN_NAMES, Reuse, Upkeep, Way, remove_tree

NAME: Final = NOTE + "overlay"


class OverlayWay:
    """Overlays over one folder, which nothing changes while a run lasts."""

    def __init__(
        self, template: Template, place: RunPlace, options: str, elsewhere: Way, lower: bytes
    ) -> None:
        self.lower = text_of(lower)
        """What holds the files below, as ``ws``."""
        for name in OWN_NAMES - {"ws"}:
            os.mkdir(f"{self.lower}/{name}")
        self._options = options
        self._elsewhere = elsewhere
        """How workspaces are laid for threads that are not in guard's own namespace."""
        self._folder = place.new_folder("overlay")
        self._base = _items(template, os.path.join(lower, b"ws"))

    @property
    def note(self) -> str:
        """Say what it is for this thread."""
        return NAME if is_entered() else self._elsewhere.note

    def lay(self, folder: str) -> tuple[Manifest, Upkeep]:
        """Mount an overlay on an empty folder: with HOME and all, so that it is one file system.

        Raises OSError.
        """
        if not is_entered():
            return self._elsewhere.lay(folder)
        above = os.path.join(self._folder, os.urandom(8).hex())
        upper, work = f"{above}/upper", f"{above}/work"
        try:
            for path in (above, upper, work):
                os.mkdir(path, 0o700)
            mount_overlay(self.lower, upper, work, folder, self._options)
        except BaseException:
            remove_tree(above)
            raise
        return self._base, _Mounted(folder, above, self._base)


def _items(template: Template, lower: bytes) -> dict[bytes, Item]:
    return {
        path: Item(
            piece.kind,
            piece.executable,
            piece.digest,
            stamp_of(os.lstat(os.path.join(lower, path))),
        )
        for path, piece in template.pieces.items()
    }


class _Mounted:
    """One overlay."""

    def __init__(self, folder: str, above: str, base: Manifest) -> None:
        self._folder = folder
        self._above = above
        self._base = base
        self._mounted = True

    def scan(self, root: bytes, before: Manifest, started_ns: int) -> Manifest:
        """List the workspace by what lies in the upper folder."""
        upper = os.fsencode(self._above) + b"/upper/ws"
        found = scan_upper(upper, root, before, self._base)
        return scan_folder(root, before, started_ns) if found is None else found

    def remove(self, folder: str, reuse: Reuse) -> None:
        """Unmount, and remove what was written."""
        if self._mounted:
            self._mounted = False
            unmount(self._folder)
        remove_tree(folder)
        remove_tree(self._above)


def scan_upper(upper: bytes, merged: bytes, before: Manifest, base: Manifest) -> Manifest | None:
    """List a workspace by its upper folder; None where only a look at all of it can tell.

    ``base`` is what lies below; ``before`` also holds what was laid over it.
    """
    scan = _UpperScan(upper, merged, before)
    try:
        scan.walk_all()
    except (_Unclear, OSError):
        return None
    gone = [path for path in before if path not in base and path not in scan.seen]
    if not (scan.changes or scan.gone or gone):
        return before
    after = dict(scan.after())
    for path in gone:
        after.pop(path, None)
    return after


class _Unclear(Exception):
    """A folder was moved: what lies in it can't be told from the upper folder alone."""


class _UpperScan:
    """One walk through an upper folder."""

    def __init__(self, upper: bytes, merged: bytes, before: Manifest) -> None:
        self._upper = upper
        self._merged = merged
        self._before = before
        self.changes: dict[bytes, Item] = {}
        """What is there and isn't as before."""
        self.seen: set[bytes] = set()
        """All that is in the upper folder, but folders."""
        self.gone: list[bytes] = []
        """What was below these paths, and at them, is gone."""

    def walk_all(self) -> None:
        """Look through all of it; it may not be there."""
        if not os.path.lexists(self._upper):
            return
        if not os.path.isdir(self._upper) or os.path.islink(self._upper):
            raise _Unclear
        self._enter(b"", self._upper, is_new=False)

    def walk(self, prefix: bytes, *, is_new: bool) -> None:
        """Look through one folder; ``is_new``: nothing of the same path below shows through."""
        for entry in self._entries(prefix):
            path = prefix + entry.name
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                self._enter(path, entry.path, is_new=is_new)
            elif stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
                self.gone.append(path)
            else:
                self._note(path)

    def _entries(self, prefix: bytes) -> list[os.DirEntry[bytes]]:
        folder = os.path.join(self._upper, prefix)
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except PermissionError:
            os.chmod(os.path.join(self._merged, prefix), 0o700)
        with os.scandir(folder) as entries:
            return list(entries)

    def _enter(self, path: bytes, place: bytes, *, is_new: bool) -> None:
        names = os.listxattr(place, follow_symlinks=False)
        if REDIRECT in names:
            raise _Unclear
        opaque = OPAQUE in names or is_new
        if opaque or path in self._before:
            self.gone.append(path)
        self.walk(path and path + b"/", is_new=opaque)

    def _note(self, path: bytes) -> None:
        self.seen.add(path)
        place = os.path.join(self._merged, path)
        item = read_item(place, os.lstat(place))
        old = self._before.get(path)
        if old is None:
            # A file in the place of a folder hides what was below.
            self.gone.append(path)
        if old is None or old.content != item.content:
            self.changes[path] = item

    def after(self) -> Mapping[bytes, Item]:
        """Return what is there now."""
        after = dict(self._before)
        files = [path for path in self.gone if path in after]
        for path in files:
            del after[path]
        folders = tuple(path and path + b"/" for path in self.gone)
        if folders:
            kept = self.seen & self._before.keys()
            for path in [p for p in after if p.startswith(folders)]:
                del after[path]
            after.update((path, self._before[path]) for path in kept)
        after.update(self.changes)
        return after
