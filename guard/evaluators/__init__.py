"""The built-in evaluators: which expectation key stands in which file.

A hook validates keys by this table alone; a file is imported when its key is used.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from guard.plugin.api import Evaluator

#: Expectation key → the file that reads it, in the order in which they are run. A checker of
#: `command` may write into the workspace, so it comes after all that look at files.
_MODULES: Final[dict[str, str]] = {
    "no_changes": "no_changes",
    "changes_only": "changes_only",
    "files": "files",
    "artifacts": "artifacts",
    "exit_code": "exit_code",
    "stdout_contains": "streams",
    "stdout_excludes": "streams",
    "stderr_contains": "streams",
    "reply_contains": "reply",
    "reply_excludes": "reply",
    "reply_matches": "reply",
    "fields": "fields",
    "min_accuracy": "fields",
    "ratio_gates": "fields",
    "output": "output",
    "tools_used": "tools",
    "tools_not_used": "tools",
    "no_permission_denials": "limits",
    "max_cost_usd": "limits",
    "max_seconds": "limits",
    "max_turns": "limits",
    "command": "command",
    # Costs money: a checker that breaks comes before it.
    "judge": "judge",
}


def declared_keys() -> dict[str, str]:
    """Return expectation key → name of the file in this folder that reads it."""
    return dict(_MODULES)


def is_built_in(key: str) -> bool:
    """Tell whether `check_expectation` is the one to ask about the key."""
    return key in _MODULES


def score_keys(key: str) -> tuple[str, ...]:
    """Return the score keys that a stated expectation may write; none for an unknown key."""
    if _MODULES.get(key) == "fields":
        return ("fields", "fields_floor")
    return (key,) if key in _MODULES else ()


def check_expectation(key: str, value: Any) -> str | None:
    """Return what is wrong with an expectation, in one sentence, or None."""
    if key not in _MODULES:
        from guard.schema import nearest

        return f"unknown key{nearest(key, _MODULES)}"
    return next(e.check(key, value) for e in _evaluators_in(_MODULES[key]) if key in e.reads)


@cache
def built_in_evaluators() -> tuple[Evaluator, ...]:
    """Return all built-in evaluators, in the order in which they are run."""
    files = dict.fromkeys(_MODULES.values())
    return tuple(evaluator for name in files for evaluator in _evaluators_in(name))


def _evaluators_in(name: str) -> tuple[Evaluator, ...]:
    found: tuple[Evaluator, ...] = import_module(f"{__name__}.{name}").EVALUATORS
    return found
