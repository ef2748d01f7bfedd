"""Dates as receipts have them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def ago(text: str) -> str:
    """Return the date so many hours or days ago; ``-1h`` lies ahead."""
    unit = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}[text[-1]]
    return (datetime.now(UTC) - int(text[:-1]) * unit).isoformat(timespec="seconds")
