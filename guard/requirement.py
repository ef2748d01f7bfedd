"""Version ranges of ``requires``: a comma-separated list such as ``>=0.1,<2``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|>|<|~=)?\s*([0-9]+(?:\.[0-9]+)*)\s*\Z")
_OPERATORS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.ge,
}


def satisfies(version: str, wanted: str) -> bool | None:
    """Return whether ``version`` lies in the range; None where the range isn't one.

    `packaging` would cost a hook a third of its start for what is one comparison.
    """
    for clause in wanted.split(","):
        match = _CLAUSE.match(clause)
        if not match:
            return None
        sign, bound = match[1] or "", _numbers(match[2])
        if sign == "~=":
            if len(bound) == 1:
                return None
            *kept, last = bound[:-1]
            if not _padded(bound) <= _padded(_numbers(version)) < _padded((*kept, last + 1)):
                return False
        elif not _OPERATORS[sign](_padded(_numbers(version)), _padded(bound)):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version))


def _padded(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (*numbers, *(0,) * (6 - len(numbers)))[:6]
