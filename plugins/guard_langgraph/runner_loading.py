"""Finds the object that the deploy manifest names, and makes the graph of it that is run.

Runs in the agent's own Python. Modules of the workspace come from the workspace, whatever else is
installed; what was loaded is noted, and what each module held when its text had been run.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

#: What LangGraph itself is made of is never the workspace's.
_NOT_THE_AGENTS = ("langgraph", "langchain", "langsmith", "pydantic")


class RefusedError(Exception):
    """What would be run isn't the graph that the manifest names, or can't be; in one line."""


class Finder:
    """Finds modules in the workspace's folders before any that are installed elsewhere."""

    def __init__(self, roots: Sequence[str], workspace: str) -> None:
        self.roots = list(roots)
        self.workspace = os.path.realpath(workspace)
        self.loaded: dict[str, Mapping[str, Any]] = {}
        """Name of a module of the workspace → what it held when it had been run."""
        self.listeners: list[Callable[[ModuleType], None]] = []
        """Told of each module once it has been run, before any other can have taken from it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top.startswith(_NOT_THE_AGENTS):
            return None
        found = importlib.machinery.PathFinder.find_spec(name, self.roots if path is None else path)
        if found is None or found.loader is None or not self.is_inside(found.origin):
            return None
        loader: Any = found.loader
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            self.note(module)

        loader.exec_module = exec_module
        return found

    def is_inside(self, path: str | None) -> bool:
        """Tell whether a file is the workspace's."""
        if not path or not os.path.isabs(path):
            return False  # such as <frozen os>
        return os.path.realpath(path).startswith(self.workspace + "/")

    def note(self, module: ModuleType) -> None:
        """Note that a module was run."""
        for listen in self.listeners:
            listen(module)
        self.loaded[module.__name__] = dict(vars(module))

    def files(self) -> list[str]:
        """Return the files that were loaded, from the workspace's root."""
        named = (getattr(sys.modules.get(name), "__file__", None) for name in self.loaded)
        return sorted({os.path.realpath(file)[len(self.workspace) + 1 :] for file in named if file})

    def elsewhere(self) -> str:
        """Return a module of the workspace's that was loaded from another place, in words."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if "." in name or not file or name in sys.stdlib_module_names or self.is_inside(file):
                continue
            if name == "__main__" or name.startswith((*_NOT_THE_AGENTS, "guard_langgraph")):
                continue
            spec = importlib.machinery.PathFinder.find_spec(name, self.roots)
            if spec is not None and spec.loader is not None and self.is_inside(spec.origin):
                return f"{name} was loaded from {file}, not from the workspace"
        return ""


def add_roots(roots: Sequence[str]) -> None:
    """Put folders on the search path: behind the standard library, before what is installed."""
    installed = [
        i for i, entry in enumerate(sys.path) if os.path.basename(entry).endswith("-packages")
    ]
    at = installed[0] if installed else len(sys.path)
    sys.path[at:at] = [root for root in roots if root not in sys.path]


def load_module(finder: Finder, path: str, name: str) -> ModuleType:
    """Load the graph's module: a file as LangGraph's server does, or a module by its name."""
    if not path:
        module = importlib.import_module(name)
        place = getattr(module, "__file__", None)
        if not finder.is_inside(place):
            raise RefusedError(
                f"a stand-in graph is refused: {name} was loaded from {place}, not from the "
                "workspace"
            )
        return module
    called = "guard_graph_" + os.path.basename(path).removesuffix(".py").replace("-", "_")
    spec = importlib.util.spec_from_file_location(called, path)
    if spec is None or spec.loader is None:
        raise RefusedError(
            f"{os.path.basename(path)} is no Python file: only Python graphs can be run"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[called] = module
    spec.loader.exec_module(module)
    finder.note(module)
    return module


def part_of(module: str, name: str) -> Any:
    """Return what a module of LangGraph's or LangChain's offers: they are imported late."""
    return getattr(importlib.import_module(module), name)


def is_graph(value: Any) -> bool:
    """Tell whether a value is a compiled graph."""
    return isinstance(value, part_of("langgraph.pregel", "Pregel"))


def is_builder(value: Any) -> bool:
    """Tell whether a value is a graph that isn't compiled yet."""
    return isinstance(value, part_of("langgraph.graph", "StateGraph"))


def call_factory(factory: Callable[..., Any], config: Mapping[str, Any]) -> Any:
    """Call what makes the graph, with the run's configuration where it takes one."""
    wanted = [
        parameter
        for parameter in inspect.signature(factory).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    takes_config = "config" in inspect.signature(factory).parameters
    if len(wanted) > 1:
        raise RefusedError(f"it takes {len(wanted)} arguments, and can be given 0 or 1")
    if wanted or takes_config:
        name = wanted[0].name if wanted else "config"
        positional = wanted and wanted[0].kind is inspect.Parameter.POSITIONAL_ONLY
        return factory(config) if positional else factory(**{name: config})
    return factory()
