"""The loop that keeps the slots filled: trials on threads, results on the main thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from guard.model import TrialResult
from guard.running.budget import Budget
from guard.running.series import Series
from guard.trials.stopping import stop_everything, stopped_by_signals
from guard.trials.trial import run_trial


class Loop:
    """Runs series of trials, ``jobs`` trials at once."""

    def __init__(
        self,
        series: Sequence[Series],
        jobs: int,
        budget: Budget,
        may_start: Callable[[Series], bool],
        record: Callable[[Loop, Series, TrialResult], None],
        on_finished: Callable[[Series], None],
    ) -> None:
        self.jobs = jobs
        self.budget = budget
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
                    done, _ = wait(self._pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._take(self._pending.pop(future), future.result())
            except BaseException:
                # Leaving the pool waits for its threads: end what they wait for.
                for future in self._pending:
                    future.cancel()
                stop_everything()
                raise

    def stop(self, all_but: Series) -> None:
        """Start no further trial of any series but one."""
        for other in (*self._waiting, *self._active):
            if other is not all_but:
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
            # The one with the fewest trials first, so that the sides of a proof take turns.
            return min(wanting, key=lambda series: series.started)
        while self._waiting:
            following = self._waiting.popleft()
            if self.budget.ended() or not self._may_start(following):
                following.owe()
            elif following.wants(slots):
                self._active.append(following)
                self._join_other_side(following)
                return following
            else:
                self._on_finished(following)
        return None

    def _join_other_side(self, before: Series) -> None:
        """Let both sides of a proof run in turn: a model that drifts is then no fix."""
        if before.side != "before" or not self._waiting or self._waiting[0].side != "after":
            return
        after = self._waiting.popleft()
        if self._may_start(after):
            self._active.append(after)
        else:
            after.owe()

    def _take(self, series: Series, result: TrialResult) -> None:
        series.add(result)
        self._record(self, series, result)
        if not series.running and not series.wants(1):
            self._active.remove(series)
            self._on_finished(series)
