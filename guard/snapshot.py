"""The tree under test, taken from the index, the working tree or a revision.

By RECIPES 'Snapshot': ``write-tree`` on a private copy of the index into a scratch object
store. The user's index, objects and files are never written.
"""

from __future__ import annotations

import os
import shutil

from guard.errors import UnreadableError, UsageError
from guard.git import Repo
from guard.leftovers import make_folder, remove_folder
from guard.tree import Tree

#: A split index would be written with its shared half into the user's git directory.
WHOLE_INDEX = ("-c", "core.splitIndex=false")


def index_tree(repo: Repo) -> Tree:
    """Return the tree of the index that git gave the hook, or of the repository's own."""
    with _PrivateIndex(repo) as index:
        return _written(repo, index)


def worktree_tree(repo: Repo) -> Tree:
    """Return the tree of the files on disk: tracked and untracked, not ignored."""
    if not repo.root:
        raise UsageError("a bare repository has no working tree", "guard run --at REV")
    with _PrivateIndex(repo) as index:
        # A copied index keeps git's stat data, so only changed files are hashed again.
        settings = ("-c", "advice.addEmbeddedRepo=false", "-c", "core.safecrlf=false")
        added = repo.run(
            *WHOLE_INDEX, *settings, "add", "--all", env={"GIT_INDEX_FILE": index}, ok=None
        )
        if added.code:
            said = added.err.decode("utf-8", "replace").strip().splitlines()
            raise UnreadableError(f"the working tree can't be read: {said[-1] if said else ''}")
        return _written(repo, index)


def revision_tree(repo: Repo, rev: str) -> Tree:
    """Return the tree of a commit, tag or tree. Raises `UsageError` where there is none."""
    oid = repo.resolve(f"{rev}^{{tree}}")
    if oid is None:
        raise UsageError(f"{rev} names no commit or tree here", "git log --oneline -5")
    return Tree(repo, oid)


def head_tree(repo: Repo) -> Tree:
    """Return the tree of HEAD; the empty one before the first commit."""
    return Tree(repo, repo.resolve("HEAD^{tree}") or repo.empty_tree)


def _written(repo: Repo, index: str) -> Tree:
    done = repo.run(*WHOLE_INDEX, "write-tree", env={"GIT_INDEX_FILE": index}, ok=None)
    if done.code:
        said = done.err.decode("utf-8", "replace").strip().splitlines()
        raise UnreadableError(f"the index can't be read: {said[0] if said else 'no reason given'}")
    return Tree(repo, done.out.decode().strip())


class _PrivateIndex:
    """A copy of the index in a folder of its own; also of its shared half where it is split."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.folder = ""

    def __enter__(self) -> str:
        self.repo.use_scratch()
        self.folder = make_folder("index")
        copy = os.path.join(self.folder, "index")
        source = self.repo.index_file
        if os.path.exists(source):
            shutil.copy2(source, copy)
        # A split index finds its shared half in the git directory, not beside the copy.
        return copy

    def __exit__(self, *_: object) -> None:
        remove_folder(self.folder)
