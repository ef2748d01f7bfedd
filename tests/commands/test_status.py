"""``guard status``: what holds and what is owed, from what is stored."""

from __future__ import annotations

import json
from pathlib import Path

from guard.session import Session
from guard.storage.records import Receipt
from tests.conftest import ScratchRepo
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


def test_a_record_without_a_known_receipt_is_pending_whatever_it_says(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case(), "regressions.json": regressions()})
    guard("status").ends_in(0).says("? one  PENDING", "1 proof pending: guard run --owed")
    repo.write({"regressions.json": regressions(proof=proof("sha256:0", "sha256:1"))})
    guard("status").ends_in(0).says("? one  PENDING")


def test_a_record_whose_receipts_are_known_is_shown_with_its_date(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case()})
    with Session.open(str(repo.root)) as session:
        green = session.store.put_receipt(Receipt("k", "one", "clerk", "PASS", 4, 4, "2031"))
        red = session.store.put_red(Receipt("r", "one", "clerk", "FAIL", 0, 4, "2031"))
    repo.write({"regressions.json": regressions(proof=proof(red, green))})
    guard("status").ends_in(0).says("✓ one  proven on 2031-02-03").says_not("pending")
    guard("regressions", "show").ends_in(0).says("one (proven 2031-02-03)")
    repo.write({"regressions.json": regressions(proof=proof(green, green))})
    guard("status").ends_in(0).says("one  PENDING")
    guard("regressions", "show").ends_in(0).says("one (PENDING)")


def test_a_retired_record_says_why(repo: ScratchRepo, guard: GuardCommand) -> None:
    gone = {"reason": "the shop has closed", "date": "2031-02-03", "by": "Ms Aasen"}
    files = {"regressions.json": regressions(status="retired", retirement=gone)}
    repo.commit("feat: clerk", {**config(), **case(), **files})
    outcome = guard("status").ends_in(0).says("✓ one  RETIRED: the shop has closed")
    outcome.says_not("pending")
