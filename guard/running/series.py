"""A series: the trials of one case on one tree, started as long as the outcome is open.

Outcomes are read in the order of trial numbers, never of completion: a trial that ends early
waits until all before it are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from guard.model import Case
from guard.results import TrialResult
from guard.running.gates import planned_trials
from guard.running.stages import Lease
from guard.verdict import next_trials, outcomes_of, responses_of

if TYPE_CHECKING:
    from guard.trials.stage import Stage

#: Given the trials so far, in order and without gaps: how many more to start now.
MoreTrials = Callable[[Sequence[TrialResult], int], int]


class Series:
    """Trials of one case on one stage."""

    def __init__(
        self,
        case: Case,
        stage: Stage | Lease,
        more: MoreTrials,
        key: str = "",
        *,
        side: str = "",
        first_number: int = 1,
        earlier: Mapping[str, str] = {},
    ) -> None:
        self.case = case
        self._lent = stage
        if isinstance(stage, Lease):
            stage.take()
        self.more = more
        self.key = key
        """The receipt's key, by which an interrupted run is resumed."""
        self.side = side
        """before or after, in a proof."""
        self.first_number = first_number
        self.earlier = earlier
        """Response ids that other runs of the case got: see `guard.verdict.responses_of`."""
        self.stopped = False
        """Set where a budget or --fail-fast ends it."""
        self.owed = False
        """Set where it was a budget."""
        self._started: set[int] = set()
        self._finished: dict[int, TrialResult] = {}

    @property
    def stage(self) -> Stage:
        """Where its trials run; prepared now where it isn't yet."""
        return self._lent.stage if isinstance(self._lent, Lease) else self._lent

    def end(self) -> None:
        """Need the stage no longer, unless another trial is started after all."""
        if isinstance(self._lent, Lease):
            self._lent.close()

    @property
    def started(self) -> int:
        """How many trials were started or taken over."""
        return len(self._started)

    @property
    def results(self) -> tuple[TrialResult, ...]:
        """The finished trials up to the first one that is still running."""
        found: list[TrialResult] = []
        number = self.first_number
        while number in self._finished:
            found.append(self._finished[number])
            number += 1
        return tuple(found)

    @property
    def running(self) -> int:
        """How many trials are under way."""
        return self.started - len(self._finished)

    def wants(self, slots: int) -> int:
        """Return how many trials to start now, at most ``slots``."""
        if self.stopped or slots <= 0:
            return 0
        results = self.results
        # Also those that ended before an earlier one: they are paid for already.
        ahead = self.started - len(results)
        return max(0, min(slots, self.more(results, slots + ahead) - ahead))

    def owe(self) -> None:
        """Start no further trial: a budget has ended."""
        self.stopped = self.owed = True
        if not self.running:
            self.end()

    def start(self) -> int:
        """Take the number of the next trial: the lowest that is free."""
        number = self.first_number
        while number in self._started:
            number += 1
        self._started.add(number)
        return number

    def take_over(self, results: Sequence[TrialResult]) -> None:
        """Take trials of an earlier run; what was in flight then leaves its number free."""
        for result in results:
            if result.number >= self.first_number:
                self._started.add(result.number)
                self._finished[result.number] = result

    def repeated(self) -> Series:
        """Return a fresh series of the same trials; its numbers go on where these end."""
        following = max(self._started, default=self.first_number - 1) + 1
        return Series(
            self.case,
            self._lent,
            self.more,
            self.key,
            side=self.side,
            first_number=following,
            earlier={**responses_of(self.results), **self.earlier},
        )

    def add(self, result: TrialResult) -> None:
        """Take a finished trial."""
        self._finished[result.number] = result


def by_policy(case: Case, *, deterministic: bool) -> MoreTrials:
    """Return the rule of a case's own policy.

    A trial that can't be graded ends the series: the case's verdict is then known.
    """

    def more(results: Sequence[TrialResult], jobs: int) -> int:
        outcomes = outcomes_of(results)
        if len(outcomes) < len(results):
            return 0
        return next_trials(case.policy, outcomes, deterministic=deterministic, jobs=jobs)

    return more


def most_trials(case: Case, *, deterministic: bool) -> int:
    """Return how many trials the case may take at most."""
    return planned_trials(case.policy, deterministic=deterministic)
