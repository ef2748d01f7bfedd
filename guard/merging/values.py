"""Three versions of a JSON value become one, or a conflict that keeps all three."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple, TypeGuard

#: Keys of a record whose parts mean something only together.
WHOLE: Final = ("before", "proof", "retirement")


class Missing(Enum):
    """What stands in the place of a value."""

    ABSENT = "absent"
    UNKNOWN = "unknown"
    """Of a base that is itself an unsettled merge: equal to nothing, so no side is unchanged."""


class Conflict(NamedTuple):
    """One key with two values; each may be `Missing.ABSENT`."""

    ours: Any
    base: Any
    theirs: Any


#: Called with the path of what is merged, the merged mapping, and all three versions.
Settle = Callable[[tuple[str, ...], dict[str, Any], Conflict], None]


def merge_values(versions: Conflict, path: tuple[str, ...], settle: Settle) -> Any:
    """Return the merged value: ours or theirs, a mapping of merged keys, or the conflict."""
    ours, base, theirs = versions
    if is_same(ours, theirs):
        return _of_two_orders(versions)
    if is_same(base, ours):
        return theirs
    if is_same(base, theirs):
        return ours
    if is_mapping(ours) and is_mapping(theirs) and path[-1:] not in [(key,) for key in WHOLE]:
        return _merge_mappings(versions, path, settle)
    return versions


def _of_two_orders(versions: Conflict) -> Any:
    """Return one of two equal values: with the order of keys that a side chose, whichever side."""
    ours, base, theirs = versions
    if isinstance(ours, Missing):
        return ours
    known, left, right = (json.dumps(version, default=repr) for version in (base, ours, theirs))
    if known in (left, right):
        return theirs if known == left else ours
    return min((left, ours), (right, theirs), key=lambda one: one[0])[1]


def _merge_mappings(versions: Conflict, path: tuple[str, ...], settle: Settle) -> dict[str, Any]:
    merged = {
        key: value
        for key in merged_order(versions)
        if (value := merge_values(_at(versions, key), (*path, key), settle)) is not Missing.ABSENT
    }
    settle(path, merged, versions)
    return merged


def _at(versions: Conflict, key: str) -> Conflict:
    return Conflict(*(value_at(version, key) for version in versions))


def value_at(version: Any, key: str) -> Any:
    """Return a key's value; below what is unknown nothing is known either."""
    if version is Missing.UNKNOWN:
        return version
    return version.get(key, Missing.ABSENT) if is_mapping(version) else Missing.ABSENT


def merged_order(versions: Conflict) -> list[str]:
    """Return all keys in the order of the side that chose one; sorted where both did."""
    ours, base, theirs = ([*version] if is_mapping(version) else [] for version in versions)
    every = list(dict.fromkeys((*base, *sorted({*ours, *theirs}))))
    chosen = ours if ours == theirs or base == theirs else theirs if base == ours else every
    return list(dict.fromkeys((*chosen, *every)))


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Tell whether a value has keys."""
    return isinstance(value, dict)


def is_same(one: Any, other: Any) -> bool:
    """Compare as JSON does: 1 is not true, and the order of keys means nothing."""
    if Missing.UNKNOWN in (one, other):
        return False
    if isinstance(one, Missing) or isinstance(other, Missing):
        return one is other
    return _written(one) == _written(other)


def _written(value: Any) -> str:
    # What is unknown inside a base is written as nothing in a file can be.
    return json.dumps(value, sort_keys=True, default=lambda unknown: {"\0": repr(unknown)})


def unsettled(one: Any, other: Any) -> Any:
    """Return both sides of an unsettled merge as one base, unknown where they differ."""
    if is_same(one, other):
        return one
    if is_mapping(one) and is_mapping(other):
        keys = dict.fromkeys((*one, *other))
        return {key: unsettled(value_at(one, key), value_at(other, key)) for key in keys}
    return Missing.UNKNOWN


def conflicts_in(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each conflict."""
    if isinstance(value, Conflict):
        yield path
    elif is_mapping(value):
        for key, inner in value.items():
            yield from conflicts_in(inner, (*path, key))


def differ(versions: Iterable[Any], keys: Iterable[str]) -> bool:
    """Tell whether versions differ in any of the keys."""
    first, *others = ({key: value_at(version, key) for key in keys} for version in versions)
    return any(not is_same(first[key], other[key]) for other in others for key in first)
