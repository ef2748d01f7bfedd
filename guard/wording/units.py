"""Money, time and counts in the words that reports use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from guard.output import printable

#: Names that one line lists before it only counts.
NAMED: Final = 4


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 case`` or ``2 cases``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def names(found: Sequence[str], most: int = NAMED) -> str:
    """Return the first names, printable, and how many more there are."""
    shown = ", ".join(printable(name) for name in found[:most])
    return shown if len(found) <= most else f"{shown} and {len(found) - most} more"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return ``a``, ``a and b``, ``a, b and c`` or ``a, b, c and 9 more``."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def answered_by(date: str) -> str:
    """Say of when the evidence is that answered: its day, and today also the minute.

    ``date``: UTC, as a receipt states it.
    """
    today = datetime.now(UTC).date().isoformat()
    minute = f" {date[11:16]} UTC" if date[:10] == today and len(date) > 15 else ""
    return f"answered by a receipt of {date[:10]}{minute}"


def money(usd: float) -> str:
    """Return US dollars, with as many places as are needed to tell them from nothing."""
    if 0 < usd < 0.01:
        return "less than $0.01"
    return f"${usd:.2f}" if usd < 100 else f"${usd:,.0f}"


def list_price(usd: float) -> str:
    """Return an estimate; a subscription pays otherwise."""
    return f"about {money(usd)} at list price"


def duration(seconds: float) -> str:
    """Return seconds, minutes or hours, whichever reads best."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
