"""What a report writer of a plugin may declare beside what it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def probe(check: Callable[[], None]) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Declare what is tried before anything is run for a report writer.

    ``check`` raises `Skip` or `TargetError` where the report could not be delivered: nothing is
    run then, exit 3.
    """

    def mark(function: Callable[..., str]) -> Callable[..., str]:
        function.probe = check  # type: ignore[attr-defined]  # a mark, read before a run
        return function

    return mark


def probe_of(writer: Any) -> Callable[[], None] | None:
    """Return what a writer declares by `probe`."""
    return getattr(writer, "probe", None)
