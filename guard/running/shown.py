"""What trials show of a case's own text: expectations that nothing read, baselines on nothing.

Evaluators that are plain functions declare nothing, so it can't be told before they have run. It
is kept by the case's text and the code that grades it: a check that runs nothing knows it too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from guard.model import FAIL, PASS, TIMEOUT_KEY, UNGRADED, XFAIL, Case
from guard.results import TrialResult
from guard.trials.baseline import holds, is_intermittent, keys_of

#: Verdicts of trials in which all evaluators were asked.
_ASKED: Final = (PASS, XFAIL, UNGRADED, FAIL)


class Seen(NamedTuple):
    """What one trial tells about it."""

    verdict: str
    unread: Collection[str]
    scored: Collection[str]
    facts: Mapping[str, Any]


class Shown(NamedTuple):
    """What the trials of one case show of its text."""

    unread: tuple[str, ...] = ()
    """Expectations that no evaluator read in any trial."""
    unscored: tuple[str, ...] = ()
    """Keys of its baseline that nothing scored in any trial, though their condition held."""


def seen_in(trial: TrialResult) -> Seen:
    """Return what a trial tells."""
    scored = [score.key for score in trial.scores]
    return Seen(trial.verdict, trial.unread, scored, trial.observation.facts)


def seen_in_evidence(trial: Mapping[str, Any]) -> Seen:
    """Return what a trial tells as a receipt holds it."""
    scored = [str(score.get("key")) for score in trial.get("scores", ())]
    facts = trial.get("observation", {}).get("facts", {})
    return Seen(str(trial.get("verdict")), trial.get("unread", ()), scored, facts)


def shown_by(case: Case, trials: Iterable[Seen]) -> Shown:
    """Return what the trials of a case show; nothing where none of them can tell."""
    asked = [trial for trial in trials if was_asked(trial)]
    return Shown(_unread(asked), _unscored(case, asked))


def was_asked(trial: Seen) -> bool:
    """Tell whether all evaluators were asked about a trial."""
    return trial.verdict in _ASKED and TIMEOUT_KEY not in trial.scored


def tells_unread(trial: Seen) -> bool:
    """Tell whether a trial shows that nothing reads a key: one that fails need not read on."""
    return was_asked(trial) and trial.verdict != FAIL


def _unread(asked: Sequence[Seen]) -> tuple[str, ...]:
    if not any(map(tells_unread, asked)):
        return ()
    first, *others = (trial.unread for trial in asked)
    return tuple(key for key in first if all(key in unread for unread in others))


def _unscored(case: Case, asked: Sequence[Seen]) -> tuple[str, ...]:
    scored = {key for trial in asked for key in trial.scored}
    found: set[str] = set()
    for group in case.expected_baseline:
        # What fails now and then may be scored now and then.
        if not is_intermittent(group) and any(holds(group, trial.facts) for trial in asked):
            found |= keys_of(group) - scored
    return tuple(sorted(found))
