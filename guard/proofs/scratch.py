"""Trees are edited and merged in a git directory of guard's own, never in the user's.

In the user's repository a merge obeys `merge=union` and runs configured merge drivers. Objects
go to the scratch store of the `Repo`, which reads them too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property

from guard.git import Repo
from guard.leftovers import make_folder, remove_folder
from guard.owngit import OwnGit
from guard.tree import FOLDER, GITLINK, Entry, read_folder


class Scratch(OwnGit):
    """The scratch git directory of one repository; a context manager removes it."""

    def __init__(self, repo: Repo) -> None:
        repo.use_scratch()
        super().__init__(repo, make_folder("scratch"))

    @cached_property
    def merges_trees(self) -> bool:
        """Whether this git can merge trees without a working tree: 2.38 and newer."""
        # Tried, not told from a version: what is installed under the name of git may say anything.
        commit = self._commit(self.repo.empty_tree)
        return self.run("merge-tree", "--write-tree", commit, commit, ok=None).code == 0

    def edit_tree(self, oid: str, changes: Mapping[bytes, Entry | None]) -> str:
        """Return the tree with paths set, or taken away where they map to None.

        Folder by folder: reading a whole tree into an index takes 200 ms at 100,000 files.
        """
        if not changes:
            return oid
        folder = dict(read_folder(self.repo, oid))
        here = {path: entry for path, entry in changes.items() if b"/" not in path}
        for name, entry in here.items():
            if entry is None and name in folder and folder[name].mode != FOLDER:
                del folder[name]
        for name, inside in _by_folder(changes).items():
            old = folder.get(name)
            inner = old.oid if old and old.mode == FOLDER else self.repo.empty_tree
            folder[name] = Entry(FOLDER, self.edit_tree(inner, inside))
            if folder[name].oid == self.repo.empty_tree:
                del folder[name]
        folder.update((name, entry) for name, entry in here.items() if entry is not None)
        return self._tree_of(folder)

    def write_blob(self, content: bytes) -> str:
        """Return the id of a file's content, written as it is."""
        call = ("hash-object", "-w", "--no-filters", "--stdin")
        return self.run(*call, input=content).out.decode().strip()

    def write_blobs(self, contents: Sequence[bytes]) -> list[str]:
        """Return the ids of files' contents, written by one call of git."""
        folder = make_folder("scratch")
        try:
            names = [os.path.join(folder, str(number)) for number in range(len(contents))]
            for name, content in zip(names, contents, strict=True):
                with open(name, "wb") as file:
                    file.write(content)
            call = ("hash-object", "-w", "--no-filters", "--stdin-paths")
            listed = "".join(f"{name}\n" for name in names)
            return self.run(*call, input=os.fsencode(listed)).out.decode().split()
        finally:
            remove_folder(folder)

    def _tree_of(self, folder: Mapping[bytes, Entry]) -> str:
        kinds = {FOLDER: "tree", GITLINK: "commit"}
        lines = [
            f"{entry.mode} {kinds.get(entry.mode, 'blob')} {entry.oid}\t".encode() + name + b"\0"
            for name, entry in folder.items()
        ]
        return self.run("mktree", "-z", "--missing", input=b"".join(lines)).out.decode().strip()

    def merge_trees(self, base: str, ours: str, theirs: str) -> str | None:
        """Return the three-way merge of trees; None where they conflict."""
        root = self._commit(base)
        sides = (self._commit(ours, root), self._commit(theirs, root))
        options = ("--write-tree", "-z", "--no-messages")
        done = self.run("merge-tree", *options, *sides, ok=(0, 1))
        return None if done.code else done.out.split(b"\0")[0].decode()

    def _commit(self, tree: str, *parents: str) -> str:
        options = [word for parent in parents for word in ("-p", parent)]
        return self.run("commit-tree", tree, "-m", "state", *options).out.decode().strip()

    def close(self) -> None:
        """Remove the folder; the objects go with the repository's scratch store."""
        remove_folder(self.folder)


def _by_folder(
    changes: Mapping[bytes, Entry | None],
) -> dict[bytes, dict[bytes, Entry | None]]:
    """Return folder → the changes below it, their paths without it."""
    found: dict[bytes, dict[bytes, Entry | None]] = {}
    for path, entry in changes.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            found.setdefault(name, {})[rest] = entry
    return found
