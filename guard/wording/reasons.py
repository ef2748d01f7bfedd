"""Why trials ended as they did, equal reasons grouped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from guard.model import FAIL, PASS
from guard.results import TrialResult

#: Characters of a reason that are shown on one line.
SHOWN: Final = 200


class Group(NamedTuple):
    """Trials that ended for the same reason."""

    reason: str
    numbers: tuple[int, ...]
    """The trials' numbers, in order."""


def trial_reason(trial: TrialResult) -> str:
    """Say on one line why the trial did not pass: the failing keys first."""
    failing = [score for score in trial.scores if score.value < 1]
    if trial.verdict != FAIL or not failing:
        return one_line(trial.reason or ", ".join(trial.failing))
    unexcused = [score for score in failing if score.key not in trial.excused] or failing
    told = [f"{s.key}: {s.reason}" if s.reason else s.key for s in unexcused]
    unscored = [key for key in trial.failing if key not in {score.key for score in failing}]
    return one_line("; ".join([*told, *unscored]))


def group_reasons(trials: Iterable[TrialResult]) -> list[Group]:
    """Group the trials that did not pass by verdict and reason, the most frequent first."""
    found: dict[tuple[str, str], list[int]] = {}
    for trial in trials:
        if trial.verdict != PASS:
            key = (trial.verdict, trial_reason(trial) or trial.verdict)
            found.setdefault(key, []).append(trial.number)
    groups = [Group(reason, tuple(numbers)) for (_, reason), numbers in found.items()]
    return sorted(groups, key=lambda group: -len(group.numbers))


def one_line(text: str, limit: int = SHOWN) -> str:
    """Fold white space and cut what is too long for a line."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else folded[: limit - 1].rstrip() + "…"
