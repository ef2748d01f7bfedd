"""Known failures of a typewriter that proposes schema types, each excused and not excused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from guard.model import ERROR, FAIL, PASS, XFAIL, XPASS, Case, Policy
from guard.plugin.api import Evaluator, Expectations
from guard.results import Observation, Score, TrialResult
from guard.trials.grading import grade
from guard.verdict import judge_case

#: It proposes nothing for a scan without text: seen, and not mended yet.
SILENT = {
    "failing_keys": ["schema_type", "confidence"],
    "only_when": {"n_proposals": 0},
    "note": "proposes nothing for a scan without text",
}
#: The document is an invoice, and asks for no more than two proposals.
EXPECTED: Mapping[str, Any] = {"schema_type": "Invoice", "confidence": 0.8, "most_proposals": 2}


def score_type(observation: Observation, expected: Expectations) -> Iterable[Score]:
    proposals: Sequence[Mapping[str, Any]] = observation.output or ()
    right = [p for p in proposals if p["type"] == expected["schema_type"]]
    yield Score("schema_type", float(bool(right)), f"proposed {len(proposals)}")
    sure = max((float(p["confidence"]) for p in right), default=0.0)
    yield Score("confidence", float(sure >= float(expected["confidence"])))


def bound_fabrication(observation: Observation, expected: Expectations) -> Iterable[Score]:
    proposals: Sequence[Any] = observation.output or ()
    yield Score("most_proposals", float(len(proposals) <= int(expected["most_proposals"])))


EVALUATORS = (
    Evaluator(
        "typed",
        score_type,
        reads=("schema_type", "confidence"),
        writes=("schema_type", "confidence"),
    ),
    Evaluator(
        "anti-fabrication",
        bound_fabrication,
        reads=("most_proposals",),
        writes=("most_proposals",),
        never_excuse=("most_proposals",),
    ),
)
RIGHT = ({"type": "Invoice", "confidence": 0.9},)
WRONG = ({"type": "Receipt", "confidence": 0.9},)
UNSURE = ({"type": "Invoice", "confidence": 0.5},)
NOTHING: tuple[Mapping[str, Any], ...] = ()
MADE_UP = tuple({"type": name, "confidence": 0.1} for name in ("Order", "Tax", "Will"))


def case_with(*groups: Mapping[str, Any]) -> Case:
    return Case("scan", "typewriter", "evals/scan.md", expected=EXPECTED, expected_baseline=groups)


def ran(case: Case, *outputs: Sequence[Mapping[str, Any]]) -> list[TrialResult]:
    """Return the graded trials of a typewriter that proposed this."""
    found: list[TrialResult] = []
    for number, output in enumerate(outputs, start=1):
        seen = Observation(output=output, facts={"n_proposals": len(output)})
        one = grade(case, EXPECTED, seen, EVALUATORS)
        result = TrialResult(case.id, number, one.verdict, one.scores, one.reason, seen)
        found.append(result._replace(failing=one.failing, excused=one.excused))
    return found


def judged(case: Case, *outputs: Sequence[Mapping[str, Any]], rate: float = 1.0) -> str:
    trials = ran(case, *outputs)
    return judge_case(case, trials, Policy(trials=len(trials), min_pass_rate=rate)).verdict


def test_what_is_known_is_excused_and_shown_apart() -> None:
    assert judged(case_with(SILENT), NOTHING, NOTHING) == XFAIL
    assert judged(case_with(), NOTHING, NOTHING) == FAIL


@pytest.mark.parametrize("output", [WRONG, UNSURE])
def test_a_wrong_value_under_another_condition_is_still_red(
    output: Sequence[Mapping[str, Any]],
) -> None:
    case = case_with(SILENT)
    (trial,) = ran(case, output)
    assert trial.verdict == FAIL
    assert trial.excused == ()
    assert judged(case, NOTHING, output) == FAIL
    # The same baseline without its condition would have let it pass.
    wide = {**SILENT, "only_when": {}}
    assert judged(case_with(wide), output, output) == XFAIL


def test_the_unexcused_key_is_named_and_the_excused_one_is_not() -> None:
    half = {"failing_keys": ["confidence"], "only_when": {"n_proposals": 0}}
    (trial,) = ran(case_with(half), NOTHING)
    assert trial.verdict == FAIL
    assert trial.excused == ("confidence",)
    assert trial.reason == "schema_type: proposed 0"


def test_the_anti_fabrication_bound_is_never_excused() -> None:
    stated = {"failing_keys": ["most_proposals", "schema_type", "confidence"]}
    (trial,) = ran(case_with(stated), MADE_UP)
    assert trial.verdict == FAIL
    assert trial.excused == ("schema_type", "confidence")
    assert trial.reason == "most_proposals"
    # The same group excuses what may be excused.
    assert judged(case_with(stated), WRONG, WRONG) == XFAIL


def test_a_steady_excuse_that_outlived_its_defect_is_red() -> None:
    always = {"failing_keys": ["schema_type", "confidence"]}
    assert judged(case_with(always), RIGHT, RIGHT) == XPASS
    assert judged(case_with(always), RIGHT, WRONG) == XFAIL
    # Not in the situation that it is about, so that nothing is known of it.
    assert judged(case_with(SILENT), RIGHT, RIGHT) == PASS


def test_one_key_of_two_that_passes_again_is_no_xpass() -> None:
    both = {"failing_keys": ["schema_type", "confidence"]}
    assert judged(case_with(both), UNSURE, UNSURE) == XFAIL
    alone = {"failing_keys": ["schema_type"]}, {"failing_keys": ["confidence"]}
    assert judged(case_with(*alone), UNSURE, UNSURE) == XPASS


def test_an_intermittent_miss_is_never_red_and_its_absence_never_xpass() -> None:
    flaky = {"failing_keys": ["confidence"], "intermittent": True}
    assert judged(case_with(flaky), UNSURE, RIGHT) == XFAIL
    assert judged(case_with(flaky), UNSURE, UNSURE) == XFAIL
    assert judged(case_with(flaky), RIGHT, RIGHT) == PASS
    assert judged(case_with(flaky), RIGHT, WRONG) == FAIL


def test_the_rate_counts_the_excused_and_not_the_unexcused() -> None:
    case = case_with(SILENT)
    assert judged(case, NOTHING, NOTHING, RIGHT, WRONG, rate=0.75) == XFAIL
    assert judged(case, NOTHING, RIGHT, WRONG, WRONG, rate=0.75) == FAIL
    assert judged(case_with(), NOTHING, NOTHING, RIGHT, WRONG, rate=0.75) == FAIL


def test_a_fact_that_the_target_never_sets_is_an_error_whatever_was_scored() -> None:
    mistyped = {**SILENT, "only_when": {"n_proposal": 0}}
    for output in (RIGHT, WRONG, NOTHING):
        (trial,) = ran(case_with(mistyped), output)
        assert trial.verdict == ERROR
        assert trial.reason.endswith("facts that the target never set: n_proposal")


def test_a_condition_is_equal_as_json_is() -> None:
    no_bool = {**SILENT, "only_when": {"n_proposals": False}}
    assert judged(case_with(no_bool), NOTHING, NOTHING) == FAIL
    a_float = {**SILENT, "only_when": {"n_proposals": 0.0}}
    assert judged(case_with(a_float), NOTHING, NOTHING) == XFAIL
