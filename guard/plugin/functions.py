"""Plain Python functions as evaluators: ``evals/checks.py:exact``.

A function takes ``(observation, expected)``, or by name any of ``inputs``, ``outputs`` and
``reference_outputs``; it returns true or false, a number from 0 to 1, a `Score`, a mapping
``{key, score, comment}``, a list of those, or None for no score.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, NamedTuple, TypeGuard

from guard.errors import PluginError
from guard.evaluators.reasons import bounded
from guard.plugin.api import Evaluator, Expectations
from guard.plugin.exits import keep_guard_running
from guard.results import Observation, Score

Function = Callable[..., Any]

_DATA_NAMES = ("inputs", "outputs", "reference_outputs")
_FORMS = "(observation, expected) or (inputs, outputs, reference_outputs)"


class _Plain(NamedTuple):
    """A function that was found, and what is needed to speak about it."""

    function: Function
    label: str
    key: str
    """The score key of a result that names none."""
    data_names: tuple[str, ...] | None
    """Which of inputs, outputs and reference_outputs it takes; None for the other form."""


def load_functions(source: str, path: str, name: str) -> Evaluator:
    """Return the function ``name`` of a file's text as an evaluator. Raises PluginError."""
    return load_function(_load_module(source, path), path, name)


def load_function(module: ModuleType, path: str, name: str) -> Evaluator:
    """Return the function ``name`` of an imported file as an evaluator. Raises PluginError."""
    label = f"{path}:{name}"
    function = _find_function(module, label, name)
    mark: Mapping[str, tuple[str, ...]] = getattr(function, "guard_evaluator", {})
    reads, writes = mark.get("reads", ()), mark.get("writes", ())
    plain = _Plain(
        function, label, writes[0] if len(writes) == 1 else name, _data_names(function, label)
    )

    def evaluate(observation: Observation, expectations: Expectations) -> Iterable[Score]:
        if reads and not expectations.states(reads):
            return ()
        return _read_result(plain, _call(plain, observation, expectations))

    return Evaluator(
        name=label,
        evaluate=evaluate,
        reads=reads,
        writes=writes,
        declared=bool(mark),
        never_excuse=mark.get("never_excuse", ()),
        source=label,
    )


def _load_module(source: str, path: str) -> ModuleType:
    digest = hashlib.sha256(f"{path}\0{source}".encode("utf-8", "surrogateescape")).hexdigest()
    name = f"guard_functions_{digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module  # before it runs: NamedTuple and dataclasses look it up
    keep_guard_running()
    try:
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:  # a user's file may raise anything
        del sys.modules[name]
        raise PluginError(
            f"{path}: can't be loaded: {type(error).__name__}: {bounded(str(error))}",
            f"python3 {path} shows where; `evaluators` in guard.yaml names it",
        ) from error
    return module


def _find_function(module: ModuleType, label: str, name: str) -> Function:
    found = getattr(module, name, None)
    if inspect.isfunction(found) and not inspect.iscoroutinefunction(found):
        return found
    if found is None:
        from guard.schema import nearest

        functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise PluginError(f"{label}: the file has no `{name}`{nearest(name, functions)}")
    kind = "an async function" if callable(found) else f"a {type(found).__name__}"
    raise PluginError(f"{label}: must be a plain function, not {kind}")


def _data_names(function: Function, label: str) -> tuple[str, ...] | None:
    signature = inspect.signature(function)
    names = tuple(name for name in _DATA_NAMES if name in signature.parameters)
    try:
        signature.bind(**dict.fromkeys(names)) if names else signature.bind(None, None)
    except TypeError as error:
        raise PluginError(f"{label}: takes {signature}; it must take {_FORMS}") from error
    return names or None


def _call(plain: _Plain, observation: Observation, expectations: Expectations) -> Any:
    if plain.data_names is None:
        return plain.function(observation, expectations)
    output = observation.output
    values: dict[str, Any] = {
        "inputs": expectations.inputs,
        "outputs": {"output": observation.reply} if output is None else output,
        "reference_outputs": expectations,
    }
    return plain.function(**{name: values[name] for name in plain.data_names})


def _read_result(plain: _Plain, result: Any) -> tuple[Score, ...]:
    items: list[Any] = [*result] if isinstance(result, list) else [result]
    scores = tuple(_read_score(plain, item) for item in items if item is not None)
    keys = [score.key for score in scores]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise PluginError(f"{plain.label}: returned the key `{twice}` twice in one list")
    return scores


def _read_score(plain: _Plain, item: Any) -> Score:
    if isinstance(item, Score):
        return Score(item.key, _read_number(plain, item.value), bounded(item.reason))
    if not _is_mapping(item):
        return Score(plain.key, _read_number(plain, item))
    if "score" not in item:
        raise PluginError(f"{plain.label}: returned a mapping without `score`: {[*item]}")
    key, comment = item.get("key", plain.key), item.get("comment") or ""
    if not isinstance(key, str) or not isinstance(comment, str):
        raise PluginError(f"{plain.label}: returned a mapping whose key or comment isn't text")
    return Score(key, _read_number(plain, item["score"]), bounded(comment))


def _read_number(plain: _Plain, value: Any) -> float:
    if not isinstance(value, (bool, int, float)):
        raise PluginError(
            f"{plain.label}: returned {type(value).__name__}; it must return true or false, "
            "a number from 0 to 1, {key, score, comment}, a list of those, or None"
        )
    if not 0 <= value <= 1:
        raise PluginError(f"{plain.label}: returned {value}; a score is a number from 0 to 1")
    return float(value)


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)
