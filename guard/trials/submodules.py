"""Submodules of a tree: their files, from the object stores that git keeps of them here.

A tree holds no more of a submodule than a commit's id. Its objects are in ``modules/NAME`` of
the git directory, or in the submodule's own ``.git``; where they aren't, it can't be had.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from guard.git import Repo, bytes_of, text_of
from guard.tree import GITLINK, Entry, Tree
from guard.trials.filters import Lacking

MODULES = b".gitmodules"
_PATH = re.compile(r"submodule\.(.*)\.path\n(.*)", re.DOTALL)


class WholeTree(Tree):
    """A tree with the files of submodules among its entries."""

    def __init__(self, base: Tree, entries: dict[bytes, Entry], modules: dict[bytes, str]) -> None:
        super().__init__(base.repo, base.oid)
        self._entries = entries
        self.modules = modules


class Host(NamedTuple):
    """A repository that submodules lie in."""

    tree: Tree
    git_dir: str
    work: str
    """Its files on disk; empty where there are none."""
    folder: bytes = b""
    """Where it lies in the whole tree, with a slash at its end."""


def with_submodules(tree: Tree, folder: bytes) -> tuple[Tree, list[Lacking]]:
    """Return the tree with the submodules in a folder of it (or around it), and what lacks.

    ``folder`` has a slash at its end; empty for the whole tree.
    """
    if not any(_is_near(path, folder) for path in _links(tree)):
        return tree, []
    finder = _Finder(tree, folder)
    finder.add(Host(tree, tree.repo.git_dir, tree.repo.root))
    return WholeTree(tree, finder.entries, finder.modules), finder.lacking


def _links(tree: Tree) -> Iterator[bytes]:
    return (path for path, entry in tree.entries().items() if entry.mode == GITLINK)


def _is_near(path: bytes, folder: bytes) -> bool:
    return path.startswith(folder) or folder.startswith(path + b"/")


class _Finder:
    """Collects the entries of a tree and of the submodules in it, theirs included."""

    def __init__(self, tree: Tree, folder: bytes) -> None:
        self._tree = tree
        self._folder = folder
        self.entries = dict(tree.entries())
        self.modules: dict[bytes, str] = {}
        self.lacking: list[Lacking] = []

    def add(self, host: Host) -> None:
        """Add the submodules of a repository."""
        for path in list(_links(host.tree)):
            whole = host.folder + path
            if _is_near(whole, self._folder):
                self._add_one(host, path, whole)

    def _add_one(self, host: Host, path: bytes, whole: bytes) -> None:
        commit = host.tree.entries()[path].oid
        found = _find_module(host, path, commit)
        if found is None:
            why = f"is a submodule whose commit {commit[:10]} is not here"
            hint = f"git submodule update --init --recursive {text_of(whole)}"
            self.lacking.append(Lacking(whole, why, hint))
            return
        if self._tree.on_disk and _is_dirty(found, self._tree.repo):
            why = "is a submodule with changes that are not committed there"
            self.lacking.append(Lacking(whole, why, f"git -C {text_of(whole)} commit --all"))
            return
        del self.entries[whole]
        inside = found._replace(folder=whole + b"/")
        for name, entry in found.tree.entries().items():
            self.entries[inside.folder + name] = entry
        self.modules[whole] = found.git_dir
        self.add(inside)


def _find_module(host: Host, path: bytes, commit: str) -> Host | None:
    repo = host.tree.repo
    work = os.path.join(host.work, text_of(path)) if host.work else ""
    for git_dir in dict.fromkeys(_git_dirs(host, path, work)):
        store = os.path.join(common_dir_of(git_dir), "objects")
        if not os.path.isdir(store):
            continue
        repo.read_also(store)
        found = repo.objects.read(f"{commit}^{{tree}}")
        if found is not None:
            return Host(Tree(repo, found.oid), git_dir, work)
    return None


def _git_dirs(host: Host, path: bytes, work: str) -> Iterator[str]:
    """Yield where the git directory of a submodule may be."""
    if work and (own := _linked(os.path.join(work, ".git"))):
        yield own
    common = common_dir_of(host.git_dir)
    linked = os.path.join(common, "worktrees")
    names = os.listdir(linked) if os.path.isdir(linked) else []
    for name in _names_of(host.tree, path):
        yield os.path.join(host.git_dir, "modules", name)
        yield os.path.join(common, "modules", name)
        yield from (os.path.join(linked, one, "modules", name) for one in names)


def _linked(path: str) -> str:
    """Return the git directory that a ``.git`` is or names; empty where it is none."""
    if os.path.isdir(path):
        return path
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            word, _, target = file.read().removesuffix("\n").partition("gitdir: ")
    except OSError:
        return ""
    return "" if word or not target else os.path.normpath(os.path.join(path, "..", target))


def common_dir_of(git_dir: str) -> str:
    """Return what a linked worktree's git directory shares with others; itself if it is none."""
    try:
        with open(os.path.join(git_dir, "commondir"), encoding="utf-8") as file:
            return os.path.normpath(os.path.join(git_dir, file.read().strip()))
    except OSError:
        return git_dir


def _names_of(tree: Tree, path: bytes) -> list[str]:
    """Return the names that .gitmodules gives the submodule at a path."""
    listed = tree.read(MODULES)
    if listed is None:
        return []
    call = ("config", "-z", "-f", "-", "--get-regexp", r"^submodule\..*\.path$")
    done = tree.repo.run(*call, input=listed, ok=None)
    found = [_PATH.fullmatch(text_of(item)) for item in done.out.split(b"\0")]
    return [
        match[1] for match in found if match and bytes_of(match[2]) == path and _is_inside(match[1])
    ]


def _is_inside(name: str) -> bool:
    """Tell whether a name leads nowhere else: it comes from the tree under test."""
    return not name.startswith("/") and ".." not in name.split("/")


def _is_dirty(module: Host, repo: Repo) -> bool:
    """Tell whether the files of a submodule differ from its commit."""
    if not module.work or not os.path.lexists(os.path.join(module.work, ".git")):
        return False
    env = {
        "GIT_DIR": module.git_dir,
        "GIT_WORK_TREE": module.work,
        "GIT_INDEX_FILE": os.path.join(module.git_dir, "index"),
    }
    return bool(repo.out("status", "--porcelain", "-z", "--ignore-submodules=none", env=env))
