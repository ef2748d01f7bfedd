"""What runs and proofs get wrong in the long run: the decisions that are in use, on drawn outcomes.

Each gate and each proof is drawn 2,000 times with a fixed seed. What is asked of them depends on
outcomes alone, so that each sequence is asked for once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from math import sqrt
from typing import NamedTuple

import pytest

from guard.model import Case, Policy
from guard.proofs.sides import after_judge, after_more, before_judge, before_more, hits
from guard.proofs.verdicts import decide
from guard.results import CaseResult, Score, TrialResult
from guard.running import gates
from guard.running.operation import FAILS_BEFORE_ROWS, Operation, operate
from guard.running.series import by_policy
from guard.verdict import Judgement, confirm, judge_case

RUNS = 2000
KEY = "reply"
#: Gate → block at the good rate, pass at the bad one, as they are stated.
STATED = {
    "quick": (0.042, 0.046),
    "standard": (0.050, 0.098),
    "firm": (0.030, 0.046),
    "strict": (0.049, 0.100),
    "critical": (0.048, 0.099),
}
#: (rate before, rate after) → chance to be PROVEN, mean trials if the broken side goes first.
PAIRS = {
    (0.0, 0.9): (0.95, 8.6),
    (0.0, 0.95): (0.99, 7.8),
    (0.1, 0.9): (0.947, 9.2),
    (0.5, 0.9): (0.475, 8.2),
    (0.8, 0.9): (0.034, 4.5),
}
#: The same rate on both sides → chance to be PROVEN all the same.
VACUOUS = {0.5: 0.049, 0.6: 0.07, 0.9: 0.003}

Outcomes = tuple[bool, ...]
#: Whether each trial passed → how many more are started, and the verdict.
Step = Callable[[Outcomes], tuple[int, str]]


def near_share(found: float, stated: float) -> bool:
    """Tell whether a share of RUNS is within four standard deviations, and what was rounded."""
    return abs(found - stated) <= 4 * sqrt(stated * (1 - stated) / RUNS) + 0.001


def trials(outcomes: Outcomes) -> list[TrialResult]:
    return [trial(number, passed=passed) for number, passed in enumerate(outcomes, 1)]


def trial(number: int, *, passed: bool) -> TrialResult:
    score = Score(KEY, float(passed), "")
    failing = () if passed else (KEY,)
    return TrialResult("one", number, "PASS" if passed else "FAIL", (score,), failing=failing)


def case_of(gate: str) -> Case:
    return Case("one", "clerk", "evals/one.md", policy=Policy(gate=gate))


def step_of_run(gate: str) -> Step:
    case = case_of(gate)
    more = by_policy(case, deterministic=False)

    @cache
    def step(outcomes: Outcomes) -> tuple[int, str]:
        seen = trials(outcomes)
        return more(seen, 1), judge_case(case, seen, case.policy).verdict

    return step


def steps_of_proof(gate: str = "standard") -> tuple[Step, Step]:
    case = case_of(gate)
    of_before = before_judge(hits([KEY]), deterministic=False)
    of_after = after_judge(case, deterministic=False)
    more_before = before_more(of_before, deterministic=False)
    more_after = after_more(case, of_after, deterministic=False)

    @cache
    def before(outcomes: Outcomes) -> tuple[int, str]:
        seen = trials(outcomes)
        return more_before(seen, 1), of_before(seen).verdict

    @cache
    def after(outcomes: Outcomes) -> tuple[int, str]:
        seen = trials(outcomes)
        return more_after(seen, 1), of_after(seen).verdict

    return before, after


def play(step: Step, draw: random.Random, rate: float) -> tuple[str, int]:
    """Run trials until none is asked for; return the verdict, and how many there were."""
    outcomes: Outcomes = ()
    while step(outcomes)[0] > 0:
        outcomes = (*outcomes, draw.random() < rate)
    return step(outcomes)[1], len(outcomes)


class Share(NamedTuple):
    """What came of RUNS runs."""

    passes: float
    blocks: float
    trials: float


def simulate(step: Step, rate: float) -> Share:
    draw = random.Random(f"{rate}")
    ends = [play(step, draw, rate) for _ in range(RUNS)]
    passes, blocks = (sum(end[0] == word for end in ends) / RUNS for word in ("PASS", "FAIL"))
    return Share(passes, blocks, sum(number for _, number in ends) / RUNS)


@pytest.mark.parametrize("name", STATED)
def test_runs_err_as_seldom_as_is_stated(name: str) -> None:
    gate, step, (blocked, accepted) = gates.GATES[name], step_of_run(name), STATED[name]
    good, bad = simulate(step, gate.good), simulate(step, gate.bad)
    assert near_share(good.blocks, blocked)
    assert near_share(bad.passes, accepted)
    assert (good.passes + good.blocks, bad.passes + bad.blocks) == (1.0, 1.0)
    for rate, found in ((gate.good, good), (gate.bad, bad)):
        expected = operate(gate.rows, gate.cap, rate).trials
        assert abs(found.trials - expected) <= 0.05 * expected


@pytest.mark.parametrize(("rate", "blocked"), [(0.9, 0.0025), (0.5, 0.81)])
def test_hooks_block_as_seldom_as_is_stated(rate: float, blocked: float) -> None:
    step, draw, stopped = step_of_run("standard"), random.Random(4), 0
    for _ in range(RUNS):
        first = play(step, draw, rate)[0]
        if first == "FAIL":
            second = CaseResult("one", "clerk", play(step, draw, rate)[0])
            stopped += confirm(CaseResult("one", "clerk", first), second).verdict == "FAIL"
    assert near_share(stopped / RUNS, blocked)


def proven(pair: tuple[float, float], seed: int = 4) -> float:
    before, after = steps_of_proof()
    draw, found = random.Random(f"{seed} {pair}"), 0
    for _ in range(RUNS):
        red, green = (
            play(step, draw, rate)[0] for step, rate in zip((before, after), pair, strict=True)
        )
        verdict = decide(Judgement(red), Judgement(green), [KEY])
        found += verdict is not None and verdict.verdict == "PROVEN"
    return found / RUNS


@pytest.mark.parametrize("pair", PAIRS)
def test_proofs_are_accepted_as_often_as_is_stated(pair: tuple[float, float]) -> None:
    assert near_share(proven(pair), PAIRS[pair][0])


@pytest.mark.parametrize("rate", VACUOUS)
def test_a_flaky_case_that_sees_nothing_is_seldom_proven(rate: float) -> None:
    assert near_share(proven((rate, rate)), VACUOUS[rate])


def test_a_softer_gate_before_would_be_noticed() -> None:
    """Negative control: two straight failures would prove a flaky case far more often."""
    draw, found = random.Random(4), 0
    after = steps_of_proof()[1]
    for _ in range(RUNS):
        red = draw.random() > 0.6 and draw.random() > 0.6
        found += red and play(after, draw, 0.6)[0] == "PASS"
    assert not near_share(found / RUNS, 0.317 * operate_standard(0.6).passes)


# The same, exactly ----------------------------------------------------------------------------


def operate_before(rate: float) -> Operation:
    return operate(FAILS_BEFORE_ROWS, gates.FAILS_BEFORE_CAP, rate)


def operate_standard(rate: float) -> Operation:
    gate = gates.GATES["standard"]
    return operate(gate.rows, gate.cap, rate)


def exactly_proven(before: float, after: float) -> float:
    return operate_before(before).blocks * operate_standard(after).passes


@pytest.mark.parametrize("pair", PAIRS)
def test_the_chance_and_the_price_of_a_proof(pair: tuple[float, float]) -> None:
    chance, price = PAIRS[pair]
    first, then = operate_before(pair[0]), operate_standard(pair[1])
    assert abs(exactly_proven(*pair) - chance) <= 0.0051
    assert abs(first.trials + first.blocks * then.trials - price) <= 0.051


def test_a_flaky_case_is_proven_at_most_so_often() -> None:
    chances = {share / 100: exactly_proven(share / 100, share / 100) for share in range(101)}
    worst = max(chances, key=chances.__getitem__)
    assert 0.55 <= worst <= 0.65
    assert round(chances[worst], 2) <= 0.07
    for rate, stated in VACUOUS.items():
        assert abs(chances[rate] - stated) <= 0.0051


def sequences(step: Step, start: Outcomes = ()) -> Sequence[Outcomes]:
    """Return every sequence of outcomes at which no further trial is asked for."""
    if step(start)[0] == 0:
        return [start]
    return [end for passed in (True, False) for end in sequences(step, (*start, passed))]


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.8, 1.0])
def test_the_sides_of_a_proof_decide_as_their_tables_do(rate: float) -> None:
    before, after = steps_of_proof("quick")
    quick = gates.GATES["quick"]
    for step, exact in ((before, operate_before(rate)), (after, operate(quick.rows, 8, rate))):
        ends = {
            end: rate ** sum(end) * (1 - rate) ** (len(end) - sum(end)) for end in sequences(step)
        }
        passes = sum(chance for end, chance in ends.items() if step(end)[1] == "PASS")
        blocks = sum(chance for end, chance in ends.items() if step(end)[1] == "FAIL")
        number = sum(chance * len(end) for end, chance in ends.items())
        assert abs(passes - exact.passes) < 1e-12
        assert abs(blocks - exact.blocks) < 1e-12
        assert abs(number - exact.trials) < 1e-9
