from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.errors import UsageError
from guard.model import Policy
from guard.running import gates
from guard.running.gates import Gate, Row

#: Printed rows, and the true errors (block at the good rate, pass at the bad one).
PRINTED = {
    "quick": "2:-,2 3:3,2 4:4,3 5:4,3 6:5,3 7:6,3 8:6,3",
    "standard": "2:-,2 3:-,2 4:4,3 5:5,3 6:6,3 7:7,3 8:7,4 9:8,4 10:9,4 11:9,4 12:10,5 13:11,5"
    " 14:11,5 15:11,5",
    "firm": "2:-,2 4:-,2 5:5,2 6:6,3 7:7,3 8:8,3 9:8,3 10:9,3 11:10,3 12:10,3",
    "strict": "2:-,2 6:-,2 7:-,3 8:8,3 13:13,3 14:14,4 15:14,4 16:15,4 17:16,4 18:17,4 19:18,4"
    " 20:19,5 21:20,5 22:20,5 23:21,5 24:21,5 25:21,5",
    "critical": "1:-,1 4:-,1 5:-,2 10:-,2 11:11,2 21:21,2 22:21,2",
}
STATED = {
    "quick": (0.042, 0.046),
    "standard": (0.050, 0.098),
    "firm": (0.030, 0.046),
    "strict": (0.049, 0.100),
    "critical": (0.048, 0.099),
}
#: Mean number of trials at the bad rate, the good rate, p = 1, p = 0.
MEANS = {
    "quick": (3.0, 3.6, 3, 2),
    "standard": (4.8, 5.6, 4, 2),
    "firm": (4.1, 5.9, 5, 2),
    "strict": (7.8, 10.7, 8, 2),
    "critical": (6.1, 11.3, 11, 1),
}


def near(measured: float, stated: float, tolerance: float) -> bool:
    return abs(measured - stated) <= tolerance


def exact_operation(rows: Mapping[int, Row], cap: int, rate: float) -> tuple[float, float, float]:
    """Return P(pass), P(fail) and the mean number of trials, by dynamic programming."""
    alive = {0: 1.0}
    passed = failed = mean = 0.0
    for number in range(1, cap + 1):
        row = rows.get(number, Row(None, None))
        reached: dict[int, float] = {}
        for passes, weight in alive.items():
            reached[passes + 1] = reached.get(passes + 1, 0.0) + weight * rate
            reached[passes] = reached.get(passes, 0.0) + weight * (1 - rate)
        alive = {}
        for passes, weight in reached.items():
            if row.passes is not None and passes >= row.passes:
                passed, mean = passed + weight, mean + weight * number
            elif row.failures is not None and number - passes >= row.failures:
                failed, mean = failed + weight, mean + weight * number
            else:
                alive[passes] = weight
    assert not alive, "the cap settles every gate"
    return passed, failed, mean


def search_table(gate: Gate, bound_a: float, bound_b: float, settle: int) -> dict[int, Row]:
    """Rebuild a table from PROOF's formula: sA, sB, N and c."""
    up, down = log(gate.good / gate.bad), log((1 - gate.good) / (1 - gate.bad))
    upper = bound_a * log((1 - gate.false_block) / gate.false_pass)
    lower = bound_b * log(gate.false_block / (1 - gate.false_pass))
    rows: dict[int, Row] = {}
    for n in range(1, gate.cap + 1):
        counts = range(n + 1)
        passes = next(
            (k for k in counts if k >= settle or k * up + (n - k) * down >= upper - 1e-12), None
        )
        failures = next(
            (
                f
                for f in counts
                if f > gate.cap - settle or (n - f) * up + f * down <= lower + 1e-12
            ),
            None,
        )
        if passes is not None or failures is not None:
            rows[n] = Row(passes, failures)
    return rows


@pytest.mark.parametrize("name", PRINTED)
def test_every_printed_row_is_kept(name: str) -> None:
    for item in PRINTED[name].split():
        number, bounds = item.split(":")
        row = gates.GATES[name].rows[int(number)]
        assert bounds == ",".join("-" if bound is None else str(bound) for bound in row), item


@pytest.mark.parametrize(
    ("name", "bound_a", "bound_b", "settle"),
    [
        ("quick", 0.75, 0.67, 6),
        ("standard", 0.86, 0.71, 11),
        ("firm", 0.88, 0.79, 10),
        ("strict", 0.99, 0.79, 21),
        ("critical", 0.95, 0.75, 21),
    ],
)
def test_tables_follow_from_the_stated_design(
    name: str, bound_a: float, bound_b: float, settle: int
) -> None:
    gate = gates.GATES[name]
    assert search_table(gate, bound_a, bound_b, settle) == gate.rows


@pytest.mark.parametrize("name", STATED)
def test_true_errors_are_the_stated_ones(name: str) -> None:
    gate = gates.GATES[name]
    blocked = exact_operation(gate.rows, gate.cap, gate.good)[1]
    accepted = exact_operation(gate.rows, gate.cap, gate.bad)[0]
    assert near(blocked, STATED[name][0], 0.0006)
    assert near(accepted, STATED[name][1], 0.0006)
    assert blocked <= gate.false_block
    assert accepted <= gate.false_pass


@pytest.mark.parametrize("name", MEANS)
def test_mean_trials_are_the_stated_ones(name: str) -> None:
    gate = gates.GATES[name]
    for rate, stated in zip((gate.bad, gate.good, 1.0, 0.0), MEANS[name], strict=True):
        assert near(exact_operation(gate.rows, gate.cap, rate)[2], stated, 0.051)


def test_operating_curve_of_the_default() -> None:
    gate = gates.GATES["standard"]
    curve = {0.5: 0.098, 0.6: 0.24, 0.7: 0.48, 0.8: 0.76, 0.9: 0.95, 0.95: 0.99, 1.0: 1.0}
    for rate, stated in curve.items():
        assert near(exact_operation(gate.rows, gate.cap, rate)[0], stated, 0.006)


def test_a_wrong_row_would_be_noticed() -> None:
    """Negative control: one softer row breaks the stated error."""
    gate = gates.GATES["standard"]
    rows = {**gate.rows, 3: Row(3, 2)}
    assert exact_operation(rows, gate.cap, gate.bad)[0] > gate.false_pass


def run_gate(name: str, draw: random.Random, rate: float) -> str:
    outcomes: list[bool] = []
    while (decision := gates.decide(name, outcomes)) is None:
        outcomes.append(draw.random() < rate)
    return decision


@pytest.mark.parametrize("name", STATED)
def test_simulated_error_rates(name: str) -> None:
    draw, gate, runs = random.Random(20260712), gates.GATES[name], 4000
    blocked = sum(run_gate(name, draw, gate.good) == "FAIL" for _ in range(runs)) / runs
    accepted = sum(run_gate(name, draw, gate.bad) == "PASS" for _ in range(runs)) / runs
    assert near(blocked, STATED[name][0], 0.015)
    assert near(accepted, STATED[name][1], 0.015)


@pytest.mark.parametrize(
    ("outcomes", "decision"),
    [
        ("", None),
        ("P", None),
        ("F", None),
        ("FF", "FAIL"),
        ("PFF", "FAIL"),
        ("PFPF", None),
        ("FPF", "FAIL"),
        ("PPP", None),
        ("PPPP", "PASS"),
        ("PPPPFFFFFFF", "PASS"),
        ("FFPPPPPPPPP", "FAIL"),
        ("PPPFPPPP", "PASS"),
    ],
)
def test_first_boundary_wins(outcomes: str, decision: str | None) -> None:
    assert gates.decide("standard", [c == "P" for c in outcomes]) == decision


@given(st.sampled_from(sorted(gates.GATES)), st.lists(st.booleans(), max_size=40))
def test_more_trials_never_change_a_decision(name: str, outcomes: list[bool]) -> None:
    decision = gates.decide(name, outcomes)
    if decision is not None:
        assert gates.decide(name, [*outcomes, True]) == decision
        assert gates.decide(name, [*outcomes, False]) == decision
    if len(outcomes) >= gates.cap(name):
        assert decision in ("PASS", "FAIL")


def test_a_gate_cut_short_ends_inconclusive() -> None:
    outcomes = [True, True, False, True]
    assert gates.decide("standard", outcomes) is None
    assert gates.decide("standard", outcomes, limit=4) == "INCONCLUSIVE"
    assert gates.decide("standard", [True] * 4, limit=4) == "PASS"


def test_unknown_gate_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="quick, standard, firm, strict, critical"):
        gates.cap("lenient")


@pytest.mark.parametrize(
    ("trials", "rate", "needed"),
    [(10, 0.7, 7), (3, 0.9, 3), (10, 0.9, 9), (1, 1.0, 1), (3, 1 / 3, 1), (20, 0.55, 11)],
)
def test_passes_needed(trials: int, rate: float, needed: int) -> None:
    assert gates.passes_needed(trials, rate) == needed


@given(st.integers(1, 12), st.floats(0.01, 1.0), st.lists(st.booleans(), max_size=14))
def test_fixed_trials_against_the_plain_definition(
    trials: int, rate: float, outcomes: list[bool]
) -> None:
    counted = outcomes[:trials]
    best = (sum(counted) + trials - len(counted)) / trials
    decision = gates.decide_fixed(trials, rate, outcomes)
    if best < rate - 1e-6:
        assert decision == "FAIL"
    elif best > rate + 1e-6:
        assert decision == ("PASS" if len(counted) == trials else None)


@pytest.mark.parametrize(
    ("outcomes", "decision"),
    [
        ([], None),
        ([True], None),
        ([False], None),
        ([True, True], "PASS"),
        ([False, False], "FAIL"),
        ([True, False], "INCONCLUSIVE"),
        ([False, True, True], "INCONCLUSIVE"),
    ],
)
def test_deterministic_trials_must_agree(outcomes: list[bool], decision: str | None) -> None:
    assert gates.decide_agreeing(outcomes) == decision


@pytest.mark.parametrize(
    ("outcomes", "decision"),
    [
        ("", None),
        ("FF", None),
        ("FFF", "RED"),
        ("PPP", "GREEN"),
        ("FFP", None),
        ("FFPF", None),
        ("PFFF", None),
        ("FFPFF", "RED"),
        ("PPFPP", "GREEN"),
        ("FPFPFPF", "RED"),
        ("PFPFPFP", "GREEN"),
        ("FFFPPPP", "RED"),
    ],
)
def test_fails_before(outcomes: str, decision: str | None) -> None:
    assert gates.fails_before([c == "F" for c in outcomes]) == decision


def fails_before_rate(passes: float) -> tuple[float, float]:
    """Return P(RED) and P(GREEN) where each trial passes with that chance."""
    red = green = 0.0
    alive: dict[tuple[bool, ...], float] = {(): 1.0}
    while alive:
        grown: dict[tuple[bool, ...], float] = {}
        for failed, weight in alive.items():
            for outcome, chance in ((False, passes), (True, 1 - passes)):
                sequence = (*failed, outcome)
                decision = gates.fails_before(sequence)
                red += weight * chance * (decision == "RED")
                green += weight * chance * (decision == "GREEN")
                if decision is None:
                    grown[sequence] = weight * chance
        alive = grown
    return red, green


def test_fails_before_keeps_five_percent_on_either_side() -> None:
    assert fails_before_rate(0.2)[1] <= 0.05
    assert fails_before_rate(0.8)[0] <= 0.05
    assert near(sum(fails_before_rate(0.5)), 1.0, 1e-9)


@pytest.mark.parametrize(
    ("before", "after", "accepted"),
    [(0, 0.9, 0.95), (0, 0.95, 0.99), (0.1, 0.9, 0.947), (0.5, 0.9, 0.475), (0.8, 0.9, 0.034)],
)
def test_the_pair_of_gates_accepts_as_proof_says(
    before: float, after: float, accepted: float
) -> None:
    gate = gates.GATES["standard"]
    chance = fails_before_rate(before)[0] * exact_operation(gate.rows, gate.cap, after)[0]
    assert near(chance, accepted, 0.006)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Policy(trials=0), "1 is the least"),
        (Policy(trials=-2), "1 is the least"),
        (Policy(trials=3, min_pass_rate=1.5), "1.0 is the most"),
        (Policy(trials=3, min_pass_rate=90), "for 90 % write 0.9"),
        (Policy(trials=3, min_pass_rate=0.0), "share above 0"),
        (Policy(trials=3, min_pass_rate=float("nan")), "share above 0"),
        (Policy(gate="standard", trials=3), "at least 4, and 15 at most"),
        (Policy(gate="critical", trials=10), "at least 11, and 22 at most"),
        (Policy(gate="standard", min_pass_rate=0.9), "`trials: 10` instead"),
        (Policy(min_pass_rate=0.8), "`trials: 5` would do"),
        (Policy(timeout=0), "seconds above 0"),
    ],
)
def test_unreachable_policies_are_refused_with_what_would_do(policy: Policy, said: str) -> None:
    assert said in (gates.unreachable(policy) or "")


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(gate="standard"),
        Policy(gate="standard", trials=4),
        Policy(trials=3, min_pass_rate=0.9),
        Policy(trials=1),
        Policy(trials=10, min_pass_rate=0.7),
    ],
)
def test_reachable_policies_are_accepted_and_can_pass(policy: Policy) -> None:
    assert gates.unreachable(policy) is None
    assert gates.decide_policy(policy, [True] * gates.planned_trials(policy)) == "PASS"


@given(
    st.sampled_from([Policy(gate=name) for name in gates.GATES] + [Policy(trials=5), Policy()]),
    st.booleans(),
)
def test_planned_trials_always_decide(policy: Policy, deterministic: bool) -> None:
    most = gates.planned_trials(policy, deterministic=deterministic)
    for outcomes in ([True] * most, [False] * most):
        assert gates.decide_policy(policy, outcomes, deterministic=deterministic) in (
            "PASS",
            "FAIL",
        )


def test_trials_to_decision_never_starts_one_too_many() -> None:
    def undecided(outcomes: Sequence[bool]) -> bool:
        return gates.decide("standard", outcomes) is None

    assert gates.trials_to_decision(undecided, [], 15) == 2
    assert gates.trials_to_decision(undecided, [True, True], 15) == 2
    assert gates.trials_to_decision(undecided, [True, False], 15) == 1
