"""Whether the graph that ran is the one that its files make: nothing of it was put in its place.

Runs in the agent's own Python. A module's functions and classes must be those of its file, the
graph's nodes what they were when it was loaded, and none of them a double's or a mock.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from guard_langgraph.runner_loading import RefusedError

_DOUBLE = "<storage double "
Held = Mapping[tuple[str, str], Any]


def held_in(modules: Iterable[str]) -> dict[tuple[str, str], Any]:
    """Return what modules, and the classes in them, hold now: (module, name) → value."""
    found: dict[tuple[str, str], Any] = {}
    for name in list(modules):
        for attribute, value in list(
            vars(sys.modules[name]).items() if name in sys.modules else ()
        ):
            found[name, attribute] = value
            if isinstance(value, type) and value.__module__ == name:
                for inner, item in list(vars(value).items()):
                    found[name, f"{attribute}.{inner}"] = item
    return found


def changed(before: Held, allowed: tuple[str, str]) -> str:
    """Return what decides and isn't what it was, but for the one name that may change."""
    now = held_in({module for module, _ in before})
    for place, value in before.items():
        found = now.get(place)
        if found is value or place == allowed or isinstance(found, ModuleType):
            continue
        if _decides(value) or _decides(found):
            return ".".join(place)
    return ""


def _decides(value: Any) -> bool:
    return callable(value) or hasattr(value, "invoke") or hasattr(value, "nodes")


class Seal:
    """What the graph was made of when it had been loaded."""

    def __init__(
        self, module: ModuleType, attribute: str, allowed: Iterable[tuple[str, str]]
    ) -> None:
        """``allowed``: module and name of what doubles replace."""
        self._module = module
        self._attribute = attribute
        self._named = getattr(module, attribute)
        self._allowed = set(allowed)

    def look_at(self, graph: Any) -> Callable[[], None]:
        """Check what a graph is made of; return what checks that it is still the same."""
        parts = dict(parts_of(graph))
        for name, part in parts.items():
            if said := _foreign(part):
                raise RefusedError(f"a stand-in graph is refused: {name} is {said}")

        def check() -> None:
            if getattr(self._module, self._attribute, None) is not self._named:
                raise RefusedError(f"a stand-in graph is refused: {self._attribute} was replaced")
            now = dict(parts_of(graph))
            different = [n for n in parts.keys() | now.keys() if parts.get(n) is not now.get(n)]
            if different:
                raise RefusedError(f"a stand-in graph is refused: {min(different)} was replaced")

        return check

    def check_modules(self, names: Iterable[str]) -> None:
        """Check that the functions and classes of modules are those of their files."""
        for name in names:
            module = sys.modules.get(name)
            if module is not None and (said := _not_of_its_file(module, self._allowed)):
                raise RefusedError(f"a stand-in graph is refused: {name}.{said}")


def parts_of(graph: Any, outer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the name and the function of each node and each branch, those of inner graphs too."""
    for name, node in getattr(graph, "nodes", {}).items():
        if name.startswith("__"):
            continue
        bound = getattr(node, "bound", node)
        called = f"node {outer}{name}"
        yield called, _function_of(bound)
        if hasattr(bound, "nodes") and hasattr(bound, "channels"):
            yield from parts_of(bound, f"{outer}{name}/")
    builder = getattr(graph, "builder", None)
    for source, branches in getattr(builder, "branches", {}).items():
        for name, branch in branches.items():
            yield f"branch {outer}{source} {name}", _function_of(branch.path)


def _function_of(runnable: Any) -> Any:
    """Return the function inside of what LangGraph wraps it in."""
    for _ in range(8):
        inner = next(
            (
                found
                for name in ("func", "afunc", "__wrapped__", "__func__")
                if (found := getattr(runnable, name, None)) is not None
            ),
            None,
        )
        if inner is None:
            break
        runnable = inner
    return runnable


def _foreign(value: Any) -> str:
    """Say that a value is a double's or a mock; empty where it is neither."""
    kind: Any = value if isinstance(value, type) else type(value)
    if kind is functools.partial:
        return _foreign(getattr(value, "func", None))
    if kind.__module__ == "unittest.mock":
        return "a mock"
    code = getattr(value, "__code__", None)
    if code is not None and code.co_filename.startswith(_DOUBLE):
        return f"of the {code.co_filename[1:-1]}"
    if kind.__module__.startswith("guard_double_"):
        return "of a storage double"
    return ""


def _not_of_its_file(module: ModuleType, allowed: set[tuple[str, str]]) -> str:
    """Return a name of a module that isn't what its file makes of it, in words."""
    names = {name for place, name in allowed if place == module.__name__}
    for name, value in vars(module).items():
        if name not in names and (said := _foreign(value)) and not _is_taken(name, value, allowed):
            return f"{name} is {said}"
    for name, line, body in _defined_in(getattr(module, "__file__", None)):
        if name in names or name not in vars(module):
            continue
        value = vars(module)[name]
        if body is None:
            if not _is_of(value, module, line):
                return f"{name} isn't what its file defines"
        elif isinstance(value, type):
            for method, at in body:
                found = vars(value).get(method)
                if found is not None and not _is_of(found, module, at):
                    return f"{name}.{method} isn't what its file defines"
        else:
            return f"{name} isn't what its file defines"
    return ""


def _is_taken(name: str, value: Any, allowed: set[tuple[str, str]]) -> bool:
    """Tell whether a module took a stand-in, or what it made, from where it rightly stands."""
    for place, attribute in allowed:
        stand_in = getattr(sys.modules.get(place), attribute, None)
        if value is stand_in or (isinstance(stand_in, type) and isinstance(value, stand_in)):
            return True
    return not callable(value) and not hasattr(value, "invoke")


def _is_of(value: Any, module: ModuleType, line: int) -> bool:
    if not isinstance(value, FunctionType):
        return False
    return value.__code__.co_filename == module.__file__ and value.__code__.co_firstlineno == line


@functools.lru_cache(maxsize=512)
def _defined_in(file: str | None) -> list[tuple[str, int, list[tuple[str, int]] | None]]:
    """Return name, line and methods of what stands undecorated at the top of a file, once."""
    if not file:
        return []
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return []
    bound = [name for node in ast.walk(tree) for name in _assigned(node)]
    top = [node for node in tree.body if isinstance(node, _DEFINITIONS)]
    bound += [node.name for node in top]
    found: list[tuple[str, int, list[tuple[str, int]] | None]] = []
    for node in top:
        if bound.count(node.name) > 1:
            continue
        if not isinstance(node, ast.ClassDef):
            found += [] if node.decorator_list else [(node.name, node.lineno, None)]
        else:
            methods = [
                m for m in node.body if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef))
            ]
            names = [method.name for method in methods]
            once = [m for m in methods if names.count(m.name) == 1 and not m.decorator_list]
            found.append((node.name, node.lineno, [(m.name, m.lineno) for m in once]))
    return found


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _assigned(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds, where it is no definition."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, ast.Global):
        yield from node.names
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
