"""Amounts as papers print them."""

from __future__ import annotations

import re
from typing import Final

#: 1 234,50 and 1.234,50 and 1,234.50 and -1234.50: two decimals, or it is no amount.
_AMOUNT: Final = re.compile(
    r"(?<![\d.,-])-?(\d{1,3}(?:[ .,\u00a0]\d{3})*|\d+)[.,](\d{2})(?!\d|[.,]\d)"
)


def amounts_of(text: str) -> list[str]:
    """Return the amounts of a text, as printed: 14 630.00 is one, and 4 630.00 is not in it."""
    return [found[0] for found in _AMOUNT.finditer(text)]


def to_cents(printed: str) -> int:
    """Return a printed amount in cents. Raises ValueError for anything else."""
    if not _AMOUNT.fullmatch(printed):
        raise ValueError(f"{printed!r} is no amount with two decimals")
    digits = int(re.sub(r"\D", "", printed))
    return -digits if printed.startswith("-") else digits
