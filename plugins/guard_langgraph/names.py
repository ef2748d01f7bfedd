"""The names that a Python module binds, told from its text: nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def names_of(source: bytes) -> frozenset[str] | None:
    """Return the names at the top of a module, None where its text alone can't tell them.

    It may be written for a newer Python, import everything of another, or answer by itself.
    """
    try:
        found = frozenset(_bound_in(ast.parse(source).body))
    except (SyntaxError, ValueError, RecursionError):
        return None
    return None if found.intersection(("*", "__getattr__")) or b"globals()" in source else found


def _bound_in(body: Iterable[ast.AST]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                yield node.id
        else:
            # A branch, a loop or a target: whatever is bound inside is bound here.
            yield from _bound_in(ast.iter_child_nodes(node))
