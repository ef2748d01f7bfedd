from __future__ import annotations

from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import Observation
from tests.evaluators.grading import reason_of, scores_of


@pytest.mark.parametrize(
    ("key", "value", "observation"),
    [
        ("no_permission_denials", True, Observation(permission_denials=())),
        ("max_cost_usd", 0.5, Observation(cost_usd=0.5)),
        ("max_cost_usd", 0, Observation(cost_usd=0.0)),
        ("max_seconds", 10, Observation(seconds=10.0)),
        ("max_turns", 3, Observation(turns=3)),
    ],
)
def test_holds_up_to_the_limit(key: str, value: Any, observation: Observation) -> None:
    assert check_expectation(key, value) is None
    reason_of(key, value, observation, holds=True)


@pytest.mark.parametrize(
    ("key", "value", "observation", "reason"),
    [
        (
            "no_permission_denials",
            True,
            Observation(permission_denials=("Bash", "Write")),
            "2 permissions denied: Bash, Write",
        ),
        ("max_cost_usd", 0.5, Observation(cost_usd=0.5001), "it cost $0.5001, more than $0.5"),
        ("max_seconds", 10, Observation(seconds=10.1), "it took 10.1 s, more than 10 s"),
        ("max_turns", 1, Observation(turns=2), "it took 2 turns, more than 1"),
    ],
)
def test_fails_above_it(key: str, value: Any, observation: Observation, reason: str) -> None:
    assert reason_of(key, value, observation, holds=False) == reason


@pytest.mark.parametrize(
    ("key", "value"), [("no_permission_denials", True), ("max_cost_usd", 1), ("max_turns", 5)]
)
def test_a_target_that_cannot_tell_gives_no_score(key: str, value: Any) -> None:
    assert scores_of({key: value}, Observation()) == {}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("no_permission_denials", False),
        ("no_permission_denials", 1),
        ("max_cost_usd", -0.01),
        ("max_cost_usd", float("nan")),
        ("max_cost_usd", float("inf")),
        ("max_cost_usd", "1"),
        ("max_cost_usd", True),
        ("max_seconds", 0),
        ("max_seconds", -5),
        ("max_seconds", float("inf")),
        ("max_turns", 0),
        ("max_turns", 1.5),
        ("max_turns", True),
    ],
)
def test_refuses(key: str, value: Any) -> None:
    assert check_expectation(key, value)
