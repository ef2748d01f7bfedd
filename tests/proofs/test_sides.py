"""How each side of a proof is judged: in order, by the first trials that decide."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.model import Case, Policy
from guard.proofs.sides import (
    OPEN,
    after_judge,
    after_more,
    before_judge,
    before_more,
    common_keys,
    hits,
)
from guard.results import Observation, Score, TrialResult
from guard.running.gates import fails_before

UNSTATED = Policy()
CASE = Case("taxi", "clerk", "evals/taxi.md")
#: P passes, F fails on the recorded key, W on another one, B on both, T by a time-out,
#: O by an orphan, C by how it ended (and so on the recorded key too), X is excused, E is an error,
#: S stale, U ungraded.
FAILING = {
    "P": (),
    "F": ("reply",),
    "W": ("files",),
    "B": ("files", "reply"),
    "T": ("timeout",),
    "O": ("orphans",),
    "C": ("exit_code", "reply"),
}
OTHERS = {"E": "ERROR", "S": "STALE", "U": "UNGRADED", "X": "XFAIL", "K": "SKIP", "M": "TAINTED"}


def trials(outcomes: str) -> list[TrialResult]:
    return [trial(number, letter) for number, letter in enumerate(outcomes, 1)]


def trial(number: int, letter: str) -> TrialResult:
    if letter in OTHERS:
        return TrialResult("taxi", number, OTHERS[letter], reason=f"it is {letter}")
    failing = FAILING[letter]
    scores = tuple(Score(key, 0.0, "wrong") for key in failing)
    verdict = "FAIL" if failing else "PASS"
    return TrialResult("taxi", number, verdict, scores, failing=failing)


def test_how_a_program_ended_is_a_red_where_it_is_recorded() -> None:
    assert before("CCC") == "WRONG_REASON"
    assert before("CCC", ["exit_code"]) == "FAIL"
    assert before("CCC", ["exit_code", "reply"]) == "FAIL"
    assert before("CCC", []) == "FAIL"


@pytest.mark.parametrize(
    ("status", "verdict"), [(3, "FAIL"), (128, "FAIL"), (255, "FAIL"), (137, "ERROR")]
)
def test_a_signal_that_a_shell_reports_is_no_red(status: int, verdict: str) -> None:
    ended = [
        trial(number, "C")._replace(observation=Observation(exit_status=status))
        for number in range(1, 4)
    ]
    judge = before_judge(hits(["exit_code"]), deterministic=False)
    assert judge(ended).verdict == verdict
    more = before_more(judge, deterministic=False)
    assert more(ended, 8) == 0
    assert more(ended[:2], 8) > 0


def before(outcomes: str, fails_on: Sequence[str] = ("reply",), *, same: bool = False) -> str:
    judge = before_judge(hits(fails_on), deterministic=same)
    return judge(trials(outcomes)).verdict


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ("", ""),
        ("FF", ""),
        ("FFF", "FAIL"),
        ("PPP", "PASS"),
        ("FPFP", ""),
        ("FPFPFF", "FAIL"),
        ("FPFPPP", "PASS"),
        ("FFBPB", "FAIL"),
        ("WWW", "WRONG_REASON"),
        ("FFW", "WRONG_REASON"),
        ("TTT", "WRONG_REASON"),
        ("FFT", "WRONG_REASON"),
        ("OOO", "WRONG_REASON"),
        ("XXX", "PASS"),
        ("EFEFF", "FAIL"),
        ("EFEFE", "ERROR"),
        ("FFS", "STALE"),
        ("FFU", "UNGRADED"),
        ("M", "TAINTED"),
        ("K", "SKIP"),
        ("FFFEEE", "FAIL"),
        ("FFFPPPP", "FAIL"),
    ],
)
def test_the_broken_side(outcomes: str, verdict: str) -> None:
    assert before(outcomes) == verdict


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ("F", ""),
        ("FF", "FAIL"),
        ("PP", "PASS"),
        ("FP", "INCONCLUSIVE"),
        ("FW", "INCONCLUSIVE"),
        ("WW", "WRONG_REASON"),
        ("EFF", "FAIL"),
    ],
)
def test_the_broken_side_of_a_deterministic_target(outcomes: str, verdict: str) -> None:
    assert before(outcomes, same=True) == verdict


def test_a_time_out_counts_where_it_is_recorded() -> None:
    assert before("TTT", ["timeout"]) == "FAIL"
    assert before("FFF", ["timeout"]) == "WRONG_REASON"


def test_without_recorded_keys_any_score_of_an_evaluator_counts() -> None:
    assert before("FWB", []) == "FAIL"
    assert before("OOO", []) == "WRONG_REASON"
    assert before("TTT", []) == "WRONG_REASON"


def after(outcomes: str, policy: Policy = UNSTATED, *, same: bool = False) -> str:
    judge = after_judge(CASE._replace(policy=policy), deterministic=same)
    return judge(trials(outcomes)).verdict


@pytest.mark.parametrize(
    ("outcomes", "policy", "verdict"),
    [
        ("PPP", Policy(), ""),
        ("PPPP", Policy(), "PASS"),
        ("FF", Policy(), "FAIL"),
        ("EPPEPP", Policy(), "PASS"),
        ("EPPEPE", Policy(), "ERROR"),
        ("PPPPEEE", Policy(), "PASS"),
        ("PPP", Policy(trials=3), "PASS"),
        ("PF", Policy(trials=3), "FAIL"),
        ("PPF", Policy(trials=3, min_pass_rate=0.6), "PASS"),
        ("XXXX", Policy(), "XFAIL"),
        ("PU", Policy(), "UNGRADED"),
    ],
)
def test_the_fixed_side(outcomes: str, policy: Policy, verdict: str) -> None:
    assert after(outcomes, policy) == verdict


def test_the_fixed_side_of_a_deterministic_target() -> None:
    assert after("PP", same=True) == "PASS"
    assert after("PF", same=True) == "INCONCLUSIVE"


def test_a_response_that_came_twice_is_an_error() -> None:
    seen = Observation(response_ids=("msg_1",))
    same = [one._replace(observation=seen) for one in trials("FFFF")]
    judge = before_judge(hits(["reply"]), deterministic=False)
    assert judge(same).verdict == "ERROR"
    assert before_judge(hits(["reply"]), deterministic=True)(same).verdict == "FAIL"


OUTCOMES = st.text("PFWBTXESU", max_size=12)


@given(OUTCOMES, OUTCOMES)
def test_more_trials_change_no_decision(first: str, further: str) -> None:
    for decided in (before, after):
        verdict = decided(first)
        if verdict:
            assert decided(first + further) == verdict


@given(st.text("PF", max_size=7))
def test_the_gate_is_the_fails_before_gate(outcomes: str) -> None:
    expected = {"RED": "FAIL", "GREEN": "PASS", None: ""}
    assert before(outcomes) == expected[fails_before([letter == "F" for letter in outcomes])]


@given(st.text("PFE", max_size=12), st.integers(1, 8), st.booleans(), st.integers(0, 9))
def test_no_trial_is_asked_for_once_it_is_decided(
    outcomes: str, jobs: int, same: bool, least: int
) -> None:
    judge = before_judge(hits(["reply"]), deterministic=same)
    rules = [(judge, before_more(judge, deterministic=same, least=least))]
    judge = after_judge(CASE, deterministic=same)
    rules.append((judge, after_more(CASE, judge, deterministic=same, least=least)))
    for judged, more in rules:
        asked = more(trials(outcomes), jobs)
        graded = len(outcomes.replace("E", ""))
        assert 0 <= asked <= jobs
        if judged(trials(outcomes)) == OPEN:
            assert asked >= 1
        else:
            assert asked <= max(0, least - graded)


def test_all_trials_of_a_gate_that_are_needed_start_at_once() -> None:
    judge = before_judge(hits(["reply"]), deterministic=False)
    assert before_more(judge, deterministic=False)([], 8) == 3
    assert before_more(judge, deterministic=False)(trials("FP"), 8) == 3
    judge = after_judge(CASE, deterministic=False)
    assert after_more(CASE, judge, deterministic=False)([], 8) == 2
    fixed = CASE._replace(policy=Policy(trials=5))
    assert (
        after_more(fixed, after_judge(fixed, deterministic=False), deterministic=False)([], 8) == 5
    )


def test_common_keys_are_those_of_every_failing_trial() -> None:
    assert common_keys(trials("FPB")) == ("reply",)
    assert common_keys(trials("FW")) == ()
    assert common_keys(trials("TTT")) == ()
    assert common_keys(trials("PP")) == ()
