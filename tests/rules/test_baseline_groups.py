"""What counts as added to a baseline, and what stays in force while it isn't accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy as Strategy

from guard.rules.baseline_groups import added_groups, describe_group, groups_in_force, without_prose
from guard.trials.baseline import excuse

Group = Mapping[str, Any]

TYPE: Group = {"failing_keys": ["type"]}
BOTH: Group = {"failing_keys": ["type", "amount"]}
WHERE_NONE: Group = {**TYPE, "only_when": {"n_proposals": 0}}
WHERE_NONE_OF_SMALL: Group = {**TYPE, "only_when": {"n_proposals": 0, "model": "small"}}
FLAKY: Group = {**TYPE, "intermittent": True}

#: Old groups, new groups: the new ones excuse no more, the other way round they do.
NARROWER: Mapping[str, tuple[list[Group], list[Group]]] = {
    "no group": ([TYPE], []),
    "a key less": ([BOTH], [TYPE]),
    "a condition": ([TYPE], [WHERE_NONE]),
    "a fact more": ([WHERE_NONE], [WHERE_NONE_OF_SMALL]),
    "steady": ([FLAKY], [TYPE]),
    "two groups of one": ([BOTH], [TYPE, {"failing_keys": ["amount"]}]),
    "one of two": ([TYPE, {"failing_keys": ["amount"]}], [TYPE]),
}
#: Neither excuses more than the other.
EQUAL: Mapping[str, tuple[list[Group], list[Group]]] = {
    "prose": ([TYPE], [{**TYPE, "note": "known", "observed_in": "0123456789abcdef"}]),
    "order": ([BOTH], [{"failing_keys": ["amount", "type"]}]),
    "equal in JSON": ([WHERE_NONE], [{**TYPE, "only_when": {"n_proposals": 0.0}}]),
    "what is the default": ([TYPE], [{**TYPE, "only_when": {}, "intermittent": False}]),
}


@pytest.mark.parametrize("name", NARROWER)
def test_what_excuses_less_adds_nothing_and_the_other_way_round_it_does(name: str) -> None:
    wide, narrow = NARROWER[name]
    assert added_groups(wide, narrow) == []
    assert added_groups(narrow, wide) != []


@pytest.mark.parametrize("name", EQUAL)
def test_what_says_the_same_adds_nothing(name: str) -> None:
    one, other = EQUAL[name]
    assert added_groups(one, other) == added_groups(other, one) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([TYPE], [{"failing_keys": ["amount"]}]),
        ([WHERE_NONE], [{**TYPE, "only_when": {"n_proposals": 1}}]),
        ([WHERE_NONE], [{**TYPE, "only_when": {"n_proposals": False}}]),
        # Two steady excuses joined are told to be outlived less often.
        ([TYPE, {"failing_keys": ["amount"]}], [BOTH]),
    ],
)
def test_another_excuse_is_an_added_one(old: list[Group], new: list[Group]) -> None:
    assert added_groups(old, new) == new


def test_only_what_is_added_is_named() -> None:
    assert added_groups([TYPE], [TYPE, FLAKY, WHERE_NONE]) == [FLAKY]


@pytest.mark.parametrize(
    ("old", "new", "in_force"),
    [
        ([], [TYPE], ()),
        ([TYPE], [BOTH], (TYPE,)),
        ([WHERE_NONE], [TYPE], (WHERE_NONE,)),
        ([TYPE], [FLAKY], (TYPE,)),
        # What is taken out is no longer asked about, whatever else is added.
        ([TYPE], [{"failing_keys": ["amount"]}], ()),
        ([TYPE, {"failing_keys": ["amount"]}], [{"failing_keys": ["amount", "sum"]}], None),
        ([BOTH], [TYPE], (TYPE,)),
        ([TYPE], [], ()),
    ],
)
def test_while_anything_is_added_the_old_baseline_is_in_force(
    old: list[Group], new: list[Group], in_force: tuple[Group, ...] | None
) -> None:
    expected = (old[1],) if in_force is None else in_force
    assert groups_in_force(old, new) == expected


def test_a_group_is_described_in_words() -> None:
    group = {**BOTH, "only_when": {"n_proposals": 0, "model": "small"}, "intermittent": True}
    assert describe_group(group) == (
        'amount, type where n_proposals is 0 and model is "small", now and then'
    )
    assert describe_group(TYPE) == "type"


def test_prose_is_left_out() -> None:
    assert without_prose([{**TYPE, "note": "x", "observed_in": "y"}]) == [dict(TYPE)]


facts_of: Strategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(("n", "m")), st.sampled_from((0, False, 1, True))
)
groups_of: Strategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {"failing_keys": st.lists(st.sampled_from(("a", "b", "c")), min_size=1)},
        optional={"only_when": facts_of, "intermittent": st.booleans()},
    ),
    max_size=3,
)


@given(groups_of, groups_of, st.fixed_dictionaries({n: st.sampled_from((0, 1)) for n in "nm"}))
def test_what_is_in_force_excuses_nothing_that_was_not_excused(
    old: list[dict[str, Any]], new: list[dict[str, Any]], facts: dict[str, Any]
) -> None:
    before = excuse(old, "abc", facts).excused
    assert set(excuse(groups_in_force(old, new), "abc", facts).excused) <= set(before)
    if not added_groups(old, new):
        assert groups_in_force(old, new) == tuple(new)
