"""A bare git directory of guard's own: trees are edited and merged here, never in the user's.

In the user's repository a merge obeys `merge=union` and runs configured merge drivers
(RECIPES: The live broken state). Here are no attributes, no hooks and no configuration but
what is written below; objects go to the scratch store of the `Repo`, which reads them too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property

from guard.closing import Closing
from guard.errors import UnreadableError
from guard.git import Completed, Repo, text_of
from guard.leftovers import make_folder, remove_folder
from guard.tree import FOLDER, GITLINK, Entry, read_folder

#: ``merge-tree --write-tree`` came with git 2.38.
MERGE_TREE_VERSION = (2, 38)
CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tbare = true
\tattributesFile = /dev/null
\thooksPath = /dev/null
\tlogAllRefUpdates = false
{extensions}[merge]
\trenames = true
\tdirectoryRenames = true
\trenormalize = false
\trenameLimit = 5000
"""
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C.UTF-8",
    # The commits below are made of trees alone: the same trees give the same ids.
    "GIT_AUTHOR_NAME": "guard",
    "GIT_AUTHOR_EMAIL": "guard",
    "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "guard",
    "GIT_COMMITTER_EMAIL": "guard",
    "GIT_COMMITTER_DATE": "@0 +0000",
}


class Scratch(Closing):
    """The scratch git directory of one repository; a context manager removes it."""

    def __init__(self, repo: Repo) -> None:
        repo.use_scratch()
        self.repo = repo
        self.folder = make_folder("scratch")
        for name in ("objects", "refs"):
            os.mkdir(os.path.join(self.folder, name))
        self._write("HEAD", "ref: refs/heads/none\n")
        extended = repo.object_format != "sha1"
        extensions = f"[extensions]\n\tobjectFormat = {repo.object_format}\n" if extended else ""
        self._write("config", CONFIG.format(version=int(extended), extensions=extensions))
        self._env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        home = {"HOME": self.folder, "XDG_CONFIG_HOME": self.folder, "GIT_DIR": self.folder}
        self._env |= {**ENVIRONMENT, **home, **repo.object_stores}

    def _write(self, name: str, text: str) -> None:
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, *args: str, input: bytes | None = None, ok: tuple[int, ...] = (0,)) -> Completed:
        """Run git here. Raises `UnreadableError` where its code isn't in ``ok``."""
        import subprocess

        done = subprocess.run(
            ("git", *args),
            input=input or b"",
            capture_output=True,
            env=self._env,
            cwd=self.folder,
            check=False,
        )
        if done.returncode not in ok:
            said = text_of(done.stderr.strip()).splitlines()
            raise UnreadableError(
                f"git {args[0]} ended in {done.returncode} on rebuilt trees: "
                f"{said[-1] if said else 'it said nothing'}"
            )
        return Completed(done.returncode, done.stdout, done.stderr)

    @cached_property
    def merges_trees(self) -> bool:
        """Whether this git can merge trees without a working tree."""
        found = re.search(rb"(\d+)\.(\d+)", self.run("version").out)
        return found is not None and (int(found[1]), int(found[2])) >= MERGE_TREE_VERSION

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
