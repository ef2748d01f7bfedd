"""Retained cases that move, and files that say the same in another form; records that say less."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guard.errors import ConfigError
from tests.guarded_repo import (
    CASE,
    CASE_TEXT,
    FIXED_SKILL,
    GUARD_YAML,
    RECORDS,
    SKILL,
    record,
    records,
)
from tests.judged_repo import Bench, Files

OTHER_CASE = CASE_TEXT.replace("eur-taxi", "other")
TRAVEL = GUARD_YAML.split("agents:\n")[1].replace("expense", "travel").replace("cases/", "travel/")
OVER = {"reason": "the client is gone", "date": "2031-01-01"}


def blocking(bench: Bench, files: Files, message: str = "test: x") -> list[str]:
    return [violation.message for violation in bench.judge(files, message).blocking]


# The same in another form -----------------------------------------------------------------

SAME_CASE = {
    "line ends": CASE_TEXT.replace("\n", "\r\n"),
    "a byte order mark": "\ufeff" + CASE_TEXT,
    "block style": CASE_TEXT.replace("[euro]", "\n    - euro"),
    "flow style": CASE_TEXT.replace(
        "expected:\n  no_changes: true\n  reply_contains: [euro]",
        "expected: {no_changes: true, reply_contains: [euro]}",
    ),
    "an anchor": CASE_TEXT.replace("[euro]", "&said [euro]"),
    "quotes and comments": CASE_TEXT.replace("id: eur-taxi", "# by hand\n\"id\": 'eur-taxi'  # it"),
    "a folded text": CASE_TEXT.replace(
        "utterance: EuroStar taxis were 400 euro",
        "utterance: >-\n  EuroStar taxis\n  were 400 euro",
    ),
}


@pytest.mark.parametrize("form", SAME_CASE)
def test_a_case_in_another_form_is_no_weaker_and_no_new_case(retained: Bench, form: str) -> None:
    assert SAME_CASE[form] != CASE_TEXT
    judgement = retained.judge({CASE: SAME_CASE[form]}, "style: case")
    assert judgement.violations == ()
    assert judgement.notes == ()
    found = retained.judge({SKILL: FIXED_SKILL, CASE: SAME_CASE[form]}).blocking
    assert [violation.rule for violation in found] == ["fix-needs-case"]
    assert "only its prose, order or place changed" in found[0].detail[0]


def test_a_case_in_another_form_hides_no_loss(retained: Bench) -> None:
    for text in SAME_CASE.values():
        weaker = text.replace("no_changes: true", "max_turns: 3")
        assert retained.rules({CASE: weaker}, "style: case") == ["case-weakened"]


def test_records_in_another_form_lose_nothing(retained: Bench) -> None:
    retained.repo.commit("test: other", {"evals/cases/other.md": OTHER_CASE})
    both = json.loads(records(eur_taxi=record(), other=record(case="evals/cases/other.md")))
    retained.repo.commit("test: both", {RECORDS: json.dumps(both, indent=2) + "\n"})
    for text in (
        json.dumps(both),
        json.dumps(both, indent=8, ensure_ascii=False) + "\n\n",
        json.dumps(both, indent=2, sort_keys=True).replace("\n", "\r\n"),
    ):
        assert retained.judge({RECORDS: text}, "style: records").violations == ()
    turned = {**both, "regressions": dict(reversed(both["regressions"].items()))}
    assert retained.judge({RECORDS: json.dumps(turned)}, "style: records").violations == ()
    turned["regressions"]["other"]["claims"] = ["asks-first"]
    (warned,) = retained.judge({RECORDS: json.dumps(turned)}, "style: records").violations
    assert warned.warning
    assert "is not sorted by id" in warned.message


# Moves ------------------------------------------------------------------------------------


def test_a_case_that_moves_to_another_agents_folder_is_lost_to_its_own(retained: Bench) -> None:
    files = {"guard.yaml": GUARD_YAML + TRAVEL, "skills/travel/SKILL.md": "x\n"}
    retained.repo.commit("chore: two", {**files, "evals/cases/other.md": OTHER_CASE})
    moved = "evals/travel/eur-taxi.md"
    found = retained.judge({CASE: None, moved: CASE_TEXT}, "test: move").blocking
    assert "and it was agent expense's and is travel's" in found[0].detail
    agent = records(eur_taxi=record(case=moved, agent="travel"))
    found = retained.judge({RECORDS: agent}, "test: move").blocking
    assert [violation.rule for violation in found] == ["case-weakened"]
    message = "test: move\n\nCase-Weakened: eur-taxi: travel books taxis now"
    assert retained.rules({}, message) == []


def test_a_case_that_is_split_over_several_files_is_weaker(retained: Bench) -> None:
    first = CASE_TEXT.replace("  no_changes: true\n", "")
    second = OTHER_CASE.replace("  reply_contains: [euro]\n", "")
    (said,) = blocking(retained, {CASE: first, "evals/cases/other.md": second})
    assert said == "the retained case eur-taxi gets weaker: expected.no_changes is gone"
    whole = CASE_TEXT.replace("Nobody", "Once more: nobody")
    assert blocking(retained, {CASE: whole, "evals/cases/other.md": second}) == []


def test_a_case_that_gets_another_id_is_named(retained: Bench) -> None:
    (said,) = blocking(retained, {CASE: OTHER_CASE})
    assert said == "the retained case eur-taxi gets weaker: record eur-taxi names other instead"
    named = records(other=record())
    found = blocking(retained, {CASE: OTHER_CASE, RECORDS: named})
    assert found == [
        "record eur-taxi is deleted, and its record in regressions.json is not retired"
    ]


def test_a_case_goes_with_its_retirement(retained: Bench) -> None:
    retained.repo.commit("test: other", {"evals/cases/other.md": OTHER_CASE})
    assert blocking(retained, {CASE: None})
    retired = records(eur_taxi=record(status="retired", retirement=OVER))
    assert blocking(retained, {RECORDS: retired}) == []


def test_a_file_in_a_format_that_nothing_reads_is_no_case(retained: Bench) -> None:
    config = GUARD_YAML.replace("[evals/cases/*.md]", "[evals/cases/*]")
    retained.repo.commit("chore: all files", {"guard.yaml": config})
    as_json = json.dumps({"id": "eur-taxi", "expected": {"no_changes": True}})
    moved = records(eur_taxi=record(case="evals/cases/eur-taxi.json"))
    files = {CASE: None, "evals/cases/eur-taxi.json": as_json, RECORDS: moved}
    with pytest.raises(ConfigError, match=r"eur-taxi\.json:1: examples: not a dataset"):
        retained.judge(files, "test: json")


# Records ----------------------------------------------------------------------------------


def keys(*names: str, **changed: Any) -> str:
    return records(eur_taxi=record(fails_on=list(names), **changed))


def test_a_record_that_asks_less_of_its_proof_needs_a_trailer(retained: Bench) -> None:
    retained.repo.commit("test: two keys", {RECORDS: keys("no_changes", "reply_contains")})
    less = {RECORDS: keys("no_changes")}
    assert blocking(retained, less) == [
        "the retained case eur-taxi gets weaker: fails_on of record eur-taxi lost reply_contains"
    ]
    assert blocking(retained, {}, "test: x\n\nCase-Weakened: eur-taxi: it varies") == []
    assert blocking(retained, {RECORDS: keys("reply_contains", "no_changes", "timeout")}) == []


def test_a_count_alone_lets_no_key_go(retained: Bench) -> None:
    retained.repo.commit("test: two keys", {RECORDS: keys("no_changes", "reply_contains")})
    said = blocking(retained, {RECORDS: keys("no_changes", reopened=1)})
    assert said[0].endswith("fails_on of record eur-taxi lost reply_contains")
    sides = {side: {"passed": 0, "trials": 2} for side in ("before", "after")}
    proof = {**sides, "date": "2031-01-01", "receipts": ["sha256:1", "sha256:2"]}
    again = retained.judge({RECORDS: keys("no_changes", reopened=1, proof=proof)}, "test: x")
    assert again.violations == ()
    # Typed by hand it is a proof of nothing: pushed, it must be proven.
    assert "PENDING" in again.notes[0]


def test_a_record_of_other_keys_is_proven_anew(retained: Bench) -> None:
    judgement = retained.judge({RECORDS: keys("reply_contains")}, "test: x")
    assert judgement.violations == ()
    assert judgement.notes == (
        "eur-taxi is PENDING until it is proven again: its record's fails_on changes",
    )
    retained.repo.commit("test: two keys", {RECORDS: keys("no_changes", "reply_contains")})
    assert retained.judge({RECORDS: keys("reply_contains", "no_changes")}, "test: x").notes == ()


def test_a_record_without_keys_guards_nothing(retained: Bench) -> None:
    found = retained.judge({RECORDS: keys()}, "test: x\n\nCase-Weakened: eur-taxi: it varies")
    assert [violation.rule for violation in found.blocking] == ["record-invalid"]


def test_a_record_is_not_reopened_less_often(retained: Bench) -> None:
    retained.repo.commit("test: again", {RECORDS: keys("no_changes", reopened=2)})
    assert blocking(retained, {RECORDS: keys("no_changes", reopened=1)}) == [
        "the retained case eur-taxi gets weaker: reopened of record eur-taxi was 2 and is 1"
    ]
    assert blocking(retained, {RECORDS: keys("no_changes", reopened=3)}) == []


def test_another_before_is_proven_anew(retained: Bench) -> None:
    other = records(eur_taxi=record(before={"kind": "revision", "rev": "HEAD"}))
    judgement = retained.judge({RECORDS: other}, "test: x")
    assert judgement.violations == ()
    assert judgement.notes == (
        "eur-taxi is PENDING until it is proven again: its record's before changes",
    )


def test_numbers_by_hand_prove_nothing_and_cost_nothing(retained: Bench) -> None:
    sides = {side: {"passed": 0, "trials": 9} for side in ("before", "after")}
    proof = {**sides, "date": "2031-01-01", "receipts": ["sha256:0"]}
    by_hand = {RECORDS: records(eur_taxi=record(proof=proof))}
    assert blocking(retained, by_hand) == []
    found = retained.judge({SKILL: FIXED_SKILL, CASE: CASE_TEXT.replace("[euro]", "[euro, x]")})
    assert [violation.rule for violation in found.blocking] == ["fix-needs-record"]


def test_the_story_of_an_incident_is_free(retained: Bench) -> None:
    plain = record()
    del plain["incident"]
    assert blocking(retained, {RECORDS: records(eur_taxi=plain)}) == []


def test_a_retired_record_says_why(retained: Bench) -> None:
    for status in ({"status": "retired"}, {"status": "retired", "retirement": {"reason": "x"}}):
        with pytest.raises(ConfigError, match="retire"):
            retained.judge({RECORDS: records(eur_taxi=record(**status))}, "test: x")
