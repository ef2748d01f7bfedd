"""Whether the trials of a receipt can have been: graded, counted and dated as they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from guard.exchange.files import NotAReceipt
from guard.model import ORPHANS_KEY, TIMEOUT_KEY, Case
from guard.plugin.api import Evaluator
from guard.results import Observation, Score, TrialResult
from guard.trials.grading import Grade, failing_keys, grade_scores
from guard.verdict import GRADED

#: How far the clocks of two machines may be apart.
CLOCKS: Final = timedelta(minutes=5)
#: The last trial of a receipt is run just before it is made; others wait for their turn meanwhile.
LAST: Final = timedelta(days=7)
#: Where a stopped run went on: the first.
FIRST: Final = timedelta(days=366)


class Known(NamedTuple):
    """A case of the tree under test, and what grades it there."""

    case: Case
    expected: Mapping[str, Any]
    """Its own expectations and those that its agent always has."""
    evaluators: tuple[Evaluator, ...]


def check_grades(trials: Sequence[TrialResult], known: Known | None) -> None:
    """Raise `NotAReceipt` where a trial's verdict isn't what its scores come to.

    ``known``: the case, where it is one of the tree under test; else a trial is asked only to
    agree with itself.
    """
    for trial in trials:
        if trial.verdict not in GRADED:
            continue
        if any(not 0 <= score.value <= 1 for score in trial.scores):
            raise NotAReceipt(f"trial {trial.number} has a score that is not from 0 to 1")
        found = _graded_anew(trial, known)
        if found.verdict != trial.verdict:
            why = f" ({found.reason})" if found.reason else ""
            shown = f"and what it holds shows {found.verdict}{why}"
            raise NotAReceipt(f"trial {trial.number} says {trial.verdict}, {shown}")
        if (found.failing, found.excused) != (trial.failing, trial.excused):
            raise NotAReceipt(f"trial {trial.number} names other failing keys than its scores")


def _graded_anew(trial: TrialResult, known: Known | None) -> Grade:
    scores = list(trial.scores)
    if trial.orphan_pids and not {ORPHANS_KEY, TIMEOUT_KEY} & set(failing_keys(scores)):
        said = "it left processes running"
        scores.append(Score(ORPHANS_KEY, 0.0, said))
    case, expected, evaluators = known or _by_itself(trial)
    return grade_scores(case, expected, trial.observation, scores, evaluators)


def _by_itself(trial: TrialResult) -> Known:
    """Return a case that expects what was scored, and excuses what the trial says it did."""
    excused = ({"failing_keys": trial.excused},) if trial.excused else ()
    case = Case(trial.case, "", "", expected_baseline=excused)
    stated = {score.key for score in trial.scores} - {ORPHANS_KEY}
    return Known(case, dict.fromkeys(stated), ())


def check_names(trials: Sequence[TrialResult]) -> None:
    """Raise `NotAReceipt` for trials without a name, or one name for two."""
    names = [trial.trial_id for trial in trials]
    if not all(names):
        raise NotAReceipt("it holds a trial without an id")
    if len(set(names)) != len(names):
        raise NotAReceipt("it holds one trial several times")


def check_dates(trials: Sequence[TrialResult], made: datetime) -> None:
    """Raise `NotAReceipt` for trials that can't have been run when a receipt was made of them."""
    started = [_read_date(trial) for trial in trials]
    if max(started) - made > CLOCKS:
        raise NotAReceipt(f"it is dated {made.isoformat()}, before its trials were started")
    if made - max(started) > LAST or made - min(started) > FIRST:
        raise NotAReceipt(f"it is dated {made.isoformat()}, long after its trials were run")


def _read_date(trial: TrialResult) -> datetime:
    try:
        found = datetime.fromisoformat(trial.started)
    except ValueError as error:
        raise NotAReceipt(f"trial {trial.number} has no date") from error
    if found.tzinfo is None:
        raise NotAReceipt(f"trial {trial.number} has a date of no zone")
    return found


def check_counts(trials: Sequence[TrialResult]) -> None:
    """Raise `NotAReceipt` for a number below zero where something was counted or measured."""
    for trial in trials:
        for name, number in _counted(trial.observation):
            if number < 0:
                raise NotAReceipt(f"trial {trial.number} has {name} below zero")
        if any(kept.size < 0 for kept in trial.files):
            raise NotAReceipt(f"trial {trial.number} has a file of a size below zero")
        if any(pid < 1 for pid in trial.orphan_pids):
            raise NotAReceipt(f"trial {trial.number} has a process of no number")


def _counted(seen: Observation) -> Iterator[tuple[str, float]]:
    yield "seconds", seen.seconds
    yield "a cost", seen.cost_usd or 0
    yield "turns", seen.turns or 0
    for number in (seen.tokens or {}).values():
        yield "tokens", number
    for change in seen.changes:
        yield "changed lines", min(change.insertions, change.deletions)
