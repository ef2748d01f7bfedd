"""What is expected of a graph's pauses and of its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from guard.plugin import Expectations, Observation, Score
from guard_langgraph.gates import EVALUATORS

GATES, LIMIT = EVALUATORS
ENDED: Mapping[str, Any] = {"paused": False, "gates": 0, "turns_left": 0, "errors": []}
ASKED: Mapping[str, Any] = {
    **ENDED,
    "gates": 1,
    "gate.1.node": "approve",
    "gate.1.shows": {"ask": "post?", "lines": [4, 5]},
}
WAITS: Mapping[str, Any] = {**ASKED, "paused": True}


def score(facts: Mapping[str, Any], *expected: Any) -> Score | None:
    stated = {"gates": expected[0]} if expected else {}
    found = [*GATES.evaluate(Observation(facts=facts), Expectations(stated))]
    assert len(found) <= 1
    return found[0] if found else None


GOOD: list[tuple[Mapping[str, Any], Any]] = [
    (ENDED, []),
    (ASKED, [{}]),
    (WAITS, [{"node": "approve"}]),
    (ASKED, [{"pointer": "/ask", "equals": "post?"}]),
    (ASKED, [{"pointer": "/ask", "contains": "post", "matches": "^p"}]),
    (ASKED, [{"pointer": "/lines/1", "one_of": [5, 6]}]),
    (
        ASKED,
        [
            {
                "node": "approve",
                "shows": [
                    {"pointer": "/ask", "equals": "post?"},
                    {"pointer": "/lines", "equals": [4, 5]},
                ],
            }
        ],
    ),
]


@pytest.mark.parametrize(("facts", "wanted"), GOOD)
def test_pauses_that_are_as_expected_score_1(facts: Mapping[str, Any], wanted: Any) -> None:
    found = score(facts, wanted)
    assert found is not None
    assert (found.key, found.value) == ("gates", 1.0)


WRONG: list[tuple[Mapping[str, Any], Any, str]] = [
    (ENDED, [{}], "it paused 0 times, not 1"),
    (ASKED, [], "it paused once, not 0"),
    (ASKED, [{"node": "post"}], "gate 1 is at approve, not at post"),
    (ASKED, [{"pointer": "/ask", "equals": "no"}], 'gate 1: /ask is "post?", not "no"'),
    (ASKED, [{"equals": 1}], "gate 1: what it shows is {"),
    (
        ASKED,
        [{"shows": [{"pointer": "/sum", "equals": 1}]}],
        "gate 1: there is nothing at /sum",
    ),
    ({**ASKED, "turns_left": 1}, [{}], "1 of the case's `turns` answer nothing"),
]


@pytest.mark.parametrize(("facts", "wanted", "said"), WRONG)
def test_pauses_that_are_not_score_0(facts: Mapping[str, Any], wanted: Any, said: str) -> None:
    found = score(facts, wanted)
    assert found is not None
    assert found.value == 0
    assert found.reason.startswith(said)


def test_a_pause_that_nobody_expects_fails_by_itself() -> None:
    assert score(ENDED) is None
    assert score(ASKED) is None
    waits = score(WAITS)
    assert waits is not None
    assert waits.reason.startswith("it waits at approve for an answer that the case doesn't give")
    unasked = score({**ENDED, "turns_left": 2})
    assert unasked is not None
    assert unasked.reason.startswith("2 of the case's `turns` answer nothing")
    # It never came so far.
    assert score({**ENDED, "turns_left": 2, "errors": ["a.py:1: E"]}) is None


def test_other_targets_are_not_graded() -> None:
    assert score({}) is None
    assert score({}, [{}]) is None
    assert [*LIMIT.evaluate(Observation(), Expectations({}))] == []


def test_a_graph_that_was_stopped_fails_whatever_is_expected() -> None:
    facts = {"recursion_limit_reached": True, "steps": 7, "nodes": ["a", "b", "c", "a", "b"]}
    [found] = LIMIT.evaluate(Observation(facts=facts), Expectations({}))
    assert (found.key, found.value) == ("recursion_limit", 0.0)
    assert found.reason == "stopped after 7 steps: it never ends (b, c, a, b at last)"
    assert LIMIT.never_excuse == ("recursion_limit",)
    done = Observation(facts={"recursion_limit_reached": False})
    assert [*LIMIT.evaluate(done, Expectations({}))] == []


VALUES: list[tuple[Any, str | None]] = [
    ([], None),
    ([{"node": "a", "shows": [{"pointer": "/a", "equals": 1}]}], None),
    ({}, "must be a list with an item for each pause"),
    (["approve"], "0: must be a mapping: node, pointer"),
    ([{}, {"node": ""}], "1: node: must be the name of a node"),
    ([{"pointre": "/a"}], "0: "),
    ([{"pointer": "a"}], "0: pointer: 'a' is not a JSON pointer"),
    ([{"shows": {}}], "0: shows: must be a list"),
    ([{"shows": [{"matches": "("}]}], "0: matches: '(' is not a regular expression"),
]


@pytest.mark.parametrize(("value", "said"), VALUES)
def test_the_expectation_is_checked(value: Any, said: str | None) -> None:
    found = GATES.check("gates", value)
    assert found is None if said is None else (found or "").startswith(said)
