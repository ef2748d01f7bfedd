"""The tree under test, taken from the index, the working tree or a revision.

``write-tree`` on a private copy of the index, into a scratch object store: the user's index,
objects and files are never written, and a lock on the index is nobody's concern.
"""

from __future__ import annotations

import os
import re
import shutil

from guard.change import conflicting
from guard.errors import UnreadableError, UsageError
from guard.git import Completed, Repo, bytes_of, said_by_git
from guard.leftovers import make_folder, remove_folder
from guard.tree import Tree

SETTINGS = (
    # A split index would be written with its shared half into the user's git directory.
    *("-c", "core.splitIndex=false", "-c", "core.fsmonitor=false"),
    # What lies outside a sparse checkout and is there all the same is in the working tree.
    *("-c", "core.sparseCheckout=false", "-c", "index.sparse=false"),
    *("-c", "advice.addEmbeddedRepo=false", "-c", "core.safecrlf=false"),
    # A post-index-change hook is the user's, and about the user's own index.
    *("-c", f"core.hooksPath={os.devnull}"),
)
_CONFLICT = re.compile(rb"^(.+): unmerged \([0-9a-f]+\)$", re.MULTILINE)


class WorkTree(Tree):
    """The working tree as a tree: its submodules may hold more on disk than it names."""

    on_disk = True


def index_tree(repo: Repo) -> Tree:
    """Return the tree of the index that git gave the hook, or of the repository's own."""
    with _PrivateIndex(repo) as index:
        return Tree(repo, _written(repo, index))


def worktree_tree(repo: Repo) -> Tree:
    """Return the tree of the files on disk: tracked and untracked, not ignored."""
    if not repo.root:
        raise UsageError("a bare repository has no working tree", "guard run --at REV")
    with _PrivateIndex(repo) as index:
        env = {"GIT_INDEX_FILE": index}
        _look_at_all(repo, env)
        # A copied index keeps git's stat data, so only changed files are hashed again.
        added = repo.run(*SETTINGS, "add", "--all", env=env, ok=None)
        if added.code:
            raise UnreadableError(f"the working tree can't be read: {_said(added, index)}")
        return WorkTree(repo, _written(repo, index))


def revision_tree(repo: Repo, rev: str) -> Tree:
    """Return the tree of a commit, tag or tree. Raises `UsageError` where there is none."""
    oid = repo.tree_of(rev)
    if oid is None:
        raise UsageError(f"{rev} names no commit or tree here", "git log --oneline -5")
    return Tree(repo, oid)


def head_tree(repo: Repo) -> Tree:
    """Return the tree of HEAD; the empty one before the first commit."""
    return Tree(repo, repo.tree_of("HEAD") or repo.empty_tree)


def _look_at_all(repo: Repo, env: dict[str, str]) -> None:
    """Have git look at files that it was told not to look at, where they are there.

    Else an edit of one that is ``assume-unchanged`` would be tested as it was before.
    """
    listed = repo.run(*SETTINGS, "ls-files", "-v", "-z", env=env, ok=None).out.split(b"\0")
    root = bytes_of(repo.root)
    for flag, option in ((bytes.islower, "--no-assume-unchanged"), (_skips, "--no-skip-worktree")):
        flagged = [line[2:] for line in listed if flag(line[:1])]
        names = [path + b"\0" for path in flagged if os.path.lexists(os.path.join(root, path))]
        if names:
            call = ("update-index", option, "-z", "--stdin")
            repo.run(*SETTINGS, *call, input=b"".join(names), env=env)


def _skips(tag: bytes) -> bool:
    return tag in b"Ss" and tag != b""


def _written(repo: Repo, index: str) -> str:
    # An object that is missing is missed where it is needed, and named there.
    call = ("write-tree", "--missing-ok")
    done = repo.run(*SETTINGS, *call, env={"GIT_INDEX_FILE": index}, ok=None)
    if not done.code:
        return done.out.decode().strip()
    conflict = _CONFLICT.search(done.err)
    if conflict:
        raise conflicting(conflict[1])
    raise UnreadableError(f"the index can't be read: {_said(done, index)}")


def _said(done: Completed, index: str) -> str:
    """Return git's reason: where it only says that it gives up, what it said of a file."""
    said = said_by_git(done.err)
    if said == "adding files failed":
        said = said_by_git(done.err.replace(b"fatal: ", b""))
    return said.replace(f"{index}: ", "")


class _PrivateIndex:
    """A copy of the index in a folder of its own."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.folder = ""

    def __enter__(self) -> str:
        self.repo.use_scratch()
        self.folder = make_folder("index")
        copy = os.path.join(self.folder, "index")
        try:
            shutil.copy2(self.repo.index_file, copy)
        except FileNotFoundError:
            pass  # nothing was ever staged
        except OSError as error:
            self.__exit__()
            raise UnreadableError(f"the index can't be read: {error.strerror}") from error
        # A split index finds its shared half in the git directory, not beside the copy.
        return copy

    def __exit__(self, *_: object) -> None:
        remove_folder(self.folder)
