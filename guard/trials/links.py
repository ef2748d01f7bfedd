"""Symbolic links of an agent that lead out of its workspace: a trial finds nothing there, or
files of this machine that no commit holds."""

from __future__ import annotations

from collections.abc import Sequence

from guard.git import text_of
from guard.globs import Matcher
from guard.tree import SYMLINK, Tree
from guard.trials.filters import Lacking


def leading_out(tree: Tree, paths: Sequence[bytes], prefix: bytes, own: Matcher) -> list[Lacking]:
    """Return the agent's own links among the paths that leave the folder ``prefix``.

    They are read, and never followed.
    """
    entries = tree.entries()
    links = [path for path in paths if entries[path].mode == SYMLINK and own(path)]
    targets = tree.read_many(links)
    return [
        Lacking(path, f"is a symbolic link to {text_of(targets[path])}, outside its workspace")
        for path in links
        if not _stays(path[len(prefix) :], targets[path])
    ]


def _stays(inside: bytes, target: bytes) -> bool:
    """Tell whether a link, at a path inside the workspace, leads nowhere above it on its way.

    In a trial the workspace has another name: out of it and back in leads nowhere.
    """
    depth = inside.count(b"/")
    for part in target.split(b"/"):
        depth += {b"..": -1, b".": 0, b"": 0}.get(part, 1)
        if depth < 0:
            return False
    return not target.startswith(b"/")
