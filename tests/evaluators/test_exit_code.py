from __future__ import annotations

from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import Observation
from tests.evaluators.grading import reason_of, scores_of


def test_holds_and_fails() -> None:
    reason_of("exit_code", 3, Observation(exit_status=3), holds=True)
    reason_of("exit_code", 0, Observation(exit_status=0), holds=True)
    reason = reason_of("exit_code", 0, Observation(exit_status=3), holds=False)
    assert reason == "exit status 3, not 0"


def test_a_target_that_cannot_tell_gives_no_score() -> None:
    assert scores_of({"exit_code": 0}, Observation(exit_status=None)) == {}


@pytest.mark.parametrize("value", [0, 1, 125, 128, 255])
def test_accepts(value: int) -> None:
    assert check_expectation("exit_code", value) is None


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (-1, "at least 0"),
        (256, "at most 255"),
        (True, "whole number"),
        (0.0, "whole number"),
        ("0", "whole number"),
        (126, "never graded"),
        (127, "never graded"),
    ],
)
def test_refuses(value: Any, part: str) -> None:
    said = check_expectation("exit_code", value)
    assert said is not None
    assert part in said
