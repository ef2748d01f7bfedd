"""Reasons that a person can read: one line, printable, of bounded length."""

from __future__ import annotations

import json
from typing import Any

from guard.output import printable

#: Characters of a score's reason; reports show it on one line.
REASON_LIMIT = 300
QUOTE_LIMIT = 80


def bounded(text: str, limit: int = REASON_LIMIT) -> str:
    """Return the text on one line, printable, cut to ``limit`` characters."""
    # Cut first: an escape makes text longer, never shorter, and a stream may be very long.
    line = "".join(map(_shown, text[: limit + 1]))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    escaped = printable(character)  # as the rest of the report shows it
    return escaped if escaped.isprintable() else character.encode("unicode_escape").decode("ascii")


def quoted(text: str) -> str:
    """Return the text in quotes, cut."""
    return f'"{bounded(text, QUOTE_LIMIT)}"'


def quoted_end(text: str) -> str:
    """Return the end of the text in quotes."""
    end = text.rstrip()
    return quoted(end if len(end) <= QUOTE_LIMIT else "…" + end[1 - QUOTE_LIMIT :])


def shown(value: Any) -> str:
    """Return a JSON value as a person would write it, cut."""
    return bounded(json.dumps(value, ensure_ascii=False, default=repr, skipkeys=True), QUOTE_LIMIT)


def counted(number: int, noun: str) -> str:
    """Return ``1 file`` or ``2 files``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def some(names: list[str], limit: int = 5) -> str:
    """Return the first names, and how many there are beside them."""
    rest = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {rest} more" if rest > 0 else "")
