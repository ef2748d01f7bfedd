"""What is told of one trial: its outputs, how it ended, what it was made by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from guard.plugin import CaseResult, TrialResult

#: Verdicts of a trial that was graded: any other one is told as an error.
GRADED: Final = ("PASS", "FAIL", "XFAIL")
#: Characters of a reply that are uploaded; all of it was graded.
LONGEST: Final = 1 << 20


class Trial(NamedTuple):
    """One trial, or a case that got none, as it is uploaded."""

    case: str
    result: TrialResult
    outputs: Mapping[str, Any]
    error: str
    metadata: Mapping[str, Any]


def trials_of(result: CaseResult) -> Sequence[Trial]:
    """Return the trials of a case; one that says why where there is none.

    Nothing where kept evidence answered it, and the trials behind that are gone.
    """
    if result.trials:
        return [_trial(result, trial) for trial in result.trials]
    if result.reused:
        return []
    return [_trial(result, TrialResult(result.case, 1, result.verdict, reason=result.reason))]


def _trial(result: CaseResult, trial: TrialResult) -> Trial:
    error = "" if trial.verdict in GRADED else f"{trial.verdict}: {trial.reason}".rstrip(": ")
    return Trial(result.case, trial, _outputs(trial), error, _metadata(result, trial))


def _outputs(trial: TrialResult) -> dict[str, Any]:
    seen = trial.observation
    found: dict[str, Any] = {}
    if seen.reply:
        found["reply"] = seen.reply[:LONGEST]
    if seen.output is not None:
        found["output"] = seen.output
    if seen.facts:
        found["facts"] = seen.facts
    if seen.changes:
        found["changes"] = {change.path: change.status for change in seen.changes}
    return found


def _metadata(result: CaseResult, trial: TrialResult) -> dict[str, Any]:
    seen = trial.observation
    found = {
        "case": result.case,
        "agent": result.agent,
        "trial": trial.number,
        "verdict": trial.verdict,
        "reason": trial.reason,
        "case_verdict": result.verdict,
        "excused": trial.excused,
        "model": seen.model,
        "program": seen.program,
        "cost_usd": trial.cost_usd,
        "tokens": seen.tokens,
        "reused": result.reused,
    }
    return {name: value for name, value in found.items() if value not in (None, "", ())}
