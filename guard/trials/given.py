"""The files that a case lays into its workspace first: texts, and fixtures of the tree."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, cast

from guard.errors import UsageError
from guard.git import bytes_of
from guard.leftovers import make_folder, remove_folder
from guard.model import Case
from guard.tree import GITLINK, Entry, Tree
from guard.trials.template import Piece, make_template, text_piece


def check_given(case: Case, tree: Tree) -> None:
    """Raise `UsageError` where a fixture that a case lays is not in the tree."""
    for content in case.given.values():
        if isinstance(content, Mapping):
            _named(case, tree, str(cast("Mapping[str, Any]", content)["from"]))


def given_pieces(case: Case, tree: Tree) -> Iterator[Piece]:
    """Yield a case's ``given`` files.

    Raises `UsageError` where a fixture is not in the tree, `UnreadableError` where it can't be had.
    """
    for path, content in case.given.items():
        if isinstance(content, Mapping):
            source = cast("Mapping[str, Any]", content)["from"]
            yield from _fixture(case, tree, bytes_of(path), str(source))
        else:
            yield text_piece(bytes_of(path), str(content))


def _fixture(case: Case, tree: Tree, path: bytes, source: str) -> Iterator[Piece]:
    """Yield a file of the tree, or all files below a folder of it."""
    found = _named(case, tree, source)
    files = [name for name, entry in found.items() if entry.mode != GITLINK]
    scratch = make_folder("scratch")
    try:
        template = make_template(tree, files, b"", os.path.join(scratch, "files"), sys.maxsize)
    finally:
        remove_folder(scratch)
    for name, piece in template.pieces.items():
        yield piece._replace(path=path + name[len(bytes_of(source.rstrip("/"))) :])


def _named(case: Case, tree: Tree, source: str) -> Mapping[bytes, Entry]:
    """Return the entries of a fixture: a file, or all below a folder. Raises `UsageError`."""
    wanted = bytes_of(source.rstrip("/"))
    below = wanted + b"/"
    found = {p: e for p, e in tree.entries().items() if p == wanted or p.startswith(below)}
    if not found:
        raise UsageError(
            f"{case.path}: given: the fixture {source} is not in the tree", f"git add {source}"
        )
    return found
