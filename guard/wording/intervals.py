"""What so many trials show, as an interval, a p-value and a sentence.

Wilson's interval is shown, never the normal approximation, and never used as a gate: peeking at
it after each trial errs three times as often as it says.
"""

from __future__ import annotations

import math
from typing import Final

from guard.results import Side

CONFIDENCE: Final = 0.95


def wilson(passed: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the two-sided Wilson interval of the true pass rate; (0, 1) without trials."""
    if trials <= 0:
        return 0.0, 1.0
    from statistics import NormalDist  # late: it loads decimal and random

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, spread = passed / trials, z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    reach = z / (1 + spread) * math.sqrt(rate * (1 - rate) / trials + spread / (4 * trials))
    low = 0.0 if passed == 0 else max(0.0, centre - reach)
    high = 1.0 if passed == trials else min(1.0, centre + reach)
    return low, high


def one_sided_p(before: Side, after: Side) -> float:
    """Return Fisher's exact chance of a difference this large if the fix changed nothing."""
    trials, passed = before.trials + after.trials, before.passed + after.passed
    tail = sum(
        math.comb(after.trials, k) * math.comb(before.trials, passed - k)
        for k in range(after.passed, min(after.trials, passed) + 1)
        if passed - k <= before.trials
    )
    return tail / math.comb(trials, passed)


def straight_passes_for(rate: float, confidence: float = CONFIDENCE) -> int:
    """Return how many passes without a failure show a true rate of at least ``rate``."""
    return math.ceil(math.log(1 - confidence) / math.log(rate) - 1e-9)


def describe_rate(passed: int, trials: int) -> str:
    """Say in one sentence which true rates the trials are compatible with."""
    if trials == 0:
        return "no trial was graded: this shows nothing"
    low, high = wilson(passed, trials)
    # Rounded outwards, so that the sentence never claims more than the interval does.
    least, most = math.floor(100 * low + 1e-9), math.ceil(100 * high - 1e-9)
    if passed == trials:
        return f"{passed} of {trials} shows a true rate of at least {least} % (95 %)"
    if passed == 0:
        return f"0 of {trials} shows a true rate of at most {most} % (95 %)"
    return f"{passed} of {trials} shows a true rate between {least} and {most} % (95 %)"


def describe_limit(passed: int, trials: int) -> str:
    """Say what so many trials can't show, and what would; empty where nothing is to be said."""
    if passed < trials or trials == 0:
        return ""
    for rate in (0.9, 0.99):
        needed = straight_passes_for(rate)
        if trials < needed:
            return f"it can't show {rate:.0%}: that takes {needed} straight passes".replace(
                "%", " %"
            )
    return ""
