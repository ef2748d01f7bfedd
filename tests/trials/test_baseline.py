from __future__ import annotations

from typing import Any

import pytest

from guard.trials.baseline import Excuse, excuse, found_passing, same

SMALL = {"failing_keys": ["a", "b"], "only_when": {"model": "small"}}
ANYWHERE = {"failing_keys": ["c"], "note": "known"}


@pytest.mark.parametrize(
    ("failing", "facts", "excused"),
    [
        ((), {"model": "small"}, ()),
        (("a",), {"model": "small"}, ("a",)),
        (("b", "a"), {"model": "small"}, ("b", "a")),
        (("a", "x"), {"model": "small"}, ("a",)),
        (("a",), {"model": "large"}, ()),
        (("a", "c"), {"model": "large"}, ("c",)),
    ],
)
def test_a_key_is_excused_by_a_group_that_holds(
    failing: tuple[str, ...], facts: dict[str, Any], excused: tuple[str, ...]
) -> None:
    assert excuse([SMALL, ANYWHERE], failing, facts) == Excuse(excused)


def test_all_facts_of_a_group_must_be_equal() -> None:
    group = {"failing_keys": ["a"], "only_when": {"x": 1, "y": [1, {"z": None}]}}
    assert excuse([group], ["a"], {"x": 1, "y": [1, {"z": None}]}).excused == ("a",)
    assert excuse([group], ["a"], {"x": 1, "y": [1]}).excused == ()


def test_a_fact_that_was_never_set_is_told() -> None:
    assert excuse([SMALL], ["a"], {}) == Excuse((), ("model",))
    assert excuse([SMALL], [], {"other": 1}).missing_facts == ("model",)


def test_what_the_engine_and_an_evaluator_keep_back_is_never_excused() -> None:
    group = {"failing_keys": ["timeout", "orphans", "a", "b"]}
    failing = ["timeout", "orphans", "a", "b"]
    assert excuse([group], failing, {}, never=["a"]).excused == ("b",)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        ("1", 1, False),
        (None, None, True),
        ([1, 2], (1, 2), True),
        ([1, 2], [2, 1], False),
        ([1], [1, 2], False),
        ([True], [1], False),
        ({"a": [0]}, {"a": [0.0]}, True),
        ({"a": [0]}, {"a": [False]}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({}, [], False),
    ],
)
def test_values_are_equal_as_in_json(one: object, other: object, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal


@pytest.mark.parametrize(
    ("group", "scores", "found"),
    [
        ({"failing_keys": ["a", "b"]}, {"a": 1, "b": 1}, {"a", "b"}),
        ({"failing_keys": ["a", "b"]}, {"a": 1, "b": 0.9}, ()),
        ({"failing_keys": ["a", "b"]}, {"a": 1}, ()),
        ({"failing_keys": ["a"], "intermittent": True}, {"a": 1}, ()),
        ({"failing_keys": ["a"], "intermittent": False}, {"a": 1}, {"a"}),
        ({"failing_keys": ["a"], "only_when": {"n": 1}}, {"a": 1}, ()),
        ({"failing_keys": ["a"], "only_when": {"n": True}}, {"a": 1}, {"a"}),
        ({"failing_keys": []}, {"a": 1}, ()),
    ],
)
def test_a_steady_group_that_holds_finds_its_keys_passing(
    group: dict[str, Any], scores: dict[str, float], found: set[str]
) -> None:
    assert found_passing([group], scores.items(), {"n": True}) == frozenset(found)


def test_a_key_that_was_scored_twice_passed_where_both_scores_did() -> None:
    group = {"failing_keys": ["a"]}
    assert found_passing([group], [("a", 1.0), ("a", 0.5)], {}) == frozenset()
    assert found_passing([group], [("a", 1.0), ("a", 1.0)], {}) == {"a"}
