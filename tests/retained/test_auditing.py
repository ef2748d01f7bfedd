"""``guard regressions audit``: files of records, here and elsewhere, read and never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clerk import BASE, fix, record, regressions
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo

LIST_FORM: dict[str, Any] = {
    "schema": "agentic_evals.regressions.v1",
    "skill": "ask",
    "incidents": [{"id": "stale-tab", "summary": "a stale tab"}],
    "regressions": [
        {
            "regression_id": "dead-socket",
            "status": "ACTIVE",
            "incident": {"date": "2026-09-02", "summary": "the socket was dead"},
            "claims_threatened": ["ask.fails-closed"],
            "seams": ["transport"],
            "retained_case": "probe",
            "retained_fixture": "cases.json",
            "fail_before_fix": {
                "proof_command": ["sh", "-c", "touch RAN; exit 1"],
                "proven": True,
            },
            "notes": "more",
        }
    ],
}


def audit(folder: Path, *paths: str) -> Outcome:
    return call_guard(folder, "regressions", "audit", *paths)


def written(folder: Path, document: Any, cases: Any = None) -> Path:
    """Lay a skill's files as the list form has them."""
    (folder / "fixtures").mkdir(parents=True, exist_ok=True)
    (folder / "fixtures" / "regressions.json").write_text(json.dumps(document))
    if cases is not None:
        (folder / "cases.json").write_text(json.dumps(cases))
    return folder


def test_what_holds_in_this_repository(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    outcome = audit(repo.root)
    assert outcome.code == 0, outcome
    assert "1 record in 1 file read, none wrong; nothing was run" in outcome.out
    assert "taxi: PENDING" in outcome.out


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (regressions(taxi=record(case="evals/gone.md")), "its case evals/gone.md is not there"),
        (regressions(taxi=record(fails_on=[])), "its fails_on is empty"),
        (
            regressions(taxi=record(before={"kind": "patch", "path": "a.patch"})),
            "its patch a.patch is not there",
        ),
        (regressions(taxi=record(before={"kind": "guess"})), "regressions.taxi.before.kind: "),
        ('{"schema": "guard.regressions.v1"}', "the key `regressions` is missing"),
        ("{", "not valid JSON"),
        ("[]", "must be a mapping"),
    ],
)
def test_what_is_wrong_is_named(repo: ScratchRepo, records: str, said: str) -> None:
    repo.commit("start", BASE)
    repo.write({**fix(), "regressions.json": records})
    outcome = audit(repo.root, ".")
    assert outcome.code == 1, outcome
    assert said in outcome.out
    assert "1 wrong" in outcome.out


def test_a_retired_record_lacks_nothing(repo: ScratchRepo) -> None:
    gone = record(
        case="gone.md", status="retired", retirement={"reason": "over", "date": "2026-01-01"}
    )
    repo.commit("start", {**BASE, "regressions.json": regressions(taxi=gone)})
    outcome = audit(repo.root)
    assert (outcome.code, "taxi: retired: over" in outcome.out) == (0, True)


def test_the_list_form_of_other_repositories_is_read_and_never_run(tmp_path: Path) -> None:
    good = {"cases": [{"name": "probe"}]}
    written(tmp_path / "a", {**LIST_FORM, "incidents": []}, good)
    outcome = audit(tmp_path, "a")
    assert outcome.code == 0, outcome
    assert "1 record in 1 file read, none wrong" in outcome.out
    assert "dead-socket: weak: proven by a command (any exit but 0, 125 to 127)" in outcome.out
    assert "the list form of agentic_evals" in outcome.out
    assert list(tmp_path.rglob("RAN")) == []


def test_what_is_wrong_in_the_list_form(tmp_path: Path) -> None:
    written(tmp_path / "a", LIST_FORM, {"cases": [{"name": "other"}]})
    outcome = audit(tmp_path, "a")
    assert outcome.code == 1
    assert "dead-socket: cases.json holds no case 'probe'" in outcome.out
    assert "incident stale-tab: no record is about it" in outcome.out


def test_records_that_are_no_mappings_or_have_no_id(tmp_path: Path) -> None:
    for broken in ([1], [{"status": "ACTIVE"}], [{"regression_id": "a"}] * 2):
        written(tmp_path / "a", {**LIST_FORM, "regressions": broken})
        assert audit(tmp_path, "a").code == 1


def test_every_file_below_a_folder_but_other_tools(tmp_path: Path) -> None:
    written(tmp_path / "skills" / "a", LIST_FORM)
    written(tmp_path / "skills" / "b", LIST_FORM)
    written(tmp_path / "skills" / "node_modules" / "c", LIST_FORM)
    (tmp_path / "skills" / "regressions.json").parent.mkdir(exist_ok=True)
    (tmp_path / "skills" / "x").mkdir()
    (tmp_path / "skills" / "x" / "regressions.json").write_text('{"slopes": [1]}')
    outcome = audit(tmp_path, "skills", "skills/a/fixtures/regressions.json")
    assert "2 records in 2 files read" in outcome.out


@pytest.mark.parametrize(("path", "said"), [("gone", "is not there"), (".", "holds no")])
def test_a_path_with_nothing_to_audit(tmp_path: Path, path: str, said: str) -> None:
    outcome = audit(tmp_path, path)
    assert (outcome.code, said in outcome.err) == (2, True)


def test_as_json(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.write({**fix(), "regressions.json": regressions(taxi=record(case="gone.md"))})
    (found,) = json.loads(audit(repo.root, "--json", "-").out)
    assert found["records"] == 1
    assert found["wrong"] == ["taxi: its case gone.md is not there"]
