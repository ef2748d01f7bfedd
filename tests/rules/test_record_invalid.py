from __future__ import annotations

from typing import Any

import pytest

from guard.rules.record_invalid import invalid_records
from tests.guarded_repo import CASE, CASE_TEXT, GUARD_YAML, RECORDS, record, records
from tests.judged_repo import Bench

OVER = {"reason": "the client is gone", "date": "2031-01-01"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (record(agent="expnse"), "there is no agent 'expnse'; did you mean `expense`?"),
        (record(case="evals/cases/nope.md"), "evals/cases/nope.md is no case of any agent"),
        (record(case=f"{CASE}#nope"), f"{CASE}#nope is no case of any agent"),
        (record(fails_on=[]), "its fails_on is empty, so nothing says what must fail"),
        (record(fails_on=["exit_code"]), "its case never writes exit_code"),
        (record(fails_on=["no_changes", "made_up"]), "its case never writes made_up"),
        (record(before={"kind": "patch", "path": "a.patch"}), "its patch a.patch is not there"),
    ],
)
def test_a_record_that_guards_nothing(retained: Bench, wrong: dict[str, Any], said: str) -> None:
    judgement = retained.judge({RECORDS: records(eur_taxi=wrong)}, "chore: record")
    (violation,) = [v for v in judgement.blocking if v.rule == "record-invalid"]
    assert said in violation.message
    assert violation.paths[0] == RECORDS
    assert invalid_records(retained.project()) == [violation]
    moved = wrong.get("case", CASE) == "evals/cases/nope.md"
    assert violation.hint == ((f"guard regressions move eur-taxi {CASE}",) if moved else ())


def test_a_command_says_what_must_fail_without_a_key(retained: Bench) -> None:
    before = {"kind": "command", "argv": ["x"], "expect_exit": 3}
    kept = records(eur_taxi=record(before=before, fails_on=[]))
    assert retained.rules({RECORDS: kept}, "chore: x") == ["case-weakened"]
    lost = "Case-Weakened: eur-taxi: proven by its command"
    assert retained.rules({RECORDS: kept}, f"chore: x\n\n{lost}") == []


def test_a_patch_that_is_there_is_no_violation(retained: Bench) -> None:
    kept = records(eur_taxi=record(before={"kind": "patch", "path": "a.patch"}))
    assert retained.rules({RECORDS: kept, "a.patch": "x\n"}, "chore: x") == []


@pytest.mark.parametrize("key", ["no_changes", "reply_contains", "timeout", "orphans"])
def test_a_key_that_the_case_or_the_engine_writes(retained: Bench, key: str) -> None:
    assert retained.rules({RECORDS: records(eur_taxi=record(fails_on=[key]))}, "chore: x") == []


def test_the_raw_ratio_and_its_floor_are_keys_of_fields(retained: Bench) -> None:
    fields = CASE_TEXT.replace("no_changes: true", "no_changes: true\n  fields: {a: 1}")
    both = records(eur_taxi=record(fails_on=["fields", "fields_floor"]))
    assert retained.rules({CASE: fields, RECORDS: both}, "chore: x") == []


def test_an_evaluator_of_the_repository_may_write_any_key(retained: Bench) -> None:
    guard_yaml = GUARD_YAML + "    evaluators: [evals/checks.py:exact]\n"
    files = {"guard.yaml": guard_yaml, "evals/checks.py": "def exact(observation, expected): 1\n"}
    files[RECORDS] = records(eur_taxi=record(fails_on=["exact"]))
    assert retained.rules(files, "chore: x") == []


def test_a_retired_record_is_not_looked_at(retained: Bench) -> None:
    retired = record(status="retired", retirement=OVER, case="gone.md", fails_on=[])
    assert retained.rules({RECORDS: records(eur_taxi=retired)}, "chore: x") == []
    assert invalid_records(retained.project()) == []


def test_a_wrong_record_that_the_commit_leaves_alone_is_not_its_fault(retained: Bench) -> None:
    wrong = records(a_wrong=record(case="nope.md"), eur_taxi=record())
    retained.repo.commit("chore: wrong", {RECORDS: wrong})
    more = records(a_wrong=record(case="nope.md"), eur_taxi=record(fails_on=["reply_contains"]))
    assert retained.rules({RECORDS: more}, "chore: x") == []
    assert [v.rule for v in invalid_records(retained.project())] == ["record-invalid"]


def test_records_out_of_order_are_a_warning(retained: Bench) -> None:
    document = records(eur_taxi=record(), a_first=record(fails_on=["reply_contains"]))
    judgement = retained.judge({RECORDS: document}, "chore: x")
    (violation,) = judgement.violations
    assert violation.warning
    assert "not sorted by id: a-first" in violation.message
