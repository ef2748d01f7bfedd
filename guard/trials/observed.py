"""Whether what a target returned is an observation: a target is anyone's code.

Told here, a wrong type is an ERROR that names the target and the field. Let through, it would
break whatever reads it later, and look like a bug of guard's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from guard.results import Observation, ToolCall

Test = Callable[[Any], bool]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return _each(value, _text)


def _calls(value: Any) -> bool:
    return _each(value, _is_call)


def _each(value: Any, fits: Test) -> bool:
    return isinstance(value, (tuple, list)) and all(map(fits, cast("list[Any]", value)))


def _is_call(value: Any) -> bool:
    if not isinstance(value, ToolCall):
        return False
    name, given, result = cast("tuple[object, object, object]", value)
    return _text(name) and isinstance(given, Mapping) and _text(result)


def _named(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_text, cast("Any", value)))


def _number(value: Any) -> bool:
    real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return real and math.isfinite(value) and value >= 0


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


#: Field → what it must be, in words and as a test. None says that the target can't tell.
_REQUIRED: Final[Mapping[str, tuple[str, Test]]] = {
    **dict.fromkeys(("reply", "stdout", "stderr"), ("text", _text)),
    "facts": ("a mapping with names", _named),
    **dict.fromkeys(("response_ids", "argv"), ("a sequence of texts", _texts)),
}
_OPTIONAL: Final[Mapping[str, tuple[str, Test]]] = {
    **dict.fromkeys(("model", "program"), ("text", _text)),
    **dict.fromkeys(("loaded", "used"), ("true or false", lambda v: isinstance(v, bool))),
    **dict.fromkeys(("exit_status", "turns"), ("a whole number", _whole)),
    "cost_usd": ("a finite number from 0 on", _number),
    "tokens": ("a mapping with names", _named),
    "permission_denials": ("a sequence of texts", _texts),
    "tool_calls": ("a sequence of ToolCall values", _calls),
}


def checked(found: object) -> Observation:
    """Return the observation. Raises TypeError with the field that is of the wrong type."""
    if not isinstance(found, Observation):
        raise TypeError(f"it returned {type(found).__name__}, not an Observation")
    for name, (wanted, fits) in {**_REQUIRED, **_OPTIONAL}.items():
        value = getattr(found, name)
        if not (fits(value) or (value is None and name in _OPTIONAL)):
            kind = type(value).__name__
            raise TypeError(f"its observation's {name} is {kind}, not {wanted}")
    return found
