"""What changed between two trees, and the commit that changes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from guard.errors import UnreadableError
from guard.git import Repo, said_by_git, text_of
from guard.tree import Entry, Tree, walk_folder

DIFF_OPTIONS = (
    "--raw",
    "-z",
    "--no-renames",
    "--no-abbrev",
    "--no-ext-diff",
    # submodule.X.ignore=all in .gitmodules would hide a moved gitlink even from plumbing.
    "--ignore-submodules=none",
)


class DiffEntry(NamedTuple):
    """One path that differs; a rename is two of them."""

    path: bytes
    old: Entry | None
    new: Entry | None

    @property
    def name(self) -> str:
        """The path as text."""
        return text_of(self.path)


class Change(NamedTuple):
    """Two trees and what differs between them: what every rule and every run judges."""

    base: Tree
    new: Tree
    entries: tuple[DiffEntry, ...]
    message: bytes = b""
    """The cleaned commit message; empty where there is none yet."""
    commit: str = ""
    """Full id, where the change is a commit's."""
    parents: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[bytes, ...]:
        """The changed paths."""
        return tuple(entry.path for entry in self.entries)


class IndexTree(Tree):
    """The index that git gave the hook, read in place: what a rule needs and no more."""

    def __init__(
        self,
        repo: Repo,
        base: Tree,
        differing: tuple[DiffEntry, ...],
        intended: frozenset[bytes] = frozenset(),
    ) -> None:
        super().__init__(repo, "")
        self._base = base
        self._intended = intended
        self._looked_up = {entry.path: entry.new for entry in differing}

    def entries(self) -> dict[bytes, Entry]:
        """Return path → entry for all of the index."""
        if self._entries is None:
            self._entries = self._listed()
        return self._entries

    def get(self, path: bytes) -> Entry | None:
        """Return the staged entry at ``path``: where the two don't differ, the base's."""
        if path in self._looked_up:
            return self._looked_up[path]
        return self._base.get(path)

    def entries_in(self, folders: Iterable[bytes]) -> Mapping[bytes, Entry]:
        """Return the staged entries in folders: the base's, and what differs; no list is asked."""
        wanted = tuple(folders)
        if b"" in wanted or self._entries is not None:
            return self.entries()
        inside = tuple(folder + b"/" for folder in wanted)
        staged = {
            path: entry
            for path, entry in self._looked_up.items()
            if path in wanted or path.startswith(inside)
        }
        joined = {**self._base.entries_in(wanted), **staged}
        return {path: entry for path, entry in joined.items() if entry}

    def below(self, folder: bytes) -> dict[bytes, Entry]:
        """Return the staged entries below a folder, without listing the rest."""
        if not folder or self._entries is not None:
            return super().below(folder)
        return self._listed("--", folder)

    def _listed(self, *below: str | bytes) -> dict[bytes, Entry]:
        found = _parse_index(self.repo.out("ls-files", "--stage", "-z", *below))
        return {path: entry for path, entry in found.items() if path not in self._intended}


class BaseTree(Tree):
    """The tree that the index is compared with: listed from the index and their difference."""

    def __init__(
        self,
        repo: Repo,
        oid: str,
        differing: tuple[DiffEntry, ...],
        intended: frozenset[bytes] = frozenset(),
    ) -> None:
        super().__init__(repo, oid)
        self.index = IndexTree(repo, self, differing, intended)
        self._old = {entry.path: entry.old for entry in differing}
        self._looked_up.update(self._old)

    def entries(self) -> Mapping[bytes, Entry]:
        """Return path → entry, without a listing of its own."""
        if self._entries is None:
            joined = {**self.index.entries(), **self._old}
            self._entries = {path: entry for path, entry in sorted(joined.items()) if entry}
        return self._entries

    def entries_in(self, folders: Iterable[bytes]) -> Mapping[bytes, Entry]:
        """Return the entries in folders, walked down to from the root."""
        wanted = tuple(folders)
        if b"" in wanted or self._entries is not None:
            return self.entries()
        found: dict[bytes, Entry] = {}
        for folder in wanted:
            found.update(walk_folder(self.repo, self.oid, folder))
        self._looked_up.update(found)
        return found


def _parse_index(listing: bytes) -> dict[bytes, Entry]:
    found: dict[bytes, Entry] = {}
    for record in listing.split(b"\0"):
        if record:
            head, path = record.split(b"\t", 1)
            mode, oid, _stage = head.split()
            found[path] = Entry(mode.decode(), oid.decode())
    return found


def diff_trees(repo: Repo, base: Tree, new: Tree) -> tuple[DiffEntry, ...]:
    """Return what differs between two trees."""
    if base.oid == new.oid:
        return ()
    return parse_raw(repo.out("diff-tree", "-r", *DIFF_OPTIONS, base.oid, new.oid, "--"))


def change_of_trees(repo: Repo, base: Tree, new: Tree) -> Change:
    """Return the change from one tree to another."""
    return Change(base, new, diff_trees(repo, base, new))


def staged_change(repo: Repo, base_rev: str | None, message: bytes = b"") -> Change:
    """Return what is staged against ``base_rev`` (None: the empty tree), nothing written."""
    # Asked of the reader that the rules need anyway: one process less for every commit.
    known = repo.objects.read(f"{base_rev}^{{tree}}") if base_rev else None
    oid = known.oid if known else (base_rev and repo.tree_of(base_rev)) or repo.empty_tree
    entries, intended = _staged(repo, oid), frozenset[bytes]()
    if any(entry.new and entry.new.oid == repo.empty_blob for entry in entries):
        # `git add -N` stages a name without its content: no commit holds such a file.
        named = {entry.path for entry in entries if entry.new}
        entries = _staged(repo, oid, "--ita-invisible-in-index")
        intended = frozenset(named - {entry.path for entry in entries if entry.new})
    base = BaseTree(repo, oid, entries, intended)
    return Change(base, base.index, entries, message)


def _staged(repo: Repo, base: str, *options: str) -> tuple[DiffEntry, ...]:
    done = repo.run("diff-index", "--cached", *options, *DIFF_OPTIONS, base, "--", ok=None)
    if done.code:
        raise UnreadableError(f"the index can't be compared: {said_by_git(done.err) or done.code}")
    return parse_raw(done.out)


def conflicting(path: bytes) -> UnreadableError:
    """Return the error for a path that the index holds in several versions."""
    name = text_of(path)
    return UnreadableError(f"the index holds a conflict in {name}", f"git add {name}")


def parse_raw(listing: bytes) -> tuple[DiffEntry, ...]:
    """Parse ``--raw -z`` output of a diff without renames."""
    fields = listing.split(b"\0")
    entries: list[DiffEntry] = []
    for head, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old_oid, new_oid, status = head.lstrip(b":").split()
        if status == b"U":
            raise conflicting(path)
        entries.append(DiffEntry(path, _entry(old_mode, old_oid), _entry(new_mode, new_oid)))
    return tuple(entries)


def _entry(mode: bytes, oid: bytes) -> Entry | None:
    return None if mode == b"000000" else Entry(mode.decode(), oid.decode())
