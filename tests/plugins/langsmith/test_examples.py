"""What an example is made of a case, and when a remote one is still that."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.model import Agent, Case
from guard_langsmith.examples import (
    Example,
    canonical,
    example_of,
    is_whole,
    plain,
    says_the_same,
)

AGENT = Agent("clerk", always={"no_changes": True})
CASE = Case("one", "clerk", "evals/one.md", expected={"total": 5}, blob="b1")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("asked", "inputs"),
    [
        ({"utterance": "hi"}, {"utterance": "hi"}),
        ({"input": {"n": 1}}, {"n": 1}),
        (
            {"input": {"n": 1}, "utterance": "hi", "turns": ("yes", "no")},
            {"n": 1, "utterance": "hi", "turns": ["yes", "no"]},
        ),
        # A dataset's example whose inputs have an utterance.
        ({"input": {"utterance": "hi", "n": 1}, "utterance": "hi"}, {"utterance": "hi", "n": 1}),
        # Nothing is lost where a key of the input is called like ours.
        (
            {"input": {"turns": 3}, "turns": ("yes",)},
            {"input": {"turns": 3}, "turns": ["yes"]},
        ),
    ],
)
def test_what_is_asked_is_its_inputs(asked: dict[str, Any], inputs: dict[str, Any]) -> None:
    assert example_of(AGENT, CASE._replace(**asked)).inputs == inputs


def test_what_must_hold_is_its_outputs_and_where_it_stands_its_metadata() -> None:
    groups: tuple[dict[str, Any], ...] = ({"failing_keys": ["total"], "note": "as ever"},)
    found = example_of(AGENT, CASE._replace(expected_baseline=groups))
    assert found.outputs == {"no_changes": True, "total": 5}
    assert {k: v for k, v in found.metadata.items() if k != "digest"} == {
        "case": "one",
        "agent": "clerk",
        "path": "evals/one.md",
        "blob": "b1",
        "baseline": [{"failing_keys": ["total"], "note": "as ever"}],
    }
    assert found.case == "one"
    assert Example({}, {}, {"case": 3}).case == ""


def test_another_blob_alone_is_no_change_unless_someone_wrote_it_there() -> None:
    old, new = example_of(AGENT, CASE), example_of(AGENT, CASE._replace(blob="b2"))
    assert says_the_same(old, new)
    assert not says_the_same(old._replace(metadata={**old.metadata, "blob": "b3"}), new)
    assert not says_the_same(old._replace(metadata={}), new)
    other = example_of(AGENT, CASE._replace(expected={"total": 5.5}))
    assert not says_the_same(old, other)
    assert is_whole(other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (100, 1e2, True),
        (1, True, False),
        (0, None, False),
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1}, True),
        ([1, 2], [2, 1], False),
        ("1", 1, False),
    ],
)
def test_a_database_may_spell_a_number_otherwise(one: Any, other: Any, same: bool) -> None:
    assert (canonical(one) == canonical(other)) is same


@given(JSON)
def test_what_is_sent_comes_back_as_it_was(value: Any) -> None:
    sent = plain({"value": value})
    there = json.dumps(sent, allow_nan=False, ensure_ascii=False).encode()
    assert b"\\u0000" not in there
    wanted = example_of(AGENT, CASE._replace(input={"value": value}))
    back = Example(*json.loads(json.dumps(list(wanted), allow_nan=False)))
    assert says_the_same(back, wanted)


@given(JSON, JSON)
def test_what_differs_is_told_apart(one: Any, other: Any) -> None:
    first = example_of(AGENT, CASE._replace(input={"value": one}))
    second = example_of(AGENT, CASE._replace(input={"value": other}))
    assert says_the_same(first, second) is (canonical(plain(one)) == canonical(plain(other)))


def test_numbers_that_half_of_the_readers_would_change_are_text() -> None:
    assert plain([2**53, 2**53 + 1, float("nan"), float("inf")]) == [
        2**53,
        str(2**53 + 1),
        "nan",
        "inf",
    ]
