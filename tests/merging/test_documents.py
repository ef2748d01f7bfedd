"""Three versions of regressions.json, merged record by record."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guard.merging.documents import Unmergeable, write_document
from guard.merging.files import merge_documents
from guard.merging.values import Missing, conflicts_in
from guard.regressions import parse_regressions
from tests.merging.versions import Fields, named, proof, record, text, v1_text

Paths = list[tuple[str, ...]]
Records = dict[str, Fields]


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return the merged text; fail where anything is left to settle."""
    merged = merge_documents(base, ours, theirs)
    assert list(conflicts_in(merged.content)) == []
    return write_document(merged)


def conflicts(base: bytes, ours: bytes, theirs: bytes) -> Paths:
    """Return the paths of what is left to settle, which both sides may ask for."""
    found = list(conflicts_in(merge_documents(base, ours, theirs).content))
    assert sorted(conflicts_in(merge_documents(base, theirs, ours).content)) == sorted(found)
    return found


def one(**fields: Any) -> bytes:
    return text({"x": record("x", **fields)})


# What merges ----------------------------------------------------------------------------


def test_each_side_adds_a_record() -> None:
    merged = merge(text(named("m")), text(named("m", "z")), text(named("a", "m", "zz")))
    assert merged == text(named("a", "m", "z", "zz"))
    assert list(parse_regressions(merged)) == ["a", "m", "z", "zz"]


def test_each_side_adds_an_incident() -> None:
    a, b = {"a": {"summary": "A"}}, {"b": {"summary": "B", "issue": 7}}
    base, ours, theirs = (text(named("m"), incidents=found) for found in ({}, a, b))
    assert merge(base, ours, theirs) == text(named("m"), incidents={**a, **b})


def test_both_add_the_file() -> None:
    assert merge(b"", text(named("b")), text(named("a"))) == text(named("a", "b"))


def test_different_records_change() -> None:
    base = named("a", "b")
    ours, theirs = {**base, "a": record("a", seams=["x"])}, {**base, "b": record("b", claims=["y"])}
    assert merge(text(base), text(ours), text(theirs)) == text(
        {"a": ours["a"], "b": theirs["b"]},
    )


def test_different_keys_of_one_record_change() -> None:
    merged = merge(one(), one(seams=["s"]), one(incident={**record("x")["incident"], "issue": 7}))
    assert merged == one(seams=["s"], incident={**record("x")["incident"], "issue": 7})


def test_one_side_removes_what_the_other_left_alone() -> None:
    assert merge(text(named("a", "b")), text(named("b")), text(named("a", "b", "c"))) == text(
        named("b", "c")
    )


def test_both_say_the_same() -> None:
    assert merge(one(), one(seams=["s"]), one(seams=["s"])) == one(seams=["s"])


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (proof("2026-05-02"), proof("2026-05-03", trials=1)),
        (proof("2026-05-02", trials=4), proof("2026-05-02", trials=7)),
        (proof("2026-05-02", receipt="a"), proof("2026-05-02", receipt="b")),
    ],
    ids=["of a later day", "of more trials", "any, always the same"],
)
def test_of_two_proofs_the_newer(older: Fields, newer: Fields) -> None:
    base = one(proof=None)
    for ours, theirs in ((older, newer), (newer, older)):
        assert merge(base, one(proof=ours), one(proof=theirs)) == one(proof=newer)


def test_a_proof_stays_with_what_it_proves() -> None:
    """Theirs is newer, and proves what ours has changed since."""
    ours = one(fails_on=["fields"], proof=proof("2026-06-01"), reopened=1)
    theirs = one(proof=proof("2026-06-09"))
    assert merge(one(), ours, theirs) == ours
    assert merge(one(), theirs, ours) == ours


def test_the_count_of_fixes_is_the_greater() -> None:
    ours, theirs = (
        one(proof=proof("2026-06-01"), reopened=1),
        one(proof=proof("2026-06-02"), reopened=2),
    )
    assert merge(one(), ours, theirs) == theirs


def test_the_order_of_keys_is_that_of_the_side_that_chose_it() -> None:
    flipped = dict(reversed(record("x", seams=["s"]).items()))
    merged = merge(one(), text({"x": flipped}), one(claims=["c"]))
    assert list(json.loads(merged)["regressions"]["x"]) == list(flipped)


def test_an_order_of_keys_that_both_chose_is_one_of_theirs_whichever_side_it_is() -> None:
    orders = [dict(sorted(record("x").items(), reverse=turned)) for turned in (True, False)]
    ours, theirs = (text({"x": fields}) for fields in orders)
    assert merge(b"", ours, theirs) == merge(b"", theirs, ours)
    assert merge(ours, ours, theirs) == merge(ours, theirs, ours) == theirs


def test_the_list_form_keeps_its_form() -> None:
    a, b, c = ({"id": name, "note": 1} for name in "abc")
    merged = merge(v1_text(b), v1_text(b, c), v1_text(a, {**b, "note": 2}))
    assert merged == v1_text({**b, "note": 2}, a, c)


def test_an_incident_less_file_gets_an_empty_one() -> None:
    bare = b'{"schema": "guard.regressions.v1", "regressions": {}}'
    assert merge(bare, bare.replace(b"{}", b"{ }"), text(named("a"))) == text(named("a"))


# What doesn't ---------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["agent", "case"])
def test_one_key_with_two_values(key: str) -> None:
    assert conflicts(one(), one(**{key: "p"}), one(**{key: "q"})) == [("regressions", "x", key)]


def test_lists_are_not_joined() -> None:
    ours, theirs = one(fails_on=["no_changes", "fields"]), one(fails_on=["command", "no_changes"])
    assert conflicts(one(), ours, theirs) == [("regressions", "x", "fails_on")]


def test_removed_here_and_changed_there() -> None:
    assert conflicts(one(), text({}), one(seams=["s"])) == [("regressions", "x")]


def test_both_add_the_same_id_for_different_cases() -> None:
    ours, theirs = one(case="evals/p.md"), one(case="evals/q.md")
    assert conflicts(text({}), ours, theirs) == [("regressions", "x", "case")]


def test_parts_that_mean_something_together_are_not_mixed() -> None:
    ours = one(before={"kind": "revision", "rev": "v1"})
    theirs = one(before={"kind": "parent", "capsule": "c"})
    assert conflicts(one(), ours, theirs) == [("regressions", "x", "before")]


def test_a_proof_taken_back_and_one_made_anew() -> None:
    assert conflicts(one(), one(proof=None), one(proof=proof("2026-06-01"))) == [
        ("regressions", "x", "proof")
    ]


def test_proofs_of_different_things() -> None:
    ours = one(fails_on=["fields"], proof=proof("2026-06-01"))
    theirs = one(case="evals/y.md", proof=proof("2026-06-02"))
    assert conflicts(one(), ours, theirs) == [("regressions", "x", "proof")]


def test_a_record_is_not_retired_without_its_reason() -> None:
    reason = {"reason": "gone", "date": "2026-06-01", "by": "me"}
    base = one(retirement=reason)
    found = conflicts(base, one(), one(status="retired", retirement=reason))
    assert found == [("regressions", "x", "status"), ("regressions", "x", "retirement")]


def test_true_and_one_are_two_values() -> None:
    assert conflicts(one(), one(claims=[1]), one(claims=[True]))


# A base that is itself a conflict -------------------------------------------------------

INNER = """\
<<<<<<<<< Temporary merge branch 1
        "summary": "left",
=========
        "summary": "right",
>>>>>>>>> Temporary merge branch 2
"""


def torn_base(*more: str) -> bytes:
    """Return what git gives for a virtual ancestor: a file with the inner merge's markers."""
    whole = text({"x": record("x"), **named(*more)}).decode()
    return whole.replace('        "summary": "It forgot x.",\n', INNER, 1).encode()


def said(summary: str) -> Fields:
    return record("x", incident={**record("x")["incident"], "summary": summary})


def test_what_the_base_does_not_know_merges_where_both_agree() -> None:
    ours, theirs = {"x": said("settled"), **named("y")}, {"x": said("settled"), **named("z")}
    assert merge(torn_base(), text(ours), text(theirs)) == text({**ours, **theirs})


def test_what_the_base_does_not_know_is_no_ones_old_value() -> None:
    summary = ("regressions", "x", "incident", "summary")
    for other in ("left", "right", "settled"):
        ours, theirs = text({"x": said("mine")}), text({"x": said(other)})
        assert conflicts(torn_base(), ours, theirs) == [summary]


def test_what_the_base_does_know_merges_as_ever() -> None:
    ours, theirs = {"x": said("s"), **named("y")}, {"x": said("s")}
    assert merge(torn_base("y", "z"), text(ours), text({**theirs, **named("y", "z")})) == text(ours)


#: Python reads them, JSON has no such numbers.
NO_NUMBERS = (b"1e400", b"-1e400", b"NaN", b"Infinity")


# What is no such file -------------------------------------------------------------------


@pytest.mark.parametrize(
    "side",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"schema": "guard.regressions.v1", "regressions": []}',
        b'{"schema": "guard.regressions.v1", "regressions": {"a": 1, "a": 2}}',
        b'{"schema": "guard.regressions.v1", "regressions": {"\\ud800": 1}}',
        b'{"schema": "guard.regressions.v9", "regressions": {}}',
        v1_text({"id": "a"}),
        b"[" * 100_000,
        *(one().replace(b'"incident"', b'"x": %s, "incident"' % n) for n in NO_NUMBERS),
        torn_base(),
    ],
)
def test_what_cannot_be_merged_by_record(side: bytes) -> None:
    for versions in ((side, one()), (one(), side)):
        with pytest.raises(Unmergeable):
            merge_documents(one(), *versions)


# Any versions ---------------------------------------------------------------------------

VALUES = {
    "fails_on": st.sampled_from([["a"], ["b"], ["a", "b"]]),
    "seams": st.sampled_from([[], ["s"], ["t"]]),
    "status": st.just("active"),
    "incident": st.fixed_dictionaries({"summary": st.sampled_from("pqr")}),
    "proof": st.none() | st.builds(proof, st.sampled_from(["2026-05-01", "2026-05-02"])),
}
RECORDS = st.dictionaries(st.sampled_from("abcdef"), st.fixed_dictionaries(VALUES))


def leaves(records: Records) -> dict[tuple[str, str], str]:
    """Return every (id, key) with its value as text; a record that is there has one for its id."""
    found = {(name, ""): "there" for name in records}
    return found | {
        (name, key): json.dumps(value)
        for name, one in records.items()
        for key, value in one.items()
    }


@settings(max_examples=300, deadline=None)
@given(RECORDS, RECORDS, RECORDS)
def test_any_merge_keeps_each_sides_changes_and_loses_nothing(
    base: Records, ours: Records, theirs: Records
) -> None:
    merged = merge_documents(*map(text, (base, ours, theirs)))
    swapped = merge_documents(*map(text, (base, theirs, ours)))
    unsettled = set(conflicts_in(merged.content))
    assert set(conflicts_in(swapped.content)) == unsettled
    if not unsettled:
        assert write_document(merged) == write_document(swapped)
        assert text(dict(merged.content["regressions"])) == write_document(merged)
    told = {path[1:3] for path in unsettled}
    there = merged.content["regressions"]
    for place, old, left, right in places(base, ours, theirs):
        name, key = place
        if (name,) in told or place in told:
            continue
        found = value_of(there, name, key)
        wanted = {left, right} if left == right else {right} if left == old else {left}
        if right != old != left and left != right:
            # Both changed it and no conflict is told: only a proof may be chosen so.
            assert key == "proof"
            assert found in (left, right)
        else:
            assert {found} == wanted, place


def places(*versions: Records) -> list[tuple[tuple[str, str], str, str, str]]:
    base, ours, theirs = map(leaves, versions)
    every = {*base, *ours, *theirs}
    return [(p, base.get(p, ""), ours.get(p, ""), theirs.get(p, "")) for p in every]


def value_of(records: dict[str, Any], name: str, key: str) -> str:
    found = records.get(name, Missing.ABSENT)
    if found is Missing.ABSENT:
        return ""
    return json.dumps(found[key]) if key else "there"
