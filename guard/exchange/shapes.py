"""Whether JSON has the shape of a named tuple, by the annotations of its fields."""

from __future__ import annotations

import math
import types
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from guard.schema import is_list, is_mapping

#: Lists and objects inside one another; nothing of ours comes near.
DEEPEST = 64


def misfit(value: Any, wanted: Any, where: str) -> str:
    """Return which part of a value isn't what is wanted; nothing where all of it is."""
    origin = get_origin(wanted)
    if wanted is Any:
        return _odd(value, where, 0)
    if origin in (Union, types.UnionType):
        found = [misfit(value, one, where) for one in get_args(wanted)]
        return "" if "" in found else found[0]
    if origin is tuple:
        return _misfit_in_list(value, get_args(wanted)[0], where)
    if origin is Mapping:
        return _misfit_in_object(value, get_args(wanted)[1], where)
    if hasattr(wanted, "_fields"):
        return _misfit_in_tuple(value, wanted, where)
    return "" if _is_a(value, wanted) else f"{where} is no {_name(wanted)}"


def _misfit_in_list(value: Any, wanted: Any, where: str) -> str:
    if not is_list(value):
        return f"{where} is no list"
    items = enumerate(value)
    return next(filter(None, (misfit(item, wanted, f"{where}.{n}") for n, item in items)), "")


def _misfit_in_object(value: Any, wanted: Any, where: str) -> str:
    if not is_mapping(value):
        return f"{where} is no object"
    items = value.items()
    return next(filter(None, (misfit(item, wanted, f"{where}.{k}") for k, item in items)), "")


def _misfit_in_tuple(value: Any, wanted: Any, where: str) -> str:
    """Fields of other versions are left out when it is read, so that they may be anything."""
    if not is_mapping(value):
        return f"{where} is no object"
    for name, hint in _hints(wanted).items():
        if name in value:
            found = misfit(value[name], hint, f"{where}.{name}")
        else:
            found = "" if name in wanted._field_defaults else f"{where} has no {name}"
        if found:
            return found
    return ""


@lru_cache
def _hints(wanted: Any) -> dict[str, Any]:
    return get_type_hints(wanted)


def _is_a(value: Any, wanted: Any) -> bool:
    if wanted is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and _finite(value)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, wanted)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _odd(value: Any, where: str, depth: int) -> str:
    """Return what no JSON of ours holds: a number that is none, or a nesting without end."""
    if depth > DEEPEST:
        return f"{where} is nested too deep"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{where} is no number"
    items: Iterable[Any] = value.values() if is_mapping(value) else ()
    if is_list(value):
        items = value
    return next(filter(None, (_odd(item, where, depth + 1) for item in items)), "")


def _name(wanted: Any) -> str:
    names = {str: "text", int: "integer", float: "number", bool: "boolean", type(None): "null"}
    return names.get(wanted, str(wanted))
