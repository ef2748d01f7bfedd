"""A fresh workspace for each trial: laid from a template, watched, and removed as it ends.

It lies one level down in a private folder (``<slot>/<trial>/ws``, beside ``home`` and
``tmp``), so that a write to ``../`` is seen.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from guard.errors import UsageError
from guard.git import text_of
from guard.results import FileChange
from guard.trials.changes import Changes, compare, content_of
from guard.trials.manifest import Item, Manifest, same_content, scan_folder
from guard.trials.template import Piece, Template, lay_piece, parents_of

#: What a trial's folder holds; anything else was put there by the target.
OWN_NAMES = frozenset(("ws", "home", "tmp"))


class Reuse(Enum):
    """Whether a later trial may get the same files, once what was changed is mended."""

    NEVER = "never"
    """Somebody may still write to them."""
    LOOKED_OVER = "looked over"
    """They may have been written to since they were listed."""
    AS_LISTED = "as listed"
    """All that wrote had ended before they were listed."""


class Upkeep(Protocol):
    """Knows how the files of one workspace came to lie there."""

    def scan(self, root: bytes, before: Manifest, started_ns: int) -> Manifest:
        """List what the workspace holds now."""
        ...

    def remove(self, folder: str, reuse: Reuse) -> None:
        """Remove the trial's folder; may be called twice."""
        ...


class Way(Protocol):
    """A way to lay one template again and again; used from several threads."""

    @property
    def note(self) -> str:
        """What the report says of it, the reason in brackets where it is no matter of choice.

        Empty for small folders, which are simply written anew.
        """
        ...

    def lay(self, folder: str) -> tuple[Manifest, Upkeep]:
        """Make ``ws``, with the template in it, ``home`` and ``tmp`` in an empty folder.

        Returns the manifest of ``ws``. Raises OSError.
        """
        ...


#: What the report calls the way that the files of a workspace are laid.
NOTE = "workspace: "


def is_fallback(note: str) -> bool:
    """Tell whether a part of a trial's isolation names a way that is second best here, and why."""
    return note.startswith(NOTE) and note.endswith(")")


class LaidAnew:
    """The upkeep of files that are written for each trial: none."""

    def scan(self, root: bytes, before: Manifest, started_ns: int) -> Manifest:
        """List the folder."""
        return scan_folder(root, before, started_ns)

    def remove(self, folder: str, reuse: Reuse) -> None:
        """Remove it all."""
        remove_tree(folder)


class FreshWay:
    """Writes every file for each trial: nothing is faster for small folders."""

    def __init__(self, template: Template, note: str = "") -> None:
        self._template = template
        self.note = note

    def lay(self, folder: str) -> tuple[Manifest, Upkeep]:
        """Write everything."""
        make_own_folders(folder)
        return self._template.lay(os.fsencode(folder) + b"/ws"), LaidAnew()


def make_own_folders(folder: str) -> None:
    """Make what a trial's folder holds, empty."""
    for name in OWN_NAMES:
        os.mkdir(f"{folder}/{name}")


class Workspace(NamedTuple):
    """One trial's folder, as it was before the target started."""

    folder: str
    before: Manifest
    template: Template
    given: Mapping[bytes, Piece]
    upkeep: Upkeep

    @property
    def path(self) -> str:
        """The workspace itself: the working folder of target and checkers."""
        return os.path.join(self.folder, "ws")

    def content_before(self, path: bytes) -> bytes | None:
        """Return what a path held before the trial."""
        piece = self.given.get(path)
        return piece.data if piece is not None else self.template.content(path)

    def scan(self, started_ns: int) -> Manifest:
        """List what the workspace holds now; ``started_ns``: when the target started."""
        return self.upkeep.scan(os.fsencode(self.path), self.before, started_ns)

    def digest(self) -> str:
        """Return one digest of all that it held before the trial."""
        return self.template.digest_with(self.given, self.before)

    def changes(self, after: Manifest) -> Changes:
        """Return what differs from before."""
        if same_content(self.before, after):
            return Changes()
        return compare(self.before, after, self.content_before, os.fsencode(self.path))

    def strays(self) -> list[str]:
        """Return what was written outside the workspace, in the folders above it."""
        above, mine = os.path.split(self.folder)
        try:
            inside, beside = os.listdir(self.folder), os.listdir(above)
        except OSError:
            return [".. can't be read any more"]
        found = [f"../{name}" for name in inside if name not in OWN_NAMES]
        found += [f"../../{name}" for name in beside if name != mine]
        if os.path.islink(self.path):
            found.append("the workspace itself is a symbolic link now")
        return sorted(found)

    def remove(self, reuse: Reuse = Reuse.NEVER) -> None:
        """Remove the trial's folder, whatever the target made of it; may be called twice."""
        self.upkeep.remove(self.folder, reuse)


def lay_workspace(
    slot: str, name: str, template: Template, given: Sequence[Piece], way: Way | None = None
) -> Workspace:
    """Lay a workspace in ``<slot>/<name>``. Raises `UsageError` where ``given`` would leave it."""
    folder = os.path.join(slot, name)
    upkeep: Upkeep = LaidAnew()
    os.mkdir(folder, 0o700)
    try:
        before, upkeep = (way or FreshWay(template)).lay(folder)
        if given:
            target = os.fsencode(os.path.join(folder, "ws"))
            laid = {piece.path: _lay_given(target, piece) for piece in given}
            before = {**before, **laid}
    except BaseException:
        upkeep.remove(folder, Reuse.NEVER)
        raise
    return Workspace(folder, before, template, {p.path: p for p in given}, upkeep)


def _lay_given(target: bytes, piece: Piece) -> Item:
    parts = piece.path.split(b"/")
    if piece.path.startswith(b"/") or not all(parts) or {b".", b".."} & set(parts):
        raise UsageError(f"given file {text_of(piece.path)} is no path inside the workspace")
    for folder in reversed(parents_of(piece.path)):
        _enter_folder(os.path.join(target, folder), folder)
    place = os.path.join(target, piece.path)
    try:
        if stat.S_ISDIR(os.lstat(place).st_mode):
            raise UsageError(f"given file {text_of(piece.path)} is a folder of the workspace")
        os.unlink(place)
    except FileNotFoundError:
        pass
    return lay_piece(piece, place)


def _enter_folder(place: bytes, folder: bytes) -> None:
    try:
        os.mkdir(place)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            raise UsageError(
                f"given files can't be laid below {text_of(folder)}: it is no folder"
            ) from None


def remove_tree(path: str) -> None:
    """Remove a folder with all that is below: read-only, unreadable or very deep, too."""
    try:
        _remove_plain(path)
    except (OSError, RecursionError):
        if os.path.lexists(path):
            subprocess.run(["chmod", "-R", "u+rwx", path], capture_output=True, check=False)
            subprocess.run(["rm", "-rf", path], capture_output=True, check=False)


def _remove_plain(path: str) -> None:
    """Remove a folder in which nothing is amiss: half of what shutil.rmtree takes."""
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _remove_plain(entry.path)
            else:
                os.unlink(entry.path)
    os.rmdir(path)


def clear_folder(path: str) -> None:
    """Remove all that a folder holds."""
    for name in os.listdir(path):
        remove_entry(os.path.join(path, name))


def remove_entry(path: str) -> None:
    """Remove a file, a link or a folder."""
    if os.path.isdir(path) and not os.path.islink(path):
        remove_tree(path)
    else:
        os.unlink(path)


def copy_over(folder: str, workspace: str) -> None:
    """Replace the workspace's content by a copy of a folder, less a ``.git`` at its top.

    Raises `UsageError` where the folder can't be read.
    """
    import shutil

    def skipped(above: str, names: list[str]) -> list[str]:
        own_git = [".git"] if above == folder else []
        return own_git + [name for name in names if not _is_copied(os.path.join(above, name))]

    try:
        # It may be a mount point.
        clear_folder(workspace)
        shutil.copytree(folder, workspace, symlinks=True, ignore=skipped, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise UsageError(f"{folder} can't be read: {error}") from error


def _is_copied(path: str) -> bool:
    kind = os.lstat(path).st_mode
    return stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)


def compare_folders(before: str, after: str) -> tuple[FileChange, ...]:
    """Return what differs between two folders on disk."""
    old, new = os.fsencode(before), os.fsencode(after)

    def content_before(path: bytes) -> bytes | None:
        return content_of(old, path, before_items[path])

    before_items = scan_folder(old)
    return compare(before_items, scan_folder(new), content_before, new).files
