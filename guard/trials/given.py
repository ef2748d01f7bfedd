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
from guard.tree import GITLINK, Tree
from guard.trials.template import Piece, make_template, text_piece


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
    entries, wanted = tree.entries(), bytes_of(source.rstrip("/"))
    found = [name for name in entries if name == wanted or name.startswith(wanted + b"/")]
    if not found:
        raise UsageError(
            f"{case.path}: given: the fixture {source} is not in the tree", f"git add {source}"
        )
    files = [name for name in found if entries[name].mode != GITLINK]
    scratch = make_folder("scratch")
    try:
        template = make_template(tree, files, b"", os.path.join(scratch, "files"), sys.maxsize)
    finally:
        remove_folder(scratch)
    for name, piece in template.pieces.items():
        yield piece._replace(path=path + name[len(wanted) :])
