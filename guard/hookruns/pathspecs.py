"""Globs as pathspecs that git itself can ask: folders and files that hold all that they match.

A superset, and one that stays right while HEAD and the index agree on it: whatever puts a submodule
or a link where such a folder is, or would be, changes something that is asked for too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from guard.git import bytes_of
from guard.globs import literal_prefix
from guard.judging.guarded import ROOT_FILES
from guard.tree import FOLDER, Entry, Tree, read_folder

#: Each index entry is held against each pathspec: more of them are asked as their folders.
MOST = 64
#: Parts of a path that git has in none of its own.
_IMPOSSIBLE = frozenset((b"", b".", b".."))


class Pathspecs(NamedTuple):
    """What git is asked about."""

    places: tuple[bytes, ...]
    """Files and folders with all below them, literally."""
    root_files: bool
    """Whether the root's own files are asked for too."""
    content: tuple[str, ...]
    """What differs where a tree doesn't agree with the one that they are made for."""


def pathspecs_of(tree: Tree, globs: Iterable[str]) -> Pathspecs | None:
    """Return what holds all that the globs match in trees that agree with this one on it.

    None where that would be the whole tree, or nothing sound can be said.
    """
    wanted = set(globs)
    prefixes = {bytes_of(literal_prefix(glob)) for glob in wanted - {ROOT_FILES}}
    if b"" in prefixes:
        return None
    # No path has such a part, so nothing that begins with it is ever matched.
    possible = {p for p in prefixes if _IMPOSSIBLE.isdisjoint(p.split(b"/"))}
    lookup = _Places(tree)
    places = sorted(lookup.of(possible) or ())
    if not places:
        return None
    content = [*map(lookup.content, places)]
    if ROOT_FILES in wanted:
        content += lookup.root_files()
    return Pathspecs(tuple(places), ROOT_FILES in wanted, tuple(content))


class _Places:
    """Looks up where prefixes lead in a tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._folders: dict[str, Mapping[bytes, Entry]] = {}

    def of(self, prefixes: Iterable[bytes]) -> set[bytes] | None:
        found = dict(map(self._place, prefixes))
        while len(found) > MOST:
            found = dict(map(self._place, _shortened(found)))
        if b"" in found:
            return None
        outermost = _outermost(found)
        there = {path for path in outermost if found[path]}
        return self._anchored(there, outermost - there)

    def content(self, path: bytes) -> str:
        """Return mode and id of what is at a path; empty where nothing is."""
        entry = Entry(FOLDER, self._tree.oid)
        for name in path.split(b"/"):
            found = self._folder(entry.oid).get(name) if entry.mode == FOLDER else None
            if found is None:
                return ""
            entry = found
        return " ".join(entry)

    def root_files(self) -> list[str]:
        """Return mode and id of all at the root that are no folders, by name."""
        entries = sorted(self._folder(self._tree.oid).items())
        return [f"{name!r} {' '.join(e)}" for name, e in entries if e.mode != FOLDER]

    def _place(self, path: bytes) -> tuple[bytes, bool]:
        """Return how far a path leads, and whether something is there.

        That is the path, or the first part of it that is no folder: missing, a file, a link, a
        submodule. What would be put in its way is then put there.
        """
        parts = path.split(b"/")
        oid = self._tree.oid
        for number, name in enumerate(parts, start=1):
            entry = self._folder(oid).get(name)
            if entry is None or entry.mode != FOLDER:
                return b"/".join(parts[:number]), entry is not None
            oid = entry.oid
        return path, bool(self._folder(oid))

    def _folder(self, oid: str) -> Mapping[bytes, Entry]:
        if oid not in self._folders:
            self._folders[oid] = read_folder(self._tree.repo, oid)
        return self._folders[oid]

    def _anchored(self, there: set[bytes], missing: set[bytes]) -> set[bytes] | None:
        """Add a neighbour of each missing path, unless one is asked for already.

        Were their folder replaced by a submodule, nothing that is missing would change, but the
        neighbour would be gone.
        """
        for path in missing:
            folder = path.rpartition(b"/")[0]
            if not folder or any(one.startswith(folder + b"/") for one in there):
                continue
            neighbour = self._first_in(folder)
            if neighbour is None:
                return None
            there.add(neighbour)
        return there | missing

    def _first_in(self, folder: bytes) -> bytes | None:
        entries = self._folder(self.content(folder).partition(" ")[2])
        files = [name for name, entry in entries.items() if entry.mode != FOLDER]
        name = next(iter(files or entries), None)
        return None if name is None else folder + b"/" + name


def _shortened(paths: Iterable[bytes]) -> set[bytes]:
    """Return the paths with the deepest ones replaced by their folders."""
    listed = set(paths)
    depth = max(path.count(b"/") for path in listed)
    return {path.rpartition(b"/")[0] if path.count(b"/") == depth else path for path in listed}


def _outermost(paths: Iterable[bytes]) -> set[bytes]:
    found: list[bytes] = []
    for path in sorted(paths):
        if not any(path.startswith(above + b"/") for above in found):
            found.append(path)
    return set(found)
