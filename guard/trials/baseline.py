"""What a baseline says of one trial: which failing keys it excuses, which of its keys passed.

A group names known failures, ``failing_keys``, and the facts under which they are known,
``only_when``. Its condition holds where every one of these facts is equal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, cast

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
    excusable = {key for group in stated if holds(group, facts) for key in keys_of(group)}
    excusable -= {*NEVER_EXCUSED, *never}
    return Excuse(tuple(key for key in dict.fromkeys(failing) if key in excusable))


def found_passing(
    groups: Iterable[Group], scores: Iterable[tuple[str, float]], facts: Mapping[str, Any]
) -> frozenset[str]:
    """Return the keys of the groups of which the trial shows that nothing fails any longer.

    Each is steady, its condition holds, and all its keys were scored and passed. ``scores``: key
    and value; a key that was scored several times passed where all of its scores did.
    """
    values: dict[str, float] = {}
    for key, value in scores:
        values[key] = min(value, values.get(key, 1.0))
    found: set[str] = set()
    for group in groups:
        keys = keys_of(group)
        speaks = keys and not is_intermittent(group) and holds(group, facts)
        if speaks and all(values.get(key, 0.0) >= 1 for key in keys):
            found |= keys
    return frozenset(found)


def keys_of(group: Group) -> frozenset[str]:
    """Return the score keys that a group names."""
    return frozenset(map(str, group.get("failing_keys", ())))


def condition_of(group: Group) -> Mapping[str, Any]:
    """Return the facts under which a group holds."""
    condition: Mapping[str, Any] = group.get("only_when") or {}
    return condition


def is_intermittent(group: Group) -> bool:
    """Tell whether a group's keys fail now and then, so that passing says nothing."""
    return bool(group.get("intermittent"))


def holds(group: Group, facts: Mapping[str, Any]) -> bool:
    """Tell whether all facts of a group are equal, as JSON values."""
    return all(name in facts and same(facts[name], v) for name, v in condition_of(group).items())


def same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are equal, all the way down: 1 is 1.0, and true is not 1."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        first, second = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        items = cast("list[Any]", one), cast("list[Any]", other)
        return len(items[0]) == len(items[1]) and all(map(same, *items))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
