"""Values of a database as JSON has them, and whether two of them are the same.

Numbers are numbers where JSON holds them exactly, else their text; dates, times, UUIDs and all
other types are the text that Postgres writes for them; bytes are ``\\x`` and hexadecimal digits.
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any, TypeGuard


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell a type checker that a value is a list, if it is."""
    return isinstance(value, list)


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell a type checker that a value is a mapping, if it is."""
    return isinstance(value, dict)


def plain(value: Any) -> Any:
    """Return a value that psycopg read, as a JSON value."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(Decimal(value))
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, (bytes, bytearray)):
        return "\\x" + value.hex()
    if isinstance(value, datetime.datetime):
        return _moment(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if is_mapping(value):
        return {str(name): plain(item) for name, item in value.items()}
    if is_list(value):
        return [plain(item) for item in value]
    return str(value)


def _number(value: Decimal) -> int | float | str:
    """Return a number where JSON holds it exactly, else its text."""
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value():
        return int(value)
    near = float(value)
    return near if math.isfinite(near) and Decimal(repr(near)) == value else str(value)


def _moment(value: datetime.datetime) -> str:
    """Return a moment in UTC where it has a time zone."""
    moment = value if value.tzinfo is None else value.astimezone(datetime.UTC)
    return moment.isoformat()


def same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are equal: 1 and 1.0 are, 1 and true aren't."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(map(same, one, other))
    if is_mapping(one) and is_mapping(other):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    return bool(one == other)
