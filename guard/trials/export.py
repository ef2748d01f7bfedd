"""Files of a git tree written to disk: the same bytes on every machine, and nobody's checkout.

A fresh index and an own, empty work tree, in a git directory of guard's own: committed
attributes are honoured (`eol`, `text`, `ident`, `working-tree-encoding`), and LF is the line
end where they say nothing. No setting of the user's counts; what a filter would make of a
file is in `guard.trials.filters`. A file that can't be had is named, never left out in silence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from guard.errors import UnreadableError
from guard.git import ObjectError, said_by_git, text_of
from guard.owngit import OwnGit
from guard.tree import SYMLINK, Entry, Tree
from guard.trials.filters import (
    ATTRIBUTES,
    LFS,
    Checkout,
    Lacking,
    Written,
    apply_filters,
    find_filtered,
)
from guard.trials.names import find_twins, folding

_OBJECT = re.compile(r"\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b")


class Root(NamedTuple):
    """One repository of a tree: its own, or a submodule's."""

    folder: bytes
    """Where it lies in the tree, with a slash at its end; empty for the tree's own."""
    git_dir: str
    """What its filters are configured in, and where its large files are kept."""


def check_out(tree: Tree, files: Sequence[bytes], scratch: str, work: str) -> Written:
    """Write files of a tree into the folder ``work``; tell which of them can't be had.

    ``scratch``: an empty folder for what is needed meanwhile. Raises `UnreadableError` where
    nothing can be had at all.
    """
    twins = find_twins(files, folding(work)) if files else {}
    lacking = [
        Lacking(path, f"and {text_of(name)} are one name on this file system")
        for path, name in twins.items()
    ]
    filters: set[str] = set()
    alone = [path for path in files if path not in twins]
    for number, (root, inside) in enumerate(_by_root(tree, alone)):
        folder = os.path.join(scratch, str(number))
        place = os.path.join(os.fsencode(work), root.folder)
        os.makedirs(folder)
        os.makedirs(place, exist_ok=True)
        found = _check_out_root(tree, root, inside, folder, os.fsdecode(place))
        lacking += [one._replace(path=root.folder + one.path) for one in found.lacking]
        filters |= found.filters
    return Written(tuple(lacking), frozenset(filters))


def _by_root(tree: Tree, files: Iterable[bytes]) -> list[tuple[Root, list[bytes]]]:
    """Return each repository with its files: attributes of one mean nothing in another."""
    modules = sorted(tree.modules, key=len, reverse=True)
    found: dict[bytes, list[bytes]] = {}
    for path in files:
        folder = next((m for m in modules if path.startswith(m + b"/")), b"")
        found.setdefault(folder, []).append(path)
    return [
        (Root(folder and folder + b"/", tree.modules.get(folder, tree.repo.git_dir)), inside)
        for folder, inside in sorted(found.items())
    ]


def _check_out_root(
    tree: Tree, root: Root, files: Sequence[bytes], scratch: str, work: str
) -> Written:
    own = OwnGit(tree.repo, scratch)
    index = os.path.join(scratch, "index")
    entries = {path[len(root.folder) :]: tree.entries()[path] for path in files}
    attributes = _attributes_of(tree, root, entries)
    _write_index(own, index, {**attributes, **entries})
    checkout = Checkout(tree.repo, root.git_dir, index, work)
    regular = [path for path, entry in entries.items() if entry.mode != SYMLINK]
    filtered = find_filtered(own, checkout, regular, attributes)
    plain = [path for path in entries if path not in filtered or filtered[path] == LFS]
    lacking = _write_files(own, checkout, plain, entries)
    gone = {one.path for one in lacking}
    there = {path: name for path, name in filtered.items() if path not in gone}
    written = apply_filters(checkout, there)
    return written._replace(lacking=(*lacking, *written.lacking))


def _attributes_of(tree: Tree, root: Root, entries: Iterable[bytes]) -> dict[bytes, Entry]:
    """Return the attribute files that have a say in the entries."""
    folders = {b""}
    for path in entries:
        while b"/" in path:
            path = path.rpartition(b"/")[0]
            folders.add(path + b"/")
    whole = tree.entries()
    names = [folder + ATTRIBUTES for folder in sorted(folders)]
    return {name: whole[root.folder + name] for name in names if root.folder + name in whole}


def _write_index(own: OwnGit, index: str, entries: Mapping[bytes, Entry]) -> None:
    listed = b"".join(
        b"%s %s\t%s\0" % (entry.mode.encode(), entry.oid.encode(), path)
        for path, entry in entries.items()
    )
    own.run("update-index", "-z", "--index-info", input=listed, env={"GIT_INDEX_FILE": index})


def _write_files(
    own: OwnGit, checkout: Checkout, files: Sequence[bytes], entries: Mapping[bytes, Entry]
) -> list[Lacking]:
    names = b"".join(path + b"\0" for path in files)
    call = ("checkout-index", "-q", "-z", "--stdin")
    done = own.run(*call, input=names, env=checkout.environment, ok=None)
    said = said_by_git(done.err)
    if done.code > 1:
        paths = {entry.oid: text_of(path) for path, entry in entries.items()}
        named = [paths[oid] for oid in _OBJECT.findall(said) if oid in paths]
        raise UnreadableError(f"{named[0]} can't be read: {said}" if named else said, "git fsck")
    if said and not done.code:
        # `failed to encode 'a' from UTF-8 to x`: git goes on, with other bytes than elsewhere.
        raise UnreadableError(f"files can't be written as .gitattributes says: {said}")
    missing = [path for path in files if done.code and not os.path.lexists(checkout.place(path))]
    return [_missing(path, entries[path].oid, done.err) for path in missing]


def _missing(path: bytes, oid: str, said: bytes) -> Lacking:
    if oid.encode() not in said:
        return Lacking(path, "can't be written: git refuses its name")
    error = ObjectError(oid)
    return Lacking(path, f"can't be read: {error.message}", error.hint)
