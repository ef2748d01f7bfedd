"""How much time and money a run may take: what won't fit is not started, and is owed."""

from __future__ import annotations

import time

#: A target that costs nothing and was never timed is tried: it will be known next time.
UNKNOWN_FREE_SECONDS = 1.0


class Budget:
    """What is left of ``max_seconds`` and ``max_cost`` (None: no limit)."""

    def __init__(self, max_seconds: float | None = None, max_cost: float | None = None) -> None:
        self.max_seconds = max_seconds
        self.max_cost = max_cost
        self.spent = 0.0
        self._start = time.monotonic()

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.max_seconds is not None or self.max_cost is not None

    @property
    def seconds_left(self) -> float:
        """Seconds until the time budget ends."""
        if self.max_seconds is None:
            return float("inf")
        return self.max_seconds - (time.monotonic() - self._start)

    @property
    def cost_left(self) -> float:
        """Dollars until the money ends."""
        return float("inf") if self.max_cost is None else self.max_cost - self.spent

    def ended(self) -> bool:
        """Tell whether nothing more may be started."""
        return self.seconds_left <= 0 or self.cost_left < 0

    def fits(self, seconds: float | None, cost: float | None, *, paid: bool) -> bool:
        """Tell whether work of this estimate may be started; unknown and paid may not."""
        if not self.limited:
            return True
        if paid and (seconds is None or (cost is None and self.max_cost is not None)):
            return False
        needed = UNKNOWN_FREE_SECONDS if seconds is None else seconds
        return needed <= self.seconds_left and (cost or 0.0) <= self.cost_left

    def spend(self, cost: float | None) -> None:
        """Take what a trial cost."""
        self.spent += cost or 0.0
