"""The null agent: one that changes nothing, says nothing, and uses no tool.

A case that it passes can't tell an agent that works from one that does nothing. Some cases
legitimately ask for just that (`no_changes`): a proof stands behind those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from guard import model
from guard.model import Case
from guard.proofs.graders import Graders
from guard.results import Observation
from guard.trials.grading import Grade
from guard.trials.kept import Left

#: What it leaves behind: all that a target may tell of it, and nothing done.
NOTHING: Final = Observation(
    exit_status=0,
    output=None,
    tool_calls=(),
    permission_denials=(),
    cost_usd=0.0,
    tokens={},
    turns=0,
)


class Tried(NamedTuple):
    """One case, tried on the null agent."""

    case: Case
    passes: bool
    """Whether nothing that was asked rejects it."""
    reason: str = ""
    """Why it can't be told, where it can't."""


def try_null(graders: Graders, cases: Iterable[Case]) -> Iterator[Tried]:
    """Put each case's untouched workspace through its checks; no target is run."""
    for case in cases:
        stated = graders.expected(case).keys()
        unasked = stated & graders.left_out(case)
        if stated and stated == unasked:
            yield Tried(case, False, f"only {', '.join(sorted(unasked))} could tell")
            continue
        found = graders.grade(case, lambda workspace: Left(NOTHING), whole=True)
        yield _tried(case, found, tuple(sorted(unasked)))


def _tried(case: Case, found: Grade, unasked: tuple[str, ...]) -> Tried:
    if found.verdict == model.STALE:
        return Tried(case, False, found.reason)
    if found.verdict == model.ERROR:
        return Tried(case, False, f"no pass, but a check breaks on it: {found.reason}")
    if found.verdict not in (model.PASS, model.XFAIL):
        return Tried(case, False)
    if unasked:
        return Tried(case, False, f"only {', '.join(unasked)} could tell")
    return Tried(case, True)
