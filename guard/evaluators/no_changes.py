"""`no_changes`: the workspace is the same before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guard.evaluators.reasons import counted, some
from guard.evaluators.shapes import only_true
from guard.evaluators.single import evaluator_of
from guard.results import FileChange, Observation

_WORDS = {"A": "added", "D": "removed", "T": "type or mode"}


def summarise_changes(changes: Sequence[FileChange]) -> str:
    """Return git's own summary line, then the first paths."""
    parts = [f"{counted(len(changes), 'file')} changed"]
    for number, noun, sign in (
        (sum(change.insertions for change in changes), "insertion", "+"),
        (sum(change.deletions for change in changes), "deletion", "-"),
    ):
        if number:
            parts.append(f"{counted(number, noun)}({sign})")
    return f"{', '.join(parts)}: {some([name_change(change) for change in changes])}"


def name_change(change: FileChange) -> str:
    """Return the path, and what happened to it where that isn't an edit."""
    word = _WORDS.get(change.status)
    return f"{change.path} ({word})" if word else change.path


def find_changes(observation: Observation, wanted: Any) -> list[str]:
    changes = observation.changes
    return [f"files changed: {summarise_changes(changes)}"] if changes else []


EVALUATORS = (
    evaluator_of(
        "no_changes",
        find_changes,
        only_true("leave it out, or say which paths may change with `changes_only`"),
        "no file changed",
    ),
)
