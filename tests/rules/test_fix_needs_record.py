from __future__ import annotations

from typing import Any

import pytest

from tests.guarded_repo import CASE, CASE_TEXT, FIXED_SKILL, RECORDS, SKILL, record, records
from tests.judged_repo import Bench

NEW_CASE = {SKILL: FIXED_SKILL, CASE: CASE_TEXT}
STRONGER = {SKILL: FIXED_SKILL, CASE: CASE_TEXT.replace("[euro]", "[euro, currency]")}
OVER = {"reason": "the client is gone", "date": "2031-01-01"}


@pytest.mark.parametrize(
    ("brought", "why"),
    [
        (None, ""),
        (record(fails_on=[]), "its fails_on is empty"),
        (record(agent="travel"), ""),
        (record(case="evals/cases/other.md"), "is no case of agent expense"),
        (record(case=f"{CASE}#other"), "is no case of agent expense"),
        (record(status="retired", retirement=OVER), "it is retired"),
    ],
)
def test_a_fix_brings_a_record_that_says_something(
    bench: Bench, brought: dict[str, Any] | None, why: str
) -> None:
    files = {**NEW_CASE, RECORDS: records(eur_taxi=brought) if brought else records()}
    judgement = bench.judge(files)
    assert judgement.blocking[0].rule == "fix-needs-record"
    assert why in "".join(judgement.blocking[0].detail)


def test_a_record_may_be_pending(bench: Bench) -> None:
    assert bench.rules({**NEW_CASE, RECORDS: records(eur_taxi=record(proof=None))}) == []


def test_a_record_names_a_case_by_its_id(bench: Bench) -> None:
    named = records(eur_taxi=record(case=f"{CASE}#eur-taxi"))
    assert bench.rules({**NEW_CASE, RECORDS: named}) == []


@pytest.mark.parametrize(
    "same",
    [
        record(),
        record(incident={"summary": "told anew", "date": "2031-01-01"}),
        record(proof={"before": {"passed": 0, "trials": 4}, "after": {"passed": 9, "trials": 9}}),
    ],
)
def test_a_record_told_anew_is_not_updated(retained: Bench, same: dict[str, Any]) -> None:
    assert retained.rules({**STRONGER, RECORDS: records(eur_taxi=same)}) == ["fix-needs-record"]


@pytest.mark.parametrize(
    "updated",
    [
        record(reopened=1),
        record(fails_on=["no_changes", "reply_contains"]),
        record(before={"kind": "revision", "rev": "v1"}),
    ],
)
def test_an_updated_record_counts(retained: Bench, updated: dict[str, Any]) -> None:
    assert retained.rules({**STRONGER, RECORDS: records(eur_taxi=updated)}) == []


def test_a_second_record_of_the_agent_counts(retained: Bench) -> None:
    both = records(eur_taxi=record(), eur_taxi_2=record(fails_on=["reply_contains"]))
    assert retained.rules({**STRONGER, RECORDS: both}) == []


def test_where_the_case_is_missing_too_it_is_asked_for_alone(bench: Bench) -> None:
    (violation,) = bench.judge({SKILL: FIXED_SKILL}).blocking
    assert violation.rule == "fix-needs-case"
