from __future__ import annotations

from typing import Any

import pytest

from guard.errors import PluginError
from guard.evaluators import built_in_evaluators, check_expectation
from guard.model import Case
from guard.results import Observation
from guard.trials.grading import grade
from tests.evaluators.grading import scores_of

TEN = {f"f{n}": n for n in range(10)}
CASE = Case("invoice", "reader", "evals/cases/invoice.md")
NINE_RIGHT = Observation(output={**TEN, "f9": 99})


def graded(expected: dict[str, Any], observation: Observation) -> dict[str, float]:
    return {key: score.value for key, score in scores_of(expected, observation).items()}


def test_all_fields_as_expected() -> None:
    assert graded({"fields": TEN}, Observation(output=TEN)) == {"fields": 1.0}
    more = {**TEN, "extra": "ignored"}
    assert graded({"fields": TEN}, Observation(output=more)) == {"fields": 1.0}


def test_the_raw_ratio_gates_even_where_the_floor_is_met() -> None:
    found = scores_of({"fields": TEN, "min_accuracy": 0.85}, NINE_RIGHT)
    assert {key: score.value for key, score in found.items()} == {
        "fields": 0.9,
        "fields_floor": 1.0,
    }
    assert found["fields"].reason == (
        "floor met, ratio 0.90, 9 of 10 fields as expected: f9 is 99, not 9"
    )
    assert found["fields_floor"].reason.startswith("ratio 0.90 meets the floor of 0.85")


def test_below_the_floor_both_fail() -> None:
    found = scores_of({"fields": TEN, "min_accuracy": 0.95}, NINE_RIGHT)
    assert {key: score.value for key, score in found.items()} == {
        "fields": 0.9,
        "fields_floor": 0.0,
    }
    assert found["fields_floor"].reason.startswith("ratio 0.90 is below the floor of 0.95")


def test_a_ratio_on_the_floor_meets_it() -> None:
    assert graded({"fields": TEN, "min_accuracy": 0.9}, NINE_RIGHT)["fields_floor"] == 1.0


def test_a_ratio_for_display_only_writes_no_key_that_could_fail() -> None:
    expected = {"fields": TEN, "min_accuracy": 0.85, "ratio_gates": False}
    found = scores_of(expected, NINE_RIGHT)
    assert list(found) == ["fields_floor"]
    assert found["fields_floor"].value == 1.0
    assert "ratio 0.90" in found["fields_floor"].reason
    assert "f9 is 99, not 9" in found["fields_floor"].reason


def test_every_stated_key_is_answered_by_a_score() -> None:
    stated: list[dict[str, Any]] = [
        {"fields": TEN},
        {"fields": TEN, "min_accuracy": 0.85},
        {"fields": TEN, "ratio_gates": True},
        {"fields": TEN, "min_accuracy": 0.85, "ratio_gates": False},
        {"fields": TEN, "ratio_gates": False},
    ]
    for expected in stated:
        graded = grade(CASE, expected, Observation(output=TEN), built_in_evaluators())
        assert graded.verdict == "PASS", (expected, graded.reason)
    alone = grade(CASE, {"min_accuracy": 0.5}, Observation(output=TEN), built_in_evaluators())
    assert alone.verdict == "UNGRADED"


def test_without_a_floor_a_ratio_for_display_only_must_still_be_whole() -> None:
    expected = {"fields": TEN, "ratio_gates": False}
    assert graded(expected, NINE_RIGHT) == {"fields_floor": 0.0}
    assert graded(expected, Observation(output=TEN)) == {"fields_floor": 1.0}


def test_the_options_may_stand_inside_the_mapping() -> None:
    inside = {**TEN, "min_accuracy": 0.85}
    assert graded({"fields": inside}, NINE_RIGHT) == {"fields": 0.9, "fields_floor": 1.0}
    inside = {**TEN, "min_accuracy": 0.85, "ratio_gates": False}
    assert graded({"fields": inside}, NINE_RIGHT) == {"fields_floor": 1.0}
    assert check_expectation("fields", inside) is None


def test_an_option_stated_twice_in_two_ways_is_an_error() -> None:
    expected = {"fields": {**TEN, "min_accuracy": 0.85}, "min_accuracy": 0.9}
    with pytest.raises(PluginError, match="`min_accuracy` is stated twice"):
        scores_of(expected, NINE_RIGHT)
    expected["min_accuracy"] = 0.85
    assert graded(expected, NINE_RIGHT)["fields_floor"] == 1.0


@pytest.mark.parametrize(
    ("output", "part"),
    [
        ({"total": 4}, "vendor is missing"),
        ({"total": 3, "vendor": "b"}, 'vendor is "b", not "a"'),
        ({"total": True, "vendor": "a"}, "total is true, not 4"),
        ({"total": float("nan"), "vendor": "a"}, "total is NaN, not 4"),
        ([], "total is missing (it is a list)"),
        ("prose", "(it is text)"),
        (None, "(there is none)"),
    ],
)
def test_fails_and_says_why(output: Any, part: str) -> None:
    expected = {"fields": {"total": 4, "vendor": "a"}}
    score = scores_of(expected, Observation(output=output))["fields"]
    assert score.value < 1.0
    assert part in score.reason


def test_prose_where_json_was_asked_for_scores_nothing() -> None:
    expected = {"fields": {"total": 4}, "min_accuracy": 0.5}
    observation = Observation(reply="The total is 4.", output=None)
    assert graded(expected, observation) == {"fields": 0.0, "fields_floor": 0.0}


def test_a_floor_without_fields_scores_nothing() -> None:
    assert scores_of({"min_accuracy": 0.5}, NINE_RIGHT) == {}


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("fields", {}, "names no field"),
        ("fields", {"min_accuracy": 0.5}, "names no field"),
        ("fields", ["total"], "must be a mapping"),
        ("fields", {"a": float("nan")}, "a: NaN equals nothing"),
        ("fields", {"a": 1, "min_accuracy": 0}, "min_accuracy: must be above 0"),
        ("fields", {"a": 1, "min_accuracy": 1.1}, "at most 1"),
        ("fields", {"a": 1, "min_accuracy": True}, "min_accuracy: must be a number"),
        ("fields", {"a": 1, "ratio_gates": "no"}, "ratio_gates: must be true or false"),
        ("min_accuracy", 0, "must be above 0"),
        ("min_accuracy", "0.5", "must be a number"),
        ("ratio_gates", 0, "must be true or false"),
    ],
)
def test_refuses(key: str, value: Any, part: str) -> None:
    said = check_expectation(key, value)
    assert said is not None
    assert part in said


def test_accepts() -> None:
    assert check_expectation("fields", {"a": None, "b": [1, {"c": True}]}) is None
    assert check_expectation("min_accuracy", 1) is None
    assert check_expectation("ratio_gates", False) is None
