from __future__ import annotations

from typing import Any

import pytest

from guard.trials.baseline import Excuse, excuse, same

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
    [(1, 1.0, True), (True, 1, False), (False, 0, False), ("1", 1, False), (None, None, True)],
)
def test_values_are_equal_as_in_json(one: object, other: object, equal: bool) -> None:
    assert same(one, other) is equal
