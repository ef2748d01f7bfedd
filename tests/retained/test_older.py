"""The list form of agentic_evals: read wherever ours is, and written only when that is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from guard.errors import ConfigError
from guard.regressions import LIST_SCHEMA, parse_regressions
from guard.retained.older import left_out
from tests.clerk import BASE, CASE_PATH, FIXED, SKILL_PATH, case
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.proving import prove

RECORD: Mapping[str, Any] = {
    "regression_id": "taxi",
    "status": "ACTIVE",
    "incident": {"date": "2026-09-02", "summary": "converted 400 euro", "run_dir": "/x"},
    "claims_threatened": ["clerk.asks"],
    "seams": ["currency"],
    "retained_case": "taxi",
    "retained_fixture": CASE_PATH,
    "fail_before_fix": {"proof_command": ["sh", "-c", "exit 4"], "proven": True},
    "notes": "more",
}


def file_of(*records: Any, **keys: Any) -> str:
    document = {"schema": LIST_SCHEMA, "skill": "clerk", "regressions": list(records), **keys}
    return json.dumps(document, indent=2)


def read(**changed: Any) -> Any:
    return parse_regressions(file_of({**RECORD, **changed}).encode())["taxi"]


def test_what_is_read_of_a_record() -> None:
    found = read()
    assert (found.agent, found.case) == ("clerk", f"{CASE_PATH}#taxi")
    assert found.before == {"kind": "command", "argv": ["sh", "-c", "exit 4"]}
    assert found.incident["summary"] == "converted 400 euro"
    assert (found.raw["claims"], found.raw["seams"]) == (["clerk.asks"], ["currency"])
    assert (found.status, found.proof, found.fails_on) == ("active", None, ())
    assert left_out(file_of(RECORD).encode()) == ["notes"]


@pytest.mark.parametrize(
    ("proof", "before"),
    [
        (
            {"proof_command": ["a"], "expected_exit_code": 3},
            {"kind": "command", "argv": ["a"], "expect_exit": 3},
        ),
        ({"proof_command": ["a"], "expected_exit_code": 127}, {"kind": "command", "argv": ["a"]}),
        ({"proof_command": ["a"], "expected_exit_code": True}, {"kind": "command", "argv": ["a"]}),
        ({"proof_command": "a b"}, {"kind": "command", "argv": ["sh", "-c", "a b"]}),
        (
            {"proof_command": ["a", "", "b c"]},
            {"kind": "command", "argv": ["sh", "-c", "a '' 'b c'"]},
        ),
        ({"proof_command": []}, {"kind": "parent"}),
        ({"proof_command": ""}, {"kind": "parent"}),
        ({"proof_command": 7}, {"kind": "parent"}),
        ({}, {"kind": "parent"}),
        (None, {"kind": "parent"}),
        ("by hand", {"kind": "parent"}),
    ],
)
def test_how_it_is_broken(proof: Any, before: Any) -> None:
    assert read(fail_before_fix=proof).before == before


@pytest.mark.parametrize(
    "odd",
    [
        {"incident": None},
        {"incident": "text"},
        {"incident": {"summary": 7, "date": None, "issue": {"a": 1}}},
        {"claims_threatened": "one"},
        {"claims_threatened": ["", None, "a"], "claim_ids": ["a", "b"]},
        {"seams": {"a": 1}},
        {"retained_case": None},
        {"retained_fixture": 7},
        {"status": None},
        {"extra": {"deep": [1]}},
    ],
)
def test_whatever_else_stands_there_is_read_leniently(odd: Any) -> None:
    assert read(**odd).id == "taxi"


def test_retired() -> None:
    assert read(status="RETIRED").retirement == {"reason": "not recorded", "date": "unknown"}
    told = {"reason": "over", "date": "2026-01-01"}
    assert read(status="retired", retirement=told).retirement == told


NO_RECORDS: list[tuple[list[Any], str]] = [
    ([7], "must be a mapping"),
    ([{}], "the key `regression_id` is missing"),
    ([RECORD, RECORD], "stands here twice"),
]


@pytest.mark.parametrize(("records", "said"), NO_RECORDS)
def test_what_is_no_record(records: list[Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_regressions(file_of(*records).encode())


@pytest.fixture
def listed(repo: ScratchRepo) -> ScratchRepo:
    text = file_of(RECORD, incidents=[{"id": "INC-1", "summary": "a stale tab", "status": "open"}])
    files = {**BASE, SKILL_PATH: FIXED, CASE_PATH: case(), "regressions.json": text}
    repo.commit("start", files)
    return repo


def test_it_is_proven_as_the_weak_thing_it_is(listed: ScratchRepo) -> None:
    proof = prove(listed.root).one
    assert (proof.verdict, proof.state) == ("PROVEN", "command")
    assert "an error of any code" in proof.reason
    assert "weak" in proof.reason
    assert call_guard(listed.root, "check").code == 0
    assert "taxi (PENDING)" in call_guard(listed.root, "regressions", "show").out


def test_a_command_that_catches_nothing_is_vacuous(listed: ScratchRepo) -> None:
    blind = {**RECORD, "fail_before_fix": {"proof_command": ["true"], "proven": True}}
    listed.commit("blind", {"regressions.json": file_of(blind)})
    assert prove(listed.root).one.verdict == "VACUOUS"


@pytest.mark.parametrize(
    "arguments",
    [
        ("prove", "taxi"),
        ("regressions", "retire", "taxi", "--reason", "x"),
        ("regressions", "reopen", "taxi", "--reason", "x"),
    ],
)
def test_nothing_rewrites_it_unasked(listed: ScratchRepo, arguments: tuple[str, ...]) -> None:
    outcome = call_guard(listed.root, *arguments)
    assert outcome.code == 2, outcome
    assert "the list form of agentic_evals, which is read and not written" in outcome.err
    assert listed.git("status", "--porcelain") == ""
    assert call_guard(listed.root, "prove", "taxi", "--no-record").code == 0


@pytest.mark.parametrize("name", ["taxi", "cab"])
def test_adding_a_record_writes_it_in_our_form_and_says_so(listed: ScratchRepo, name: str) -> None:
    listed.commit("another", {"evals/cab.md": case(name="cab")})
    outcome = call_guard(listed.root, "regressions", "add", name)
    assert outcome.code == 0, outcome
    assert "was in the list form of agentic_evals, and is in guard's form now" in outcome.out
    assert "without what that has no place for: notes" in outcome.out
    document = json.loads((listed.root / "regressions.json").read_text())
    assert document["schema"] == "guard.regressions.v1"
    assert {"taxi", name} == set(document["regressions"])
    assert document["incidents"]["INC-1"]["status"] == "open"
    assert document["regressions"]["taxi"]["before"]["argv"] == ["sh", "-c", "exit 4"]
    assert call_guard(listed.root, "verify", "taxi").code == 0


def test_the_change_of_form_is_no_origin(listed: ScratchRepo) -> None:
    """A record that was there in the list form wasn't brought by the commit that rewrote it."""
    bare = {**RECORD, "fail_before_fix": None}
    listed.commit("by history", {"regressions.json": file_of(bare)})
    call_guard(listed.root, "regressions", "add", "taxi")
    text = (listed.root / "regressions.json").read_text()
    document = json.loads(text)
    document["regressions"]["taxi"]["fails_on"] = ["reply_contains"]
    listed.commit("our form", {"regressions.json": json.dumps(document)})
    assert prove(listed.root).one.verdict in ("STALE", "DEGENERATE")
