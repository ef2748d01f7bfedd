"""``guard status``: what holds and what is owed, from what is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guard.session import Session
from tests.clerk import BASE, CASE_PATH, FIXED, SKILL_PATH, fix, record
from tests.clerk import case as case_of_clerk
from tests.clerk import regressions as clerk_records
from tests.commands.calling import call_guard
from tests.commands.proven_fix import commit_proven_fix
from tests.conftest import ScratchRepo
from tests.exchange.files import cloned
from tests.guard_command import GuardCommand, case, cases, config


def test_what_was_never_run_is_owed(repo: ScratchRepo, guard: GuardCommand, tmp_path: Path) -> None:
    started = tmp_path / "started"
    repo.commit("feat: clerk", {**config(), **cases({"one": f"touch {started}", "two": "true"})})
    outcome = guard("status").ends_in(0)
    outcome.says("? one  owed: not run on these files\n", "? two  owed")
    outcome.says("2 of 2 cases have no evidence for these files: guard run --owed")
    assert not started.exists()


def test_what_passed_holds_until_its_files_change(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=2)})
    guard("run").ends_in(0)
    guard("status").ends_in(0).says("✓ one  2 of 2, 20", "1 case: all have evidence for these")
    repo.write({"agent/rules.md": "Be stern.\n"})
    guard("status").ends_in(0).says("? one  owed", "last verdict PASS, on other files")
    guard("status", "--at", "HEAD").ends_in(0).says("✓ one  2 of 2")


def test_what_failed_on_these_files_is_said_to_have_failed(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case("echo no", trials=2)})
    guard("run", "--jobs", "1").ends_in(1)
    outcome = guard("status").ends_in(0).says("✗ one  FAIL: 0 of 1, 20")
    outcome.says_not("not run on these files", "on other files", "all have evidence")
    outcome.says("1 of 1 case doesn't hold: guard show one")
    repo.write({"agent/rules.md": "Be stern.\n"})
    guard("status").says("? one  owed", "last verdict FAIL, on other files")


def test_what_broke_on_these_files_is_not_known(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case("exit 9", trials=2)})
    guard("run").ends_in(3)
    guard("status").ends_in(0).says("! one  ERROR: 20", "no evidence").says_not("on other files")


def test_what_no_longer_fits_and_what_is_too_old_is_owed(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    keys = {"preconditions": [{"match": "12 crowns"}], "trials": 1}
    repo.commit("feat: clerk", {**config(), "agent/prices.md": "12 crowns\n", **case(**keys)})
    guard("run").ends_in(0)
    repo.write({"agent/prices.md": "13 crowns\n"})
    guard("status").ends_in(0).says("! one  STALE", "12 crowns", "1 of 1 case has no evidence")
    repo.write({"agent/prices.md": "12 crowns\n"})
    with Session.open(str(repo.root)) as session:
        old = session.store.all_receipts()[0]._replace(date="2020-01-01T00:00:00+00:00")
        session.store.put_receipt(old)
    guard("status").ends_in(0).says("? one  owed: its receipt is too old, 1 of 1, 2020-01-01")


def test_a_skip_is_not_said_to_be_of_other_files(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case("true", prerequisites=["program:nosuch"])})
    guard("run").ends_in(0)
    said = guard("status").ends_in(0).says("? one  owed: not run on these files; last verdict SKIP")
    said.says_not("on other files")


def test_without_a_case_it_says_how_to_get_one(repo: ScratchRepo, guard: GuardCommand) -> None:
    guard("status").refuses("there is no guard.yaml here")
    repo.commit("feat: no case", config())
    guard("status").ends_in(0).says("there is no case yet: guard new-case ID --agent AGENT")


def regressions(**fields: object) -> str:
    record = {
        "agent": "clerk",
        "case": "evals/one.md",
        "before": {"kind": "parent"},
        "fails_on": ["reply_contains"],
        "proof": None,
        "status": "active",
        **fields,
    }
    document = {"schema": "guard.regressions.v1", "incidents": {}, "regressions": {"one": record}}
    return json.dumps(document, indent=2) + "\n"


def proof(red: str, green: str) -> dict[str, object]:
    return {
        "before": {"passed": 0, "trials": 4},
        "after": {"passed": 4, "trials": 4},
        "date": "2031-02-03",
        "receipts": [red, green],
    }


def test_a_record_without_a_known_receipt_is_pending_whatever_it_says(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    said = call_guard(repo.root, "status")
    assert (said.code, "? taxi  PENDING: the record is there" in said.out) == (0, True), said
    typed = clerk_records(taxi=record(proof=proof("sha256:0", "sha256:1")))
    repo.write({"regressions.json": typed})
    said = call_guard(repo.root, "status")
    assert "? taxi  PENDING: not proven on this machine yet" in said.out
    assert "recorded as proven on 2031-02-03" in said.out
    assert said.out.count("guard run --owed") == 1
    assert "1 proof pending: guard run --owed" in said.out


@pytest.fixture
def proven(repo: ScratchRepo) -> ScratchRepo:
    """A repository whose one regression is proven, its proof and its fix committed."""
    commit_proven_fix(repo)
    return repo


def said_of(repo: ScratchRepo) -> tuple[str, str]:
    """Return what status and show say."""
    told = [call_guard(repo.root, *call) for call in (("status",), ("regressions", "show"))]
    assert [one.code for one in told] == [0, 0], told
    return told[0].out, told[1].out


def test_a_record_whose_receipts_answer_for_these_files_is_proven(proven: ScratchRepo) -> None:
    status, show = said_of(proven)
    assert "✓ taxi  proven on 20" in status
    assert status.endswith("1 case: all have evidence for these files\n")
    assert "taxi (proven 20" in show


def test_digests_that_are_known_of_other_files_prove_nothing(proven: ScratchRepo) -> None:
    proven.write({SKILL_PATH: FIXED + "\nBe kind.\n"})
    status, show = said_of(proven)
    assert "? taxi  PENDING: proven on 20" in status
    assert "✓ taxi" not in status
    assert "1 of 1 case has no evidence for these files; 1 proof owed on these files: " in status
    assert status.count("guard run --owed") == 1
    assert "taxi (PENDING)" in show
    assert call_guard(proven.root, "run", "--owed").code == 0
    status, show = said_of(proven)
    assert "✓ taxi  proven on 20" in status
    assert "taxi (proven 20" in show


def test_a_case_that_no_longer_states_the_recorded_key_is_refuted(proven: ScratchRepo) -> None:
    proven.write({CASE_PATH: case_of_clerk("{exit_code: 0}")})
    for paid in ((), ("run",), ("verify",), ("run", "--owed")):
        if paid:
            assert call_guard(proven.root, *paid).code == (0 if paid == ("run",) else 1)
        status, show = said_of(proven)
        assert "✗ taxi  WRONG_REASON: " in status
        assert "  do  guard " in status
        assert "1 proof doesn't hold: guard verify taxi" in status
        assert "proven" not in status + show.replace("guard verify proves", "")
        assert "taxi (WRONG_REASON)" in show


def test_a_case_that_moved_is_shown_as_what_verify_says(proven: ScratchRepo) -> None:
    proven.git("mv", CASE_PATH, "evals/cab.md")
    status, show = said_of(proven)
    assert "✗ taxi  UNPROTECTED: its case evals/taxi.md is not there" in status
    assert "  do  guard regressions move taxi evals/cab.md\n" in status
    assert "pending" not in status
    assert "taxi (UNPROTECTED)" in show
    paid = call_guard(proven.root, "run", "--owed")
    assert (paid.code, "taxi UNPROTECTED" in paid.out) == (1, True), paid
    assert "nothing is owed" not in paid.out
    assert call_guard(proven.root, "regressions", "move", "taxi", "evals/cab.md").code == 0
    assert "nothing is owed" in call_guard(proven.root, "run", "--owed").out
    assert "✓ taxi  proven on" in said_of(proven)[0]


def test_the_last_case_deleted_is_no_repository_without_one(proven: ScratchRepo) -> None:
    proven.git("rm", "-q", CASE_PATH)
    status, _ = said_of(proven)
    assert "✗ taxi  UNPROTECTED" in status
    assert "1 proof doesn't hold: guard verify taxi" in status
    assert "no case yet" not in status
    paid = call_guard(proven.root, "run", "--owed")
    assert (paid.code, "taxi UNPROTECTED" in paid.out) == (1, True), paid
    assert call_guard(proven.root, "run").code in (1, 2)


def test_a_record_that_is_just_added_is_no_dead_loop(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case_of_clerk()})
    assert call_guard(repo.root, "run").code == 0
    added = call_guard(repo.root, "regressions", "add", "taxi", "--fails-on", "reply_contains")
    assert added.code == 0, added
    status, _ = said_of(repo)
    verified, paid = call_guard(repo.root, "verify"), call_guard(repo.root, "run", "--owed")
    verdict = verified.out.split("taxi ", 1)[1].split()[0].rstrip(":")
    assert f"taxi  {verdict}: " in status, verified
    assert (paid.code, "nothing is owed" in paid.out) == (verified.code, False), paid
    assert verified.code in (1, 3)


def test_reopened_it_has_one_word_until_the_record_names_its_receipts(proven: ScratchRepo) -> None:
    assert call_guard(proven.root, "regressions", "retire", "taxi", "--reason", "gone").code == 0
    assert call_guard(proven.root, "regressions", "reopen", "taxi", "--reason", "back").code == 0
    document = json.loads((proven.root / "regressions.json").read_text())
    # As it is where nothing was edited since: the count would make HEAD its state before.
    del document["regressions"]["taxi"]["reopened"]
    proven.write({"regressions.json": json.dumps(document, indent=2) + "\n"})
    status, show = said_of(proven)
    assert "? taxi  PENDING: its receipts hold, the record doesn't name them yet" in status
    assert "  do  guard prove taxi\n" in status
    assert "run --owed" not in status
    assert "taxi (PENDING)" in show
    assert call_guard(proven.root, "prove", "taxi").code == 0
    status, show = said_of(proven)
    assert "✓ taxi  proven on" in status
    assert "taxi (proven 20" in show


def test_what_is_run_again_in_a_clone_is_proven_there(proven: ScratchRepo, tmp_path: Path) -> None:
    other = cloned(proven, tmp_path / "other")
    assert "? taxi  PENDING: not proven on this machine yet; recorded" in said_of(other)[0]
    assert call_guard(other.root, "run", "--owed").code == 0
    status, show = said_of(other)
    assert "✓ taxi  proven by receipts of this machine" in status
    assert "taxi (proven 20" in show


def test_a_retired_record_says_why(repo: ScratchRepo, guard: GuardCommand) -> None:
    gone = {"reason": "the shop has closed", "date": "2031-02-03", "by": "Ms Aasen"}
    files = {"regressions.json": regressions(status="retired", retirement=gone)}
    repo.commit("feat: clerk", {**config(), **case(), **files})
    outcome = guard("status").ends_in(0).says("✓ one  RETIRED: the shop has closed")
    outcome.says_not("pending")
