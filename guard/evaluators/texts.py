"""What a text must and mustn't hold: literal and case-sensitive, or a regular expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guard.evaluators.reasons import quoted, quoted_end
from guard.evaluators.single import as_list
from guard.searching import found_in

#: Given the name of the text, the text and what is wanted of it: what doesn't hold.
FindInText = Callable[[str, str, Any], list[str]]


def find_missing(name: str, text: str, wanted: Any) -> list[str]:
    """Return which of the wanted texts don't stand in ``text``."""
    missing = [quoted(item) for item in as_list(wanted) if item not in text]
    return [f"{name} doesn't contain {' or '.join(missing)}; {_ending(text)}"] if missing else []


def find_unwanted(name: str, text: str, unwanted: Any) -> list[str]:
    """Return which of the unwanted texts stand in ``text``."""
    found = [quoted(item) for item in as_list(unwanted) if item in text]
    return [f"{name} contains {' and '.join(found)}"] if found else []


def find_unmatched(name: str, text: str, patterns: Any) -> list[str]:
    """Return which of the patterns are found nowhere in ``text``."""
    unmatched = [quoted(item) for item in as_list(patterns) if not found_in(text, item)]
    return [f"{name} doesn't match {' or '.join(unmatched)}; {_ending(text)}"] if unmatched else []


def _ending(text: str) -> str:
    return f"it ends in {quoted_end(text)}" if text.strip() else "it is empty"
