"""JSON values: strict equality and RFC 6901 pointers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

_ESCAPE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"0|[1-9][0-9]*", re.ASCII)


def equal_json(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same: 1 is 1.0 but not true; NaN equals nothing."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if (one := as_mapping(left)) is not None and (two := as_mapping(right)) is not None:
        return one.keys() == two.keys() and all(equal_json(one[key], two[key]) for key in one)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        first, second = cast("list[Any]", left), cast("list[Any]", right)
        return len(first) == len(second) and all(map(equal_json, first, second))
    if left is None or isinstance(left, str):
        return bool(left == right)
    return False


def covers(actual: Any, wanted: Any) -> bool:
    """Tell whether all that is wanted stands in ``actual``; mappings may hold more."""
    if (asked := as_mapping(wanted)) is None:
        return equal_json(actual, wanted)
    found = as_mapping(actual)
    return found is not None and all(k in found and covers(found[k], v) for k, v in asked.items())


def as_mapping(value: Any) -> Mapping[Any, Any] | None:
    """Return the value where it is a mapping."""
    return cast("Mapping[Any, Any]", value) if isinstance(value, Mapping) else None


def find_value(document: Any, pointer: str) -> Any:
    """Return what an RFC 6901 pointer names. Raises LookupError where there is nothing."""
    found = document
    for token in pointer.split("/")[1:]:
        found = _step(found, token.replace("~1", "/").replace("~0", "~"))
    return found


def _step(value: Any, token: str) -> Any:
    if (mapping := as_mapping(value)) is not None:
        return mapping[token]
    if isinstance(value, (list, tuple)) and _INDEX.fullmatch(token):
        items = cast("list[Any]", value)
        # By length first: a list takes no index past the size of a machine word.
        if len(token) <= len(str(len(items))):
            return items[int(token)]
    raise LookupError(token)


def is_pointer(text: str) -> bool:
    """Tell whether the text is a pointer: empty, or ``/`` before each part, ``~0`` and ``~1``."""
    return text == "" or (text.startswith("/") and not _ESCAPE.search(text))
