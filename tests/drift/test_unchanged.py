"""``guard run --if-changed``: a nightly job pays only where something is another."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from guard.affected import Selected
from guard.hookruns.run import run_in_hook
from guard.session import Session
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.drifting import CASE, SKILL, Brewer

ANSWERED = "answered by a receipt of"


@pytest.fixture
def brewer(repo: ScratchRepo, tmp_path_factory: pytest.TempPathFactory) -> Brewer:
    return Brewer(repo, tmp_path_factory.mktemp("brew"))


def nightly(brewer: Brewer, *options: str) -> Outcome:
    return call_guard(brewer.repo.root, "run", "--if-changed", *options)


def is_run(outcome: Outcome) -> bool:
    return "nothing was run" not in outcome.out


def test_the_suite_is_run_once_and_then_only_for_another_version(brewer: Brewer) -> None:
    first = nightly(brewer)
    assert first.code == 0
    assert "the suite is run, for there is no green run yet (1 case)" in first.out
    second = nightly(brewer)
    assert second.code == 0
    (line,) = second.out.splitlines()
    assert line.startswith("unchanged since 20")
    assert line.endswith(": brew 1.0; 1 case held then, nothing was run")
    brewer.be("1.1", answers=False)
    third = nightly(brewer)
    assert third.code == 1
    assert third.out.startswith("! drift: brew is 1.1 now, was 1.0 when this suite last held (")
    assert "what fails below may be the program, not your change" in third.out
    # It stays red until it is green again, and is never taken for unchanged.
    fourth = nightly(brewer)
    assert fourth.code == 1
    assert "taxi FAIL" in fourth.out
    brewer.be("1.2")
    assert nightly(brewer).code == 0
    assert not is_run(nightly(brewer))


def test_a_json_report_lists_what_receipts_answer(brewer: Brewer, tmp_path: Path) -> None:
    nightly(brewer)
    report = tmp_path / "report.json"
    assert nightly(brewer, f"--json={report}").code == 0
    found = json.loads(report.read_text())
    assert [(one["id"], one["verdict"], one["runs"]) for one in found["cases"]] == [
        ("taxi", "PASS", [])
    ]
    assert found["cases"][0]["receipt"]


def test_no_receipt_answers_where_none_is_wanted_but_all_is_unchanged(brewer: Brewer) -> None:
    nightly(brewer)
    assert not is_run(nightly(brewer, "--no-cache"))
    brewer.be("1.1")
    assert is_run(nightly(brewer, "--no-cache"))


def test_edited_files_are_not_what_held(brewer: Brewer) -> None:
    nightly(brewer)
    brewer.repo.write({SKILL: "Ask which currency, please.\n"})
    outcome = nightly(brewer)
    assert "for other files than those that held on 20" in outcome.out
    assert is_run(outcome)


def test_a_new_case_has_no_green_run(brewer: Brewer) -> None:
    nightly(brewer)
    brewer.repo.write({"evals/lunch.md": CASE.replace("NAME", "lunch")})
    outcome = nightly(brewer)
    assert outcome.code == 0
    assert "for there is no green run yet (1 case)" in outcome.out
    assert ANSWERED in outcome.out  # the other one
    assert not is_run(nightly(brewer))
    assert "2 cases held then" in nightly(brewer).out


def test_a_program_that_is_gone_is_not_unchanged(brewer: Brewer) -> None:
    nightly(brewer)
    brewer.vanish()
    outcome = nightly(brewer)
    assert outcome.code == 3
    assert "the program is another than on 20" in outcome.out
    assert "brew is not there" in outcome.out
    brewer.be("1.0")
    back = nightly(brewer)
    assert back.code == 0
    assert "for the last verdict was ERROR" in back.out
    assert ANSWERED not in back.out  # it is shown to hold again, not remembered


def test_a_target_that_tells_nothing_is_run_each_time(brewer: Brewer) -> None:
    brewer.be("")
    assert is_run(nightly(brewer))
    assert ANSWERED in call_guard(brewer.repo.root, "run").out  # that asks for no more
    again = nightly(brewer)
    assert is_run(again)
    assert "target brewer doesn't tell what it drives" in again.out
    assert ANSWERED not in again.out


def test_evidence_that_is_too_old_is_bought_again(brewer: Brewer) -> None:
    nightly(brewer)
    config = brewer.repo.root / "guard.yaml"
    config.write_text(config.read_text() + "receipts: {max_age: 0d}\n")
    outcome = nightly(brewer)
    assert outcome.code == 0
    assert "older than 0d" in outcome.out


def test_what_is_asked_beside_it(brewer: Brewer) -> None:
    for option in ("--owed", "--affected=HEAD", "--check-only=agent"):
        assert nightly(brewer, option).code == 2
    nightly(brewer, "taxi")
    assert not is_run(nightly(brewer, "taxi"))
    assert nightly(brewer, "nosuch").code == 2


def test_a_store_that_is_gone_is_no_evidence(brewer: Brewer) -> None:
    nightly(brewer)
    store = brewer.repo.root / ".git" / "guard" / "store.sqlite3"
    with sqlite3.connect(store) as db:
        db.execute("DELETE FROM receipts")
    db.close()
    assert is_run(nightly(brewer))


def test_each_trial_keeps_what_was_asked_and_what_answered(brewer: Brewer, tmp_path: Path) -> None:
    brewer.be("1.0", "m-1", "m-2")
    report = tmp_path / "report.json"
    outcome = call_guard(brewer.repo.root, "run", f"--json={report}")
    assert outcome.out.startswith(
        "! drift: 2 models answered trials of one case (m-1 and m-2): "
        "the rate of taxi is that of none of them alone"
    )
    found = json.loads(report.read_text())
    assert found["exit_code"] == 0
    (drift,) = found["cases"][0]["drift"]
    assert drift == {
        "what": "model",
        "name": "the model",
        "now": "m-1; m-2",
        "was": None,
        "since": None,
    }
    told = [run["execution_provenance"] for run in found["cases"][0]["runs"]]
    assert [one["model"] for one in told] == ["m-1", "m-2"]
    assert {one["asked"]["program"] for one in told} == {"brew 1.0"}


def test_a_hook_says_it_too(brewer: Brewer) -> None:
    for version, drift in (("1.0", []), ("1.1", ["brew is 1.1 now, was 1.0 when"])):
        brewer.be(version)
        with Session.open(str(brewer.repo.root)) as session:
            project = session.project("HEAD")
            chosen = [Selected(project.cases["taxi"])]
            run = run_in_hook(project, chosen, "pre-commit", at="index")
        assert [text.partition(" this suite")[0] for text in run.drift] == drift


def test_a_proof_whose_sides_two_models_answered_says_so(brewer: Brewer) -> None:
    brewer.be("1.0", "m-1")
    brewer.repo.commit("feat: terse", {SKILL: "Book it.\n"})
    assert call_guard(brewer.repo.root, "prove", "taxi").out.startswith("\u2717 taxi on the skill")
    brewer.repo.write({SKILL: "Ask which currency.\n"})
    brewer.be("1.0", "m-2")
    proved = call_guard(brewer.repo.root, "prove", "taxi")
    assert proved.code == 0
    first, second, *_ = proved.out.splitlines()
    assert first.startswith("! drift: 2 models answered trials of one case (m-1 and m-2)")
    assert "taxi PROVEN" in second
