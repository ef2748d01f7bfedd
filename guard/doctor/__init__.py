"""What guard needs, checked one by one: the machine, the repository, its hooks."""

from __future__ import annotations

from typing import NamedTuple

from guard.output import BROKEN, HOLDS, LOOK, UNKNOWN


class Finding(NamedTuple):
    """What one check found."""

    mark: str
    """One of the four marks of `guard.output`."""
    text: str
    hint: str = ""
    """The command that mends it."""


def holds(text: str) -> Finding:
    """Return a finding of something that is as it should be."""
    return Finding(HOLDS, text)


def broken(text: str, hint: str = "") -> Finding:
    """Return a finding of something that has to be mended."""
    return Finding(BROKEN, text, hint)


def unknown(text: str, hint: str = "") -> Finding:
    """Return a finding of something that can't be told, or tested, here."""
    return Finding(UNKNOWN, text, hint)


def look(text: str, hint: str = "") -> Finding:
    """Return a finding that its reader should know of, and that breaks nothing."""
    return Finding(LOOK, text, hint)
