"""JSON values: strict equality and RFC 6901 pointers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

_ESCAPE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"0|[1-9][0-9]*", re.ASCII)


def equal_json(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same: 1 is 1.0 but not true; NaN equals nothing."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if is_mapping(left) and is_mapping(right):
        return left.keys() == right.keys() and all(equal_json(left[k], right[k]) for k in left)
    if is_array(left) and is_array(right):
        return len(left) == len(right) and all(map(equal_json, left, right))
    if left is None or isinstance(left, str):
        return bool(left == right)
    return False


def covers(actual: Any, wanted: Any) -> bool:
    """Tell whether all that is wanted stands in ``actual``; mappings may hold more."""
    if not is_mapping(wanted):
        return equal_json(actual, wanted)
    return is_mapping(actual) and all(
        key in actual and covers(actual[key], value) for key, value in wanted.items()
    )


def is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Tell whether the value is a JSON object."""
    return isinstance(value, Mapping)


def is_array(value: Any) -> TypeGuard[Sequence[Any]]:
    """Tell whether the value is a JSON array."""
    return isinstance(value, (list, tuple))


def find_value(document: Any, pointer: str) -> Any:
    """Return what an RFC 6901 pointer names. Raises LookupError where there is nothing."""
    found = document
    for token in pointer.split("/")[1:]:
        found = _step(found, token.replace("~1", "/").replace("~0", "~"))
    return found


def _step(value: Any, token: str) -> Any:
    if is_mapping(value):
        return value[token]
    # By length first: Python refuses to read a number of thousands of digits.
    if is_array(value) and _INDEX.fullmatch(token) and len(token) <= len(str(len(value))):
        return value[int(token)]
    raise LookupError(token)


def is_pointer(text: str) -> bool:
    """Tell whether the text is a pointer: empty, or ``/`` before each part, ``~0`` and ``~1``."""
    return text == "" or (text.startswith("/") and not _ESCAPE.search(text))
