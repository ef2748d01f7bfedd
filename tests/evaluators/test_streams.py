from __future__ import annotations

from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import Observation
from tests.evaluators.grading import reason_of

SAID = Observation(stdout="checked 12 rows\nok\n", stderr="warning: slow disk\n")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("stdout_contains", ["12 rows", "ok\n"]),
        ("stdout_contains", "12 rows"),
        ("stdout_excludes", ["Error", "OK"]),
        ("stderr_contains", ["slow disk"]),
    ],
)
def test_holds(key: str, value: Any) -> None:
    reason_of(key, value, SAID, holds=True)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (
            "stdout_contains",
            ["12 rows", "OK", "13"],
            'stdout doesn\'t contain "OK" or "13"; it ends in "checked 12 rows\\nok"',
        ),
        ("stdout_excludes", ["Error", "ok"], 'stdout contains "ok"'),
        (
            "stderr_contains",
            ["12 rows"],
            'stderr doesn\'t contain "12 rows"; it ends in "warning: slow disk"',
        ),
    ],
)
def test_fails_and_says_why(key: str, value: Any, reason: str) -> None:
    assert reason_of(key, value, SAID, holds=False) == reason


def test_silence_contains_nothing() -> None:
    reason = reason_of("stdout_contains", ["x"], Observation(), holds=False)
    assert reason.endswith("it is empty")


def test_a_long_stream_is_graded_in_full_and_shown_in_part() -> None:
    stream = "head " + "x" * 3_000_000 + " tail"
    reason_of("stdout_contains", ["head", "tail"], Observation(stdout=stream), holds=True)
    reason_of("stdout_excludes", ["tail"], Observation(stdout=stream), holds=False)
    reason_of("stdout_contains", ["absent"], Observation(stdout=stream), holds=False)


@pytest.mark.parametrize("key", ["stdout_contains", "stdout_excludes", "stderr_contains"])
@pytest.mark.parametrize(
    ("value", "part"),
    [
        ([], "must not be empty"),
        ("", "must not be empty"),
        (["a", ""], "[1]: must not be empty"),
        ([400.10], "[0]: must be text, not a number: put it in quotes"),
        ([True], "[0]: must be text, not true/false"),
        ({"a": "b"}, "must be text, not a mapping"),
    ],
)
def test_refuses(key: str, value: Any, part: str) -> None:
    said = check_expectation(key, value)
    assert said is not None
    assert part in said
    assert check_expectation(key, ["a"]) is None
