"""What each gate does in the long run: computed twice, simulated, and as it is stated."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.running import gates
from guard.running.gates import Row
from guard.running.operation import (
    FAILS_BEFORE_ROWS,
    Operation,
    Rows,
    confirmed,
    fixed_rows,
    operate,
)

#: Gate → the share of blocks at its good rate, the share of passes at its bad one.
TRUE_ERRORS = {
    "quick": (0.042, 0.046),
    "standard": (0.050, 0.098),
    "firm": (0.030, 0.046),
    "strict": (0.049, 0.100),
    "critical": (0.048, 0.099),
}
#: Gate → mean trials at the bad rate, half-way to the good one, at the good one, at 1, at 0.
MEAN_TRIALS = {
    "quick": (3.0, 4.1, 3.6, 3, 2),
    "standard": (4.8, 6.7, 5.6, 4, 2),
    "firm": (4.1, 6.2, 5.9, 5, 2),
    "strict": (7.8, 11.5, 10.7, 8, 2),
    "critical": (6.1, 9.3, 11.3, 11, 1),
}
#: True rate → chance to pass by the default gate.
STANDARD_CURVE = {0.5: 0.098, 0.6: 0.24, 0.7: 0.48, 0.8: 0.76, 0.9: 0.95, 0.95: 0.99, 1.0: 1.0}
#: (passes needed, trials) → true rate → chance to pass.
FIXED_CURVES = {
    (1, 1): {0.5: 0.50, 0.7: 0.70, 0.9: 0.90, 0.95: 0.95, 0.99: 0.99},
    (3, 3): {0.5: 0.13, 0.7: 0.34, 0.9: 0.73, 0.95: 0.86, 0.99: 0.97},
    (5, 5): {0.5: 0.03, 0.7: 0.17, 0.9: 0.59, 0.95: 0.77, 0.99: 0.95},
    (4, 5): {0.5: 0.19, 0.7: 0.53, 0.9: 0.92, 0.95: 0.98, 0.99: 1.0},
    (2, 3): {0.5: 0.50, 0.7: 0.78, 0.9: 0.97, 0.95: 0.99, 0.99: 1.0},
}
RUNS = 2000
Decide = Callable[[Sequence[bool]], str | None]


def near(found: float, stated: float, tolerance: float) -> bool:
    return abs(found - stated) <= tolerance


def all_near(found: Sequence[float], stated: Sequence[float], tolerance: float) -> bool:
    return all(near(one, other, tolerance) for one, other in zip(found, stated, strict=True))


def of_gate(name: str, rate: float) -> Operation:
    gate = gates.GATES[name]
    return operate(gate.rows, gate.cap, rate)


def by_sequences(decide: Decide, most: int, rate: float) -> Operation:
    """Compute the same from the verdicts on whole sequences; states are merged by counts."""
    chances = {"PASS": 0.0, "FAIL": 0.0}
    trials = 0.0
    # One sequence stands for all that are open with as many passes: they go on alike.
    open_ones: dict[int, tuple[tuple[bool, ...], float]] = {0: ((), 1.0)}
    for _ in range(most):
        grown: dict[int, tuple[tuple[bool, ...], float]] = {}
        for sequence, chance in open_ones.values():
            trials += chance
            for outcome, share in ((True, rate), (False, 1 - rate)):
                longer = (*sequence, outcome)
                decision = decide(longer)
                if decision in chances:
                    chances[decision] += chance * share
                else:
                    _, already = grown.get(sum(longer), (longer, 0.0))
                    grown[sum(longer)] = (longer, already + chance * share)
        open_ones = grown
    left = sum(chance for _, chance in open_ones.values())
    return Operation(chances["PASS"], chances["FAIL"], left, trials)


@pytest.mark.parametrize("name", gates.GATES)
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.55, 0.8, 0.93, 1.0])
def test_the_tables_do_what_the_decisions_do(name: str, rate: float) -> None:
    found = by_sequences(lambda seen: gates.decide(name, seen), gates.cap(name), rate)
    assert all_near(of_gate(name, rate), found, 1e-12)


@pytest.mark.parametrize("name", TRUE_ERRORS)
def test_true_errors(name: str) -> None:
    gate, (blocked, accepted) = gates.GATES[name], TRUE_ERRORS[name]
    assert near(of_gate(name, gate.good).blocks, blocked, 0.0006)
    assert near(of_gate(name, gate.bad).passes, accepted, 0.0006)


@pytest.mark.parametrize("name", MEAN_TRIALS)
def test_mean_trials(name: str) -> None:
    gate = gates.GATES[name]
    rates = (gate.bad, (gate.bad + gate.good) / 2, gate.good, 1.0, 0.0)
    found = [of_gate(name, rate).trials for rate in rates]
    assert all_near(found, MEAN_TRIALS[name], 0.051)


def test_the_curve_of_the_default() -> None:
    for rate, chance in STANDARD_CURVE.items():
        assert near(of_gate("standard", rate).passes, chance, 0.0051)


@pytest.mark.parametrize(("needed", "trials"), FIXED_CURVES)
def test_the_curves_of_fixed_trials(needed: int, trials: int) -> None:
    rows = fixed_rows(trials, needed / trials)
    for rate, chance in FIXED_CURVES[needed, trials].items():
        assert near(operate(rows, trials, rate).passes, chance, 0.0051)


def test_a_second_gate_before_a_hook_blocks() -> None:
    """True rate → blocked with a second gate, and the trials of both."""
    good = confirmed(of_gate("standard", 0.9))
    assert near(good.blocks, 0.0025, 0.0001)
    assert near(good.trials, 5.9, 0.05)
    assert near(confirmed(of_gate("standard", 0.5)).blocks, 0.81, 0.005)
    assert near(sum(good[:3]), 1.0, 1e-9)


@pytest.mark.parametrize(
    ("cases", "rate", "chance"), [(20, 0.9, 0.64), (20, 0.95, 0.18), (20, 0.98, 0.027)]
)
def test_the_chance_of_a_false_block_in_a_suite(cases: int, rate: float, chance: float) -> None:
    some = 1 - (1 - of_gate("standard", rate).blocks) ** cases
    assert near(some, chance, 0.006)


def test_fails_before_keeps_five_percent() -> None:
    def at(rate: float) -> Operation:
        return operate(FAILS_BEFORE_ROWS, gates.FAILS_BEFORE_CAP, rate)

    assert at(0.2).passes <= 0.05
    assert at(0.8).blocks <= 0.05
    assert (at(0.0).trials, at(1.0).trials) == (3, 3)
    for before, after, accepted in ((0, 0.9, 0.95), (0, 0.95, 0.99), (0.1, 0.9, 0.947)):
        pair = at(before).blocks * of_gate("standard", after).passes
        assert near(pair, accepted, 0.006)
    for before, after, trials in (
        (0, 0.9, 8.6),
        (0.0, 0.95, 7.8),
        (0.1, 0.9, 9.2),
        (0.8, 0.9, 4.5),
    ):
        once, then = at(before), of_gate("standard", after)
        assert near(once.trials + once.blocks * then.trials, trials, 0.06)


def simulate(decide: Decide, rate: float) -> Operation:
    draw = random.Random(f"{rate}")
    ends: list[tuple[str, int]] = []
    for _ in range(RUNS):
        outcomes: list[bool] = []
        while (decision := decide(outcomes)) is None:
            outcomes.append(draw.random() < rate)
        ends.append((decision, len(outcomes)))
    passes, blocks = (sum(end == word for end, _ in ends) / RUNS for word in ("PASS", "FAIL"))
    return Operation(passes, blocks, 1 - passes - blocks, sum(count for _, count in ends) / RUNS)


@pytest.mark.parametrize("name", gates.GATES)
def test_simulated_runs_agree(name: str) -> None:
    gate = gates.GATES[name]
    for rate in (gate.bad, (gate.bad + gate.good) / 2, gate.good):
        seen, exact = simulate(lambda so_far: gates.decide(name, so_far), rate), of_gate(name, rate)
        assert near(seen.passes, exact.passes, 0.04)
        assert near(seen.blocks, exact.blocks, 0.04)
        assert near(seen.trials, exact.trials, 0.05 * exact.trials)


def test_simulated_runs_before_a_fix_agree() -> None:
    words = {"GREEN": "PASS", "RED": "FAIL"}

    def decide(passed: Sequence[bool]) -> str | None:
        found = gates.fails_before([not one for one in passed])
        return words[found] if found else None

    for rate in (0.2, 0.5, 0.8):
        exact = operate(FAILS_BEFORE_ROWS, gates.FAILS_BEFORE_CAP, rate)
        assert near(simulate(decide, rate).blocks, exact.blocks, 0.04)


def decide_by(rows: Rows, most: int, outcomes: Sequence[bool]) -> str | None:
    for number in range(1, min(most, len(outcomes)) + 1):
        row, passed = rows.get(number, Row(None, None)), sum(outcomes[:number])
        if row.passes is not None and passed >= row.passes:
            return "PASS"
        if row.failures is not None and number - passed >= row.failures:
            return "FAIL"
    return None


@pytest.mark.parametrize("trials", range(1, 9))
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.75, 0.9, 1.0])
def test_rows_of_fixed_trials_decide_as_fixed_trials_do(trials: int, rate: float) -> None:
    rows = fixed_rows(trials, rate)
    for length in range(trials + 1):
        for outcomes in product((True, False), repeat=length):
            decision = gates.decide_fixed(trials, rate, outcomes)
            assert decide_by(rows, trials, outcomes) == decision, outcomes


def test_rows_of_fails_before_decide_as_it_does() -> None:
    words = {"PASS": "GREEN", "FAIL": "RED", None: None}
    for length in range(gates.FAILS_BEFORE_CAP + 1):
        for passed in product((True, False), repeat=length):
            found = words[decide_by(FAILS_BEFORE_ROWS, gates.FAILS_BEFORE_CAP, passed)]
            assert gates.fails_before([not one for one in passed]) == found, passed


@given(st.sampled_from(sorted(gates.GATES)), st.floats(0, 1), st.integers(1, 30))
def test_chances_sum_to_one_and_trials_are_bounded(name: str, rate: float, most: int) -> None:
    most = min(most, gates.cap(name))
    found = operate(gates.GATES[name].rows, most, rate)
    assert near(sum(found[:3]), 1.0, 1e-9)
    assert 1 <= found.trials <= most + 1e-9
    if most == gates.cap(name):
        assert near(found.undecided, 0.0, 1e-12)


def test_a_softer_row_would_be_noticed() -> None:
    """Negative control: the errors stated above are not those of any table."""
    rows = {**gates.GATES["standard"].rows, 3: Row(3, 2)}
    assert operate(rows, 15, 0.5).passes > 0.15
