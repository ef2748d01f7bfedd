"""What an auditor finds."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One entry that doesn't hold."""

    family: str
    entry: int
    reason: str
