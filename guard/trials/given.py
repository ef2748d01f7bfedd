"""The files that a case lays into its workspace first: texts, and fixtures of the tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from guard.errors import UsageError
from guard.git import bytes_of
from guard.model import Case
from guard.tree import EXECUTABLE, GITLINK, Tree
from guard.trials.template import Piece, text_piece


def given_pieces(case: Case, tree: Tree) -> Iterator[Piece]:
    """Yield a case's ``given`` files. Raises `UsageError` where a fixture is not in the tree."""
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
    for name in found:
        if entries[name].mode != GITLINK:
            # Not through the repository's one reader: trials come from several threads.
            data = tree.repo.out("cat-file", "blob", entries[name].oid)
            piece = text_piece(path + name[len(wanted) :], data)
            yield piece._replace(executable=entries[name].mode == EXECUTABLE)
