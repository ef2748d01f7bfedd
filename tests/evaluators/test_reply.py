from __future__ import annotations

from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import Observation
from tests.evaluators.grading import reason_of

ASKED = Observation(reply="Is that 400 EUR?\nI have changed nothing.", stdout="something else")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("reply_contains", ["400 EUR", "changed nothing"]),
        ("reply_contains", "EUR"),
        ("reply_excludes", ["converted", "eur", "something else"]),
        ("reply_matches", [r"^Is that \d+", r"nothing\.$"]),
        ("reply_matches", r"(?i)eur"),
    ],
)
def test_holds(key: str, value: Any) -> None:
    reason_of(key, value, ASKED, holds=True)


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("reply_contains", ["USD"], 'the reply doesn\'t contain "USD"; it ends in "'),
        ("reply_contains", ["something else"], 'doesn\'t contain "something else"'),
        ("reply_excludes", ["EUR", "USD"], 'the reply contains "EUR"'),
        ("reply_matches", [r"^I have"], 'the reply doesn\'t match "^I have"'),
        ("reply_matches", [r"EUR", r"eur"], 'doesn\'t match "eur"'),
    ],
)
def test_fails_and_says_why(key: str, value: Any, part: str) -> None:
    assert part in reason_of(key, value, ASKED, holds=False)


def test_patterns_have_no_flags() -> None:
    reason_of("reply_matches", r"that.*changed", ASKED, holds=False)
    reason_of("reply_matches", r"(?s)that.*changed", ASKED, holds=True)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (["("], "is not a regular expression"),
        (["a{4294967296}"], "is not a regular expression"),
        (["a", ".*"], "[1]: '.*' matches any text"),
        (["x?"], "matches any text"),
        (["^"], "matches any text"),
        ([], "must not be empty"),
        ("", "must not be empty"),
        ([3], "must be text"),
    ],
)
def test_refuses_patterns_that_are_none_or_can_never_fail(value: Any, part: str) -> None:
    said = check_expectation("reply_matches", value)
    assert said is not None
    assert part in said


@pytest.mark.parametrize("value", ["^$", r"\d", r"(?i)sorry|ask", r"\A\s*\Z", "."])
def test_accepts_patterns_that_some_reply_fails(value: str) -> None:
    assert check_expectation("reply_matches", [value]) is None


@pytest.mark.parametrize("key", ["reply_contains", "reply_excludes"])
def test_refuses_texts_that_say_nothing(key: str) -> None:
    assert check_expectation(key, [])
    assert check_expectation(key, [""])
    assert check_expectation(key, ["ask"]) is None
