from __future__ import annotations

from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import Observation
from tests.evaluators.grading import reason_of

ANSWER = Observation(
    output={"status": "needs-review", "total": 12, "ok": True, "tags": ["a", 1], "none": None}
)


@pytest.mark.parametrize(
    "item",
    [
        {"pointer": "/status"},
        {"pointer": "/none"},
        {"pointer": "/status", "equals": "needs-review"},
        {"pointer": "/total", "equals": 12.0},
        {"pointer": "/none", "equals": None},
        {"pointer": "", "equals": ANSWER.output},
        {"equals": ANSWER.output},
        {"pointer": "/status", "contains": "review"},
        {"pointer": "/status", "contains": ["needs", "review"]},
        {"pointer": "/tags", "contains": 1},
        {"pointer": "/tags", "contains": ["a", 1]},
        {"pointer": "/status", "matches": "^needs-"},
        {"pointer": "/status", "matches": ["needs", r"w\Z"]},
        {"pointer": "/total", "one_of": [11, 12]},
        {"pointer": "/ok", "one_of": [None, True]},
        {"pointer": "/status", "contains": "needs", "matches": "w$"},
    ],
)
def test_holds(item: dict[str, Any]) -> None:
    assert check_expectation("output", [item]) is None
    reason_of("output", [item], ANSWER, holds=True)


@pytest.mark.parametrize(
    ("item", "part"),
    [
        ({"pointer": "/state"}, "there is nothing at /state"),
        ({"pointer": "/tags/2"}, "there is nothing at /tags/2"),
        ({"pointer": "/status", "equals": "done"}, '/status is "needs-review", not "done"'),
        ({"pointer": "/ok", "equals": 1}, "/ok is true, not 1"),
        ({"pointer": "/none", "equals": False}, "/none is null, not false"),
        ({"pointer": "/status", "contains": ["needs", "x"]}, "which lacks"),
        ({"pointer": "/tags", "contains": True}, "which lacks true"),
        ({"pointer": "/total", "contains": "1"}, "/total is 12, which lacks"),
        ({"pointer": "/status", "contains": 1}, "which lacks 1"),
        ({"pointer": "/status", "matches": "^review"}, "which doesn't match"),
        ({"pointer": "/total", "matches": "12"}, "which doesn't match"),
        ({"pointer": "/total", "one_of": ["12", 13]}, '/total is 12, none of ["12", 13]'),
        ({"pointer": "/ok", "one_of": [1]}, "none of [1]"),
        ({"equals": {}}, "the output is"),
    ],
)
def test_fails_and_says_why(item: dict[str, Any], part: str) -> None:
    assert check_expectation("output", [item]) is None
    assert part in reason_of("output", [item], ANSWER, holds=False)


def test_all_items_are_one_key() -> None:
    good, bad = {"pointer": "/status"}, {"pointer": "/state"}
    reason_of("output", [good, good], ANSWER, holds=True)
    reason_of("output", [good, bad], ANSWER, holds=False)


def test_prose_where_json_was_asked_for_fails() -> None:
    reason = reason_of("output", [{"pointer": ""}], Observation(reply="12"), holds=False)
    assert reason == "there is no structured output"


def test_nan_equals_nothing() -> None:
    observation = Observation(output={"x": float("nan")})
    reason_of("output", [{"pointer": "/x", "equals": 0}], observation, holds=False)
    reason_of("output", [{"pointer": "/x", "one_of": [0]}], observation, holds=False)


REFUSED: list[tuple[Any, str]] = [
    ([], "must not be empty"),
    ({"pointer": ""}, "must be a list, not a mapping"),
    (["/a"], "[0]: must be a mapping"),
    ([{"path": "/a"}], "[0].path: unknown key"),
    ([{"pointer": "/a", "equal": 1}], "did you mean `equals`?"),
    ([{"pointer": "a"}], "not a JSON pointer"),
    ([{"pointer": "/a", "equals": float("nan")}], "NaN equals nothing"),
    ([{"pointer": "/a", "contains": []}], "must not be empty"),
    ([{"pointer": "/a", "contains": ""}], "must not be empty"),
    ([{"pointer": "/a", "matches": "("}], "not a regular expression"),
    ([{"pointer": "/a", "matches": 3}], "must be text"),
    ([{"pointer": "/a", "one_of": []}], "must not be empty"),
    ([{"pointer": "/a", "one_of": 3}], "must be a list"),
]


@pytest.mark.parametrize(("value", "part"), REFUSED)
def test_refuses(value: Any, part: str) -> None:
    said = check_expectation("output", value)
    assert said is not None
    assert part in said
