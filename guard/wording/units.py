"""Money, time and counts in the words that reports use."""

from __future__ import annotations


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 case`` or ``2 cases``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


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
