"""What a proof writes into a record, and what it leaves as a person wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guard.commands.new_case import PROSE
from guard.errors import ConfigError
from guard.model import Case
from guard.proofs.prove import Proved
from guard.proofs.record import fields_of, summary_of, write_record
from guard.regressions import Record, parse_regressions
from guard.results import CaseResult, ProofResult, Side

CASE = Case(
    "taxi",
    "clerk",
    "evals/taxi.md",
    "the taxi",
    evidence={"supports_claims": ["asks"], "seams": ["money"]},
    body="It booked euros. Nobody asked.",
)
PROOF = ProofResult(
    "taxi",
    "clerk",
    "evals/taxi.md",
    "PROVEN",
    "live",
    Side(0, 3),
    Side(4, 4),
    before_result=CaseResult("taxi", "clerk", "FAIL", receipt="sha256:1"),
    after_result=CaseResult("taxi", "clerk", "PASS", receipt="sha256:2"),
)
RECORD = Record("taxi", "clerk", "evals/taxi.md", {"kind": "parent"}, ("reply_contains",))
PROVED = Proved(PROOF, RECORD)


@pytest.mark.parametrize(
    ("body", "summary"),
    [
        ("It booked euros. Nobody asked.", "It booked euros."),
        (
            "# The taxi\n\nIt booked 4.60 euros\nat once! Then it left.",
            "It booked 4.60 euros at once!",
        ),
        ("", "the taxi"),
        (PROSE, "the taxi"),
        ("a" * 200, "a" * 159 + "…"),
    ],
)
def test_the_summary_is_the_first_sentence_or_what_was_asked(body: str, summary: str) -> None:
    assert summary_of(CASE._replace(body=body)) == summary


def test_a_new_record_is_valid_and_whole(tmp_path: Path) -> None:
    write_record(str(tmp_path), PROVED, CASE)
    content = (tmp_path / "regressions.json").read_bytes()
    found = parse_regressions(content)["taxi"]
    assert found.fails_on == ("reply_contains",)
    assert found.proof is not None
    assert found.proof["receipts"] == ["sha256:1", "sha256:2"]
    assert (found.raw["claims"], found.raw["seams"]) == (["asks"], ["money"])
    assert list(json.loads(content)["regressions"]["taxi"]) == [
        "agent", "case", "incident", "claims", "seams", "before", "fails_on", "proof", "status",
        "retirement",
    ]  # fmt: skip


def test_what_a_person_wrote_stays() -> None:
    known = {
        "incident": {"summary": "mine"},
        "claims": ["theirs"],
        "observations": {"rejected": "regressions/taxi/rejected"},
        "reopened": 4,
    }
    found = fields_of(Proved(PROOF, RECORD._replace(reopened=5)), CASE, known)
    assert found["incident"] == {"summary": "mine"}
    assert found["claims"] == ["theirs"]
    assert found["observations"] == known["observations"]
    assert found["reopened"] == 5


def test_a_record_that_came_meanwhile_is_not_lost(tmp_path: Path) -> None:
    write_record(str(tmp_path), Proved(PROOF._replace(id="ape"), RECORD._replace(id="ape")), CASE)
    write_record(str(tmp_path), PROVED, CASE)
    assert list(parse_regressions((tmp_path / "regressions.json").read_bytes())) == ["ape", "taxi"]


def test_a_file_that_is_wrong_by_now_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "regressions.json").write_text("<<<<<<< ours\n")
    with pytest.raises(ConfigError):
        write_record(str(tmp_path), PROVED, CASE)
    assert (tmp_path / "regressions.json").read_text() == "<<<<<<< ours\n"
