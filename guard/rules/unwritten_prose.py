"""Cases whose prose is still what ``guard new-case`` wrote: named, and no rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from guard.errors import ConfigError
from guard.model import Case
from guard.rules.commit import JudgedCommit

#: The first sentence that `guard new-case` writes.
TO_REPLACE: Final = (
    "What happened, and what should have happened instead, "
    "in words for the person who reviews this."
)


def named(commit: JudgedCommit) -> list[str]:
    """Return a note for each such case among the files of a commit."""
    try:
        return notes_of(commit.new_cases.values())
    except ConfigError:  # said by whoever needs the cases
        return []


def notes_of(cases: Iterable[Case]) -> list[str]:
    """Return a note for each case whose first words were never replaced."""
    found = [case for case in cases if " ".join(case.body.split()).startswith(TO_REPLACE)]
    return [
        f"{case.path} doesn't say what happened: its prose is what guard new-case wrote"
        for case in found
    ]
