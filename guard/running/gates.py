"""When enough trials have been run: the sequential gates, fixed trials, and their limits.

A gate reads outcomes in the order of trial numbers and stops at the first row whose passes or
failures are reached. The integer tables come from exact dynamic programming (a truncated sequential
probability ratio test, searched so that its exact errors stay within the stated ones); the rows
elided there were filled by the same search, which leaves one table only. Nothing here reads
anything but booleans, so that the same trials always give the same verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from guard.errors import UsageError
from guard.model import Policy

Decision = Literal["PASS", "FAIL", "INCONCLUSIVE"]

DEFAULT_GATE: Final = "standard"
#: Runs of a target declared deterministic that must agree, where no policy is stated.
AGREEING_TRIALS: Final = 2
#: Fails-before: this many straight outcomes settle it at once, later this many in all.
STRAIGHT: Final = 3
FIRST_TO: Final = 4
FAILS_BEFORE_CAP: Final = 7


class Row(NamedTuple):
    """One boundary, after n trials; None: not to be reached at this n."""

    passes: int | None
    """PASS with at least so many passes."""
    failures: int | None
    """FAIL with at least so many failures."""


class Gate(NamedTuple):
    """A truncated sequential test between a bad and a good pass rate."""

    name: str
    bad: float
    """True rate that should be blocked."""
    good: float
    """True rate that should pass."""
    false_block: float
    """Highest share of FAIL at the good rate."""
    false_pass: float
    """Highest share of PASS at the bad rate."""
    rows: Mapping[int, Row]
    """Number of trials → boundary; in between nothing is decided."""

    @property
    def cap(self) -> int:
        """The most trials it asks for."""
        return max(self.rows)

    @property
    def fewest(self) -> int:
        """The fewest trials that can pass it."""
        return min(row.passes for row in self.rows.values() if row.passes is not None)


def _read_rows(text: str) -> Mapping[int, Row]:
    rows: dict[int, Row] = {}
    for item in text.split():
        numbers, _, bounds = item.partition(":")
        first, _, last = numbers.partition("-")
        passes, failures = (None if bound == "-" else int(bound) for bound in bounds.split(","))
        for number in range(int(first), int(last or first) + 1):
            rows[number] = Row(passes, failures)
    return rows


def _table(*gates: Gate) -> Mapping[str, Gate]:
    return {gate.name: gate for gate in gates}


#: n (or n-m):passes,failures.
GATES: Final = _table(
    Gate("quick", 0.3, 0.9, 0.05, 0.05, _read_rows("2:-,2 3:3,2 4:4,3 5:4,3 6:5,3 7:6,3 8:6,3")),
    Gate(
        "standard", 0.5, 0.9, 0.05, 0.10,
        _read_rows(
            "2:-,2 3:-,2 4:4,3 5:5,3 6:6,3 7:7,3 8:7,4 9:8,4 10:9,4 11:9,4 12:10,5 13:11,5"
            " 14:11,5 15:11,5"
        ),
    ),
    Gate(
        "firm", 0.5, 0.95, 0.05, 0.05,
        _read_rows("2-4:-,2 5:5,2 6:6,3 7:7,3 8:8,3 9:8,3 10:9,3 11:10,3 12:10,3"),
    ),
    Gate(
        "strict", 0.7, 0.95, 0.05, 0.10,
        _read_rows(
            "2-6:-,2 7:-,3 8:8,3 9:9,3 10:10,3 11:11,3 12:12,3 13:13,3 14:14,4 15:14,4 16:15,4"
            " 17:16,4 18:17,4 19:18,4 20:19,5 21:20,5 22:20,5 23:21,5 24:21,5 25:21,5"
        ),
    ),
    Gate(
        "critical", 0.8, 0.99, 0.05, 0.10,
        _read_rows(
            "1-4:-,1 5-10:-,2 11:11,2 12:12,2 13:13,2 14:14,2 15:15,2 16:16,2 17:17,2 18:18,2"
            " 19:19,2 20:20,2 21:21,2 22:21,2"
        ),
    ),
)  # fmt: skip


def find_gate(name: str) -> Gate:
    """Return the gate of that name; raises `UsageError` where there is none."""
    if name not in GATES:
        raise UsageError(f"gate: {name!r} is unknown; known are {', '.join(GATES)}", "guard gates")
    return GATES[name]


def cap(gate: str) -> int:
    """Return the most trials that the gate asks for."""
    return find_gate(gate).cap


def decide(gate: str, outcomes: Sequence[bool], limit: int | None = None) -> Decision | None:
    """Read outcomes in trial order; the first boundary decides, None asks for more trials.

    ``limit`` ends the gate before its cap, undecided.
    """
    table = find_gate(gate)
    most = min(limit or table.cap, table.cap)
    passes = 0
    for number, passed in enumerate(outcomes[:most], start=1):
        passes += passed
        row = table.rows.get(number, Row(None, None))
        if row.passes is not None and passes >= row.passes:
            return "PASS"
        if row.failures is not None and number - passes >= row.failures:
            return "FAIL"
    return "INCONCLUSIVE" if len(outcomes) >= most else None


def passes_needed(trials: int, min_pass_rate: float) -> int:
    """Return how many of so many fixed trials must pass."""
    return math.ceil(trials * min_pass_rate - 1e-9)  # 0.7 * 10 is 7.000000000000001


def decide_fixed(trials: int, min_pass_rate: float, outcomes: Sequence[bool]) -> Decision | None:
    """PASS needs every trial; FAIL is said as soon as the rate is out of reach."""
    counted = outcomes[:trials]
    failures = len(counted) - sum(counted)
    if failures > trials - passes_needed(trials, min_pass_rate):
        return "FAIL"
    return "PASS" if len(counted) >= trials else None


def decide_agreeing(outcomes: Sequence[bool]) -> Decision | None:
    """Judge a deterministic target: two trials that agree, or nothing is known."""
    first = outcomes[:AGREEING_TRIALS]
    if len(set(first)) > 1:
        return "INCONCLUSIVE"
    if len(first) < AGREEING_TRIALS:
        return None
    return "PASS" if first[0] else "FAIL"


def fails_before(
    failed: Sequence[bool],
) -> Literal["RED", "GREEN", "INCONCLUSIVE"] | None:
    """Say whether trials on the broken state failed for the recorded reason often enough.

    RED after three straight failures, GREEN after three straight passes at the start; from the
    fourth trial on the first to reach four, which seven trials always settle.
    """
    failures = 0
    for number, is_failure in enumerate(failed[:FAILS_BEFORE_CAP], start=1):
        failures += is_failure
        needed = STRAIGHT if number <= STRAIGHT else FIRST_TO
        if failures >= needed:
            return "RED"
        if number - failures >= needed:
            return "GREEN"
    return None


def decide_policy(
    policy: Policy, outcomes: Sequence[bool], *, deterministic: bool = False
) -> Decision | None:
    """Decide by whichever the policy states: a gate, fixed trials, or the default."""
    if policy.gate is not None:
        return decide(policy.gate, outcomes, policy.trials)
    if policy.trials is not None:
        return decide_fixed(policy.trials, policy.min_pass_rate, outcomes)
    return decide_agreeing(outcomes) if deterministic else decide(DEFAULT_GATE, outcomes)


def planned_trials(policy: Policy, *, deterministic: bool = False) -> int:
    """Return the most trials that the policy can ask for."""
    if policy.gate is not None:
        return min(policy.trials or cap(policy.gate), cap(policy.gate))
    if policy.trials is not None:
        return policy.trials
    return AGREEING_TRIALS if deterministic else cap(DEFAULT_GATE)


def trials_to_decision(
    undecided: Callable[[Sequence[bool]], bool], outcomes: Sequence[bool], most: int
) -> int:
    """Return how many further trials are needed whatever their outcomes, at most ``most``.

    A boundary is reached soonest when all further trials pass or all fail.
    """
    for extra in range(1, most + 1):
        if not all(undecided([*outcomes, *[passed] * extra]) for passed in (True, False)):
            return extra
    return most


def unreachable(policy: Policy) -> str | None:
    """Say why trials can never satisfy the policy, with the number that would do; else None.

    Refused: a gate given fewer trials than can pass it, fewer trials than one, a rate above 1
    (never met) or not above 0 (met by nothing at all), a rate that no number of trials stands
    beside, and a time-out that ends every trial. 3 trials at 0.9 are accepted: 3 of 3 meet it.
    """
    if not policy.timeout > 0:
        return f"timeout: {policy.timeout:g} s ends every trial; give it seconds above 0"
    if policy.trials is not None and policy.trials < 1:
        return f"trials: {policy.trials} can show nothing; 1 is the least"
    if not 0 < policy.min_pass_rate <= 1:
        return _refuse_rate(policy.min_pass_rate)
    if policy.gate is not None:
        return _refuse_gate(policy, find_gate(policy.gate))
    if policy.trials is None and policy.min_pass_rate < 1:
        return _refuse_bare_rate(policy.min_pass_rate)
    return None


def _refuse_rate(rate: float) -> str:
    if rate > 1:
        percent = f"; for {rate:g} % write {rate / 100:g}" if 2 <= rate <= 100 else ""
        return f"min_pass_rate: {rate:g} is more than all trials; 1.0 is the most{percent}"
    return f"min_pass_rate: {rate:g} would be met by no pass at all; give a share above 0"


def _refuse_gate(policy: Policy, gate: Gate) -> str | None:
    if policy.trials is not None and policy.trials < gate.fewest:
        return (
            f"gate {gate.name} can't pass in {policy.trials} trials: "
            f"it takes at least {gate.fewest}, and {gate.cap} at most"
        )
    if policy.min_pass_rate < 1:
        return (
            f"min_pass_rate: {policy.min_pass_rate:g} is never read beside gate {gate.name}, which "
            f"asks for its own rate; state `trials: {_trials_for(policy.min_pass_rate)}` instead"
        )
    return None


def _refuse_bare_rate(rate: float) -> str:
    return (
        f"min_pass_rate: {rate:g} says nothing without a number of trials; "
        f"`trials: {_trials_for(rate)}` would do"
    )


def _trials_for(rate: float) -> int:
    """Return the fewest trials in which the rate leaves room for one failure."""
    return math.ceil(1 / (1 - rate) - 1e-9)
