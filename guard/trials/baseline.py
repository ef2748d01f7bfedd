"""Which failing keys of a trial a baseline excuses: known failures, each under its condition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from guard.model import ORPHANS_KEY, TIMEOUT_KEY

#: Written by the engine; they say nothing about what the agent was asked.
NEVER_EXCUSED = frozenset((TIMEOUT_KEY, ORPHANS_KEY))

Group = Mapping[str, Any]


class Excuse(NamedTuple):
    """What the baseline groups say about one trial."""

    excused: tuple[str, ...] = ()
    """Failing keys that a group with all its facts equal names."""
    missing_facts: tuple[str, ...] = ()
    """Facts that a group asks for and the target never set."""


def excuse(
    groups: Iterable[Group],
    failing: Collection[str],
    facts: Mapping[str, Any],
    never: Collection[str] = (),
) -> Excuse:
    """Return which failing keys are excused; ``never``: the evaluators' own exceptions."""
    stated = list(groups)
    missing = sorted({name for group in stated for name in condition_of(group)} - facts.keys())
    if missing:
        return Excuse(missing_facts=tuple(missing))
    excusable = {
        str(key) for group in stated if holds(group, facts) for key in group.get("failing_keys", ())
    }
    excusable -= {*NEVER_EXCUSED, *never}
    return Excuse(tuple(key for key in dict.fromkeys(failing) if key in excusable))


def condition_of(group: Group) -> Mapping[str, Any]:
    """Return the facts under which a group holds."""
    condition: Mapping[str, Any] = group.get("only_when") or {}
    return condition


def holds(group: Group, facts: Mapping[str, Any]) -> bool:
    """Tell whether all facts of a group are equal, as JSON values."""
    return all(name in facts and same(facts[name], v) for name, v in condition_of(group).items())


def same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are equal; true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
