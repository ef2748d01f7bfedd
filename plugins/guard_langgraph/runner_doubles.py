"""Puts stand-ins for storage where the agent reaches them, and in no other place.

Runs in the agent's own Python. A double may replace the one attribute that it names, of a module of
the workspace. What is the graph, a part of it, or a model may not be replaced: a decision that a
stand-in takes would be graded as the agent's.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import inspect
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, cast

from guard_langgraph.runner_loading import Finder, RefusedError, part_of
from guard_langgraph.runner_seal import changed, held_in
from guard_langgraph.runner_values import UnwritableError, is_list, kind_of, to_json

#: What only a model answers to; no storage does.
_OF_MODELS = ("bind_tools", "with_structured_output", "invoke", "ainvoke", "generate_content")
_OF_CLIENTS = (("messages", "create"), ("chat", "completions"), ("responses", "create"))


class Double:
    """One stand-in, in this process."""

    def __init__(self, stated: Mapping[str, str], finder: Finder) -> None:
        self.name = stated["name"]
        self.file = f"<storage double {self.name}>"
        self.replaces = stated["replaces"]
        self.module, _, self.attribute = self.replaces.partition(":")
        self.original: Any = None
        self.stand_in: Any = None
        self.made: list[Any] = []
        self.refused = ""
        """What it did, or is, that no stand-in may; agents may catch what is raised."""
        self._finder = finder
        self._text = stated["text"]
        self._factory = stated["factory"]
        self._own: ModuleType | None = None
        self._place: ModuleType | None = None

    def listen(self) -> None:
        """Hear of the module of what it names: another double may be the first to import it."""
        if not (self.attribute.isidentifier() and self.module):
            self._refuse(f"`replaces` must be module:attribute, not {self.replaces!r}")
        self._finder.listeners.append(self._hear)

    def install(self) -> None:
        """Run its text, and take the place of what it names once that is there."""
        own = ModuleType("guard_double_" + self.name.replace("-", "_"))
        own.__file__ = self.file
        sys.modules[own.__name__] = own
        before = held_in(self._finder.loaded)
        exec(compile(self._text, self.file, "exec", dont_inherit=True), vars(own))
        self._own = own
        self._check_unchanged({**self._finder_held(), **before})
        if self._place is not None:
            self._replace()

    def _finder_held(self) -> dict[tuple[str, str], Any]:
        return {
            (name, attribute): value
            for name, held in self._finder.loaded.items()
            for attribute, value in held.items()
        }

    def _hear(self, module: ModuleType) -> None:
        """Hear that a module was run: it may be the one whose attribute is replaced."""
        wanted = module.__name__ == self.module
        if not wanted and module.__name__.startswith("guard_graph_"):
            wanted = getattr(module, "__file__", None) == self._file_of_module()
        if wanted:
            self._place = module
            if self._own is not None:
                self._replace()

    def _file_of_module(self) -> str | None:
        """Return the file of the module that is named, without importing anything."""
        found, paths = None, self._finder.roots
        parts = self.module.split(".")
        for depth in range(1, len(parts) + 1):
            found = importlib.machinery.PathFinder.find_spec(".".join(parts[:depth]), paths)
            if found is None:
                return None
            paths = list(found.submodule_search_locations or ())
        return found.origin if found else None

    def _replace(self) -> None:
        assert self._place is not None
        if not hasattr(self._place, self.attribute):
            self._refuse(f"there is no {self.attribute} in {self.module}")
        if self.original is None:
            self.original = getattr(self._place, self.attribute)
            if said := model_in(self.original):
                self._refuse(f"{self.replaces} is {said}: only storage may be replaced")
            self.stand_in = self._made_to_note()
        setattr(self._place, self.attribute, self.stand_in)

    @property
    def place(self) -> tuple[str, str]:
        """The module, by the name that it was loaded by, and the name in it that is replaced."""
        return (self._place.__name__ if self._place else self.module, self.attribute)

    def confirm(self) -> None:
        """Check that it is where it belongs, and that nobody took the real one before."""
        if self._place is None:
            try:
                importlib.import_module(self.module)
            except ImportError as error:
                self._refuse(f"{self.module} can't be imported: {error}")
        if self._place is None:
            self._refuse(
                f"{self.module} is no module of the workspace: a double stands behind the "
                "agent's own interface"
            )
        for name in self._finder.loaded:
            module = sys.modules.get(name)
            if module in (None, self._place) or name == getattr(self.original, "__module__", None):
                continue
            for attribute, value in vars(module).items():
                if value is self.original and not isinstance(value, (int, str, type(None))):
                    self._refuse(
                        f"{name}.{attribute} is the real {self.replaces} still: replace it "
                        "where it is taken from"
                    )

    def check_apart(self, parts: Mapping[str, Any]) -> None:
        """Check that what it replaces is no part of the graph: ``parts`` has their names."""
        for name, part in parts.items():
            if part is self.original or part is self.stand_in:
                self._refuse(f"a stand-in graph is refused: {self.replaces} is {name} of the graph")

    def check(self) -> None:
        """Raise what was to be refused, where the agent caught it."""
        if self.refused:
            raise RefusedError(self.refused)

    def facts(self) -> dict[str, Any]:
        """Return what it tells of what was stored: name.key → JSON value."""
        found: dict[str, Any] = {"opened": len(self.made)}
        for source in (self._own, *{id(one): one for one in self.made}.values()):
            tell = getattr(source, "facts", None)
            if callable(tell) and not isinstance(source, type):
                _join(found, cast("Mapping[str, Any]", tell()))
            recorded = getattr(source, "recorded", None)
            if is_list(recorded):
                _join(found, {"recorded": list(recorded)})
        try:
            return {f"{self.name}.{key}": to_json(value, f"/{key}") for key, value in found.items()}
        except UnwritableError as error:
            raise RefusedError(
                f"double {self.name}: what it tells can't be written: {error}"
            ) from None

    def _made_to_note(self) -> Any:
        """Return the factory, made to note what it makes, and to make nothing that thinks."""
        factory: Any = getattr(self._own, self._factory, None)
        if not callable(factory):
            self._refuse(f"its text has no {self._factory} to call")
        if said := model_in(factory):
            self._refuse(f"its {self._factory} is {said}: only storage may be replaced")
        if not isinstance(factory, type):
            return functools.wraps(factory)(self._noting(factory))
        kind: Any = factory
        build = kind.__init__

        def __init__(made: Any, *args: Any, **named: Any) -> None:  # noqa: N807
            self._noting(lambda: build(made, *args, **named), made)()

        kept = {"__init__": __init__, "__module__": kind.__module__}
        return type(kind.__name__, (kind,), {**kept, "__qualname__": kind.__qualname__})

    def _noting(self, make: Callable[..., Any], instance: Any = None) -> Callable[..., Any]:
        def made(*args: Any, **named: Any) -> Any:
            before = held_in(self._finder.loaded)
            found = make(*args, **named)
            kept = found if instance is None else instance
            self.made.append(kept)
            if said := model_in(kept) or _plain(kept):
                self._refuse(f"it makes {said}: only storage may be replaced")
            self._check_unchanged(before)
            return found

        return made

    def _check_unchanged(self, before: Mapping[tuple[str, str], Any]) -> None:
        if said := changed(before, self.place):
            self._refuse(
                f"a stand-in graph is refused: it changed {said}, and may change nothing but "
                f"{self.replaces}"
            )

    def _refuse(self, said: str) -> None:
        self.refused = f"double {self.name}: {said}"
        raise RefusedError(self.refused)


def model_in(value: Any) -> str:
    """Say that a value is a model, a graph or another thing that decides; else nothing."""
    kind: Any = value if isinstance(value, type) else type(value)
    runs = part_of("langchain_core.runnables", "Runnable")
    if issubclass(kind, (runs, part_of("langgraph.graph", "StateGraph"))):
        return f"a {kind.__name__}, which decides"
    if _returns_a_model(value):
        return "a factory of models"
    if inspect.isfunction(value) or isinstance(value, ModuleType):
        return ""
    if found := next((name for name in _OF_MODELS if hasattr(value, name)), ""):
        return f"a model (it has `{found}`)"
    for outer, inner in _OF_CLIENTS:
        if not isinstance(value, type) and hasattr(getattr(value, outer, None), inner):
            return f"a model's client (it has `{outer}.{inner}`)"
    return ""


def _plain(value: Any) -> str:
    """Say that a value is an answer, and nothing that stores: a stand-in would have decided it."""
    answers = isinstance(value, (bool, int, float, str))
    return f"an answer ({kind_of(value).__name__})" if answers else ""


def _returns_a_model(value: Any) -> bool:
    if not inspect.isfunction(value):
        return False
    if value.__module__.partition(".")[0] in ("langchain", "langchain_core"):
        return True
    said = value.__annotations__.get("return", "")
    named = said if isinstance(said, str) else getattr(said, "__name__", str(said))
    return any(word in named for word in ("ChatModel", "LanguageModel", "Runnable", "LLM", "ChatA"))


def _join(found: dict[str, Any], told: Mapping[str, Any]) -> None:
    """Add what one instance tells: numbers are summed up, lists joined."""
    for key, value in told.items():
        known: Any = found.get(key)
        if _is_number(known) and _is_number(value):
            found[key] = known + value
        elif is_list(known) and is_list(value):
            found[key] = [*known, *value]
        else:
            found[key] = value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
