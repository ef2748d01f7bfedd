"""The loop that keeps the slots filled: trials on threads, results on the main thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from guard.model import FAIL
from guard.results import TrialResult
from guard.running.budget import Budget
from guard.running.series import Series
from guard.trials.stopping import LOOK_SECONDS, stop_everything, stopped_by_signals
from guard.trials.trial import run_trial


class Loop:
    """Runs series of trials, ``jobs`` trials at once."""

    def __init__(
        self,
        series: Sequence[Series],
        jobs: int,
        budget: Budget,
        may_start: Callable[[Series], bool],
        record: Callable[[Series, TrialResult], None],
        on_finished: Callable[[Series], None],
        *,
        fail_fast: bool = False,
    ) -> None:
        self.jobs = jobs
        self.budget = budget
        self.fail_fast = fail_fast
        self._may_start = may_start
        self._record = record
        self._on_finished = on_finished
        self._waiting = deque(series)
        self._active: list[Series] = []
        self._pending: dict[Future[TrialResult], Series] = {}

    def run(self) -> None:
        """Run until no series wants another trial."""
        with stopped_by_signals(), ThreadPoolExecutor(self.jobs, "trial") as pool:
            try:
                while self._fill(pool):
                    done, _ = wait(self._pending, LOOK_SECONDS, FIRST_COMPLETED)
                    taken = [(self._pending.pop(future), future.result()) for future in done]
                    finished = [series for series, result in taken if self._ends(series, result)]
                    # The slot works on while its last result is written down.
                    self._fill(pool)
                    for series, result in taken:
                        self._record(series, result)
                    for series in finished:
                        self._finish(series)
            except BaseException:
                # Leaving the pool waits for its threads: end what they wait for.
                for future in self._pending:
                    future.cancel()
                stop_everything()
                raise

    def _stop_others(self, series: Series) -> None:
        for other in (*self._waiting, *self._active):
            if other is not series:
                other.stopped = True
        self._waiting.clear()

    def _fill(self, pool: ThreadPoolExecutor) -> bool:
        """Start trials while there are slots; return whether any is under way."""
        while len(self._pending) < self.jobs and (following := self._next()) is not None:
            if self.budget.ended():
                following.owe()
                continue
            number = following.start()
            future = pool.submit(run_trial, following.stage, following.case, number)
            self._pending[future] = following
        return bool(self._pending)

    def _next(self) -> Series | None:
        slots = self.jobs - len(self._pending)
        wanting = [series for series in self._active if series.wants(slots)]
        if wanting:
            return min(wanting, key=_turn)
        while self._waiting:
            following = self._waiting.popleft()
            if self.budget.ended() or not self._may_start(following):
                following.owe()
            elif following.wants(slots):
                self._active.append(following)
                self._join_other_side(following)
                return following
            else:
                self._finish(following)
        return None

    def _finish(self, series: Series) -> None:
        self._on_finished(series)
        series.end()

    def _join_other_side(self, before: Series) -> None:
        """Let both sides of a proof run in turn: a model that drifts is then no fix."""
        if before.side != "before" or not self._waiting or self._waiting[0].side != "after":
            return
        after = self._waiting.popleft()
        if self._may_start(after):
            self._active.append(after)
        else:
            after.owe()

    def _ends(self, series: Series, result: TrialResult) -> bool:
        """Give a series its trial; tell whether it was the last one."""
        series.add(result)
        self.budget.spend(result.cost_usd)
        if self.fail_fast and result.verdict == FAIL:
            self._stop_others(series)
        if series.running or series.wants(1):
            return False
        self._active.remove(series)
        return True


def _turn(series: Series) -> tuple[int, bool]:
    """Order by the fewest trials, so that the sides of a proof take turns.

    Which side goes first changes from round to round, and never in a fixed rhythm (the Thue-Morse
    sequence): what fails every other time would else fail on one side alone.
    """
    after_first = series.started.bit_count() % 2 == 1
    return series.started, after_first == (series.side != "after")
