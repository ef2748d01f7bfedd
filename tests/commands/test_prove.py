"""``guard prove`` as people run it: red before the edit, green after it, and all that differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clerk import (
    BASE,
    BROKEN,
    CASE_PATH,
    CONFIG,
    FIXED,
    SKILL_PATH,
    case,
    fix,
    record,
    regressions,
)
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo

NOT_DETERMINISTIC = CONFIG.replace("deterministic: true", "deterministic: false")
RECORDS = "regressions.json"


def guard(repo: ScratchRepo, *arguments: str) -> Outcome:
    return call_guard(repo.root, *arguments)


def record_of(repo: ScratchRepo, name: str = "taxi") -> dict[str, Any]:
    document = json.loads((repo.root / RECORDS).read_text())
    found: dict[str, Any] = document["regressions"][name]
    return found


def told(repo: ScratchRepo, *arguments: str) -> dict[str, Any]:
    """Return the JSON report of a call."""
    outcome = guard(repo, *arguments, "--json", "-")
    found: dict[str, Any] = json.loads(outcome.out)
    assert found["exit_code"] == outcome.code
    return found


@pytest.fixture
def started(repo: ScratchRepo) -> ScratchRepo:
    """The bug is there, its case is written, nothing is fixed."""
    repo.commit("start", BASE)
    repo.write({CASE_PATH: case()})
    return repo


def test_red_then_green(started: ScratchRepo) -> None:
    red = guard(started, "prove", "taxi")
    assert red.code == 3, red
    assert "taxi on the skill as it is: 0 of 2 passed" in red.out
    assert "RED, as it should be before a fix" in red.out
    assert f"next: edit {SKILL_PATH}, then again: guard prove taxi" in red.out
    assert not (started.root / RECORDS).exists()

    started.write({SKILL_PATH: FIXED})
    green = guard(started, "prove", "taxi")
    assert green.code == 0, green
    assert "taxi PROVEN: fails without your change (reply_contains), passes with it" in green.out
    assert "before 0 of 2" in green.out
    assert "answered by a receipt of" in green.out
    assert f"git add {SKILL_PATH} {CASE_PATH} {RECORDS}" in green.out
    found = record_of(started)
    assert found["fails_on"] == ["reply_contains"]
    assert found["before"] == {"kind": "parent"}
    assert found["incident"]["summary"] == "It converted 400 euro on its own authority."
    assert found["proof"]["before"] == {"passed": 0, "trials": 2}
    assert found["proof"]["after"] == {"passed": 2, "trials": 2}
    assert len(found["proof"]["receipts"]) == 2
    assert "reopened" not in found

    for line in green.out.splitlines():
        command = line.removeprefix("next:").strip()
        if command.startswith("git "):
            done = started.run("sh", "-c", command)
            assert done.returncode == 0, done
    assert started.git("status", "--porcelain") == ""
    verified = guard(started, "verify")
    assert verified.code == 0, verified
    assert "taxi PROVEN (live)" in verified.out


def test_the_written_file_is_sorted_and_nothing_else_changes(started: ScratchRepo) -> None:
    """Other records stay as they are on disk, what a person wrote into this one too."""
    by_hand = record(incident={"summary": "mine", "date": "2026-01-01", "issue": 7})
    others = {"zebra": record(case="evals/z.md"), "ape": record(case="evals/a.md")}
    started.write({RECORDS: regressions(**others, taxi=by_hand), "untouched.txt": "1"})
    started.commit("records")
    started.write({SKILL_PATH: FIXED})
    assert guard(started, "prove", "taxi").code == 0
    text = (started.root / RECORDS).read_text()
    document = json.loads(text)
    assert list(document["regressions"]) == ["ape", "taxi", "zebra"]
    assert text == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    assert record_of(started)["incident"]["issue"] == 7
    changed = started.git("status", "--porcelain").split()
    assert sorted(changed) == sorted(["M", SKILL_PATH, "M", RECORDS, "??", "regressions/"])


def test_both_sides_at_once_where_the_edit_came_first(started: ScratchRepo) -> None:
    started.write({SKILL_PATH: FIXED})
    outcome = guard(started, "prove", "taxi")
    assert outcome.code == 0, outcome
    assert "answered by a receipt of" not in outcome.out
    assert record_of(started)["proof"]["before"] == {"passed": 0, "trials": 2}


def test_an_edit_that_does_not_fix_it_is_broken_now(started: ScratchRepo) -> None:
    guard(started, "prove", "taxi")
    started.write({SKILL_PATH: BROKEN + "\nBe careful.\n"})
    outcome = guard(started, "prove", "taxi")
    assert outcome.code == 1
    assert "BROKEN_NOW" in outcome.out
    assert "nothing is recorded" in outcome.out
    assert not (started.root / RECORDS).exists()


def test_the_red_is_reused_and_the_green_is_all_that_runs(started: ScratchRepo) -> None:
    guard(started, "prove", "taxi")
    again = told(started, "prove", "taxi")
    assert again["exit_code"] == 3
    started.write({SKILL_PATH: FIXED})
    report = told(started, "prove", "taxi")
    (proof,) = report["regressions"]
    assert (proof["verdict"], proof["state"]) == ("PROVEN", "live")
    assert proof["before"] == {"passed": 0, "trials": 2}


def test_red_and_green_by_run_make_a_proof_at_no_cost(started: ScratchRepo) -> None:
    assert guard(started, "run", "taxi").code == 1
    started.write({SKILL_PATH: FIXED})
    assert guard(started, "run", "taxi").code == 0
    outcome = guard(started, "prove", "taxi", "--max-seconds", "0")
    assert outcome.code == 0, outcome
    assert outcome.out.count("answered by a receipt of") == 2


def test_a_red_by_run_is_filled_up_where_its_gate_stopped_sooner(started: ScratchRepo) -> None:
    started.commit("by the default gate", {"guard.yaml": NOT_DETERMINISTIC})
    assert guard(started, "run", "taxi").code == 1
    outcome = guard(started, "prove", "taxi")
    assert "0 of 3 passed" in outcome.out


def test_a_case_that_passes_on_the_skill_as_it_is(started: ScratchRepo) -> None:
    started.write({CASE_PATH: case("{no_changes: true}")})
    outcome = guard(started, "prove", "taxi")
    assert outcome.code == 1
    assert "taxi VACUOUS: it passes on the skill as it is (2 of 2)" in outcome.out
    assert "likely" in outcome.out
    assert "--before REV" in outcome.out


def test_a_case_that_passes_without_the_edit(started: ScratchRepo) -> None:
    started.write({CASE_PATH: case("{no_changes: true}"), SKILL_PATH: FIXED})
    outcome = guard(started, "prove", "taxi")
    assert outcome.code == 1
    assert "VACUOUS" in outcome.out


PATCHED = {"kind": "patch", "path": "regressions/taxi/before.patch"}


def test_a_fix_committed_earlier(started: ScratchRepo) -> None:
    before = started.git("rev-parse", "HEAD").strip()
    started.commit("fix: taxi", {SKILL_PATH: FIXED})
    started.commit("later", {SKILL_PATH: FIXED + "\nBe kind.\n"})
    outcome = guard(started, "prove", "taxi", "--before", "HEAD~2")
    assert outcome.code == 0, outcome
    assert record_of(started)["before"] == PATCHED
    assert f"git add {CASE_PATH} {RECORDS} regressions/taxi/before.patch" in outcome.out
    patch = (started.root / "regressions/taxi/before.patch").read_text()
    assert patch.startswith(f"Breaks agent clerk again as it was at {before}")
    started.commit("keep it")
    assert "taxi PROVEN (patch)" in guard(started, "verify").out
    assert guard(started, "prove", "taxi").code == 0
    assert record_of(started)["before"] == PATCHED


def test_a_patch_outlives_the_history_it_was_made_from(started: ScratchRepo) -> None:
    started.commit("fix: taxi", {SKILL_PATH: FIXED})
    assert guard(started, "prove", "taxi", "--before", "HEAD~1").code == 0
    tree = started.commit("keep it") and started.git("write-tree").strip()
    alone = started.git("commit-tree", tree, "-m", "squashed").strip()
    started.git("reset", "-q", "--hard", alone)
    started.git("reflog", "expire", "--expire=now", "--all")
    started.git("gc", "-q", "--prune=now")
    verified = guard(started, "verify", "--live")
    assert verified.code == 0, verified
    assert "taxi PROVEN (patch)" in verified.out


def test_a_tag_keeps_its_name(started: ScratchRepo) -> None:
    started.git("tag", "v1")
    started.commit("fix: taxi", {SKILL_PATH: FIXED})
    assert guard(started, "prove", "taxi", "--before", "v1").code == 0
    assert record_of(started)["before"] == PATCHED
    assert "as it was at v1" in (started.root / PATCHED["path"]).read_text()


def test_a_revision_that_is_as_good_as_today_is_degenerate(started: ScratchRepo) -> None:
    started.commit("case")
    outcome = guard(started, "prove", "taxi", "--before", "HEAD~1")
    assert outcome.code == 1
    assert "DEGENERATE" in outcome.out


def test_a_fix_that_was_committed_between_red_and_green(started: ScratchRepo) -> None:
    head = started.git("rev-parse", "HEAD").strip()
    assert guard(started, "prove", "taxi").code == 3
    started.git("add", SKILL_PATH)
    started.write({SKILL_PATH: FIXED})
    started.git("commit", "-q", "-m", "fix: taxi", "--", SKILL_PATH)
    assert guard(started, "prove", "taxi").code == 0
    assert record_of(started)["before"] == PATCHED
    assert head in (started.root / PATCHED["path"]).read_text()


def test_a_bug_that_was_never_committed(started: ScratchRepo) -> None:
    """A record written by hand with a patch is proven by it, whatever history says."""
    started.git("rm", "-q", "--cached", SKILL_PATH)
    started.write({SKILL_PATH: FIXED})
    started.git("add", SKILL_PATH)
    started.git("commit", "-q", "--amend", "-m", "start")
    started.write({SKILL_PATH: BROKEN})
    patch = started.git("diff")
    started.write({SKILL_PATH: FIXED, "bugs/taxi.patch": patch})
    before = {"kind": "patch", "path": "bugs/taxi.patch"}
    started.write({RECORDS: regressions(taxi=record(before=before))})
    outcome = guard(started, "prove", "taxi")
    assert outcome.code == 0, outcome
    assert record_of(started)["before"] == before
    assert record_of(started)["proof"]["before"] == {"passed": 0, "trials": 2}


def test_after_names_the_fixed_state(started: ScratchRepo) -> None:
    started.commit("fix: taxi", {SKILL_PATH: FIXED})
    started.commit("lost again", {SKILL_PATH: BROKEN})
    outcome = guard(started, "prove", "taxi", "--after", "HEAD~1")
    assert outcome.code == 0, outcome
    assert "PROVEN" in outcome.out
    assert not (started.root / RECORDS).exists()
    here = guard(started, "prove", "taxi", "--before", "HEAD~2", "--after", "HEAD~1")
    assert here.code == 0


def test_a_bug_that_came_back_raises_the_count(started: ScratchRepo) -> None:
    started.write({SKILL_PATH: FIXED})
    guard(started, "prove", "taxi")
    started.commit("fix: taxi")
    started.commit("lost", {SKILL_PATH: BROKEN + "\nBe quick.\n"})
    red = guard(started, "prove", "taxi")
    assert red.code == 3, red
    assert "RED" in red.out
    started.write({SKILL_PATH: FIXED + "\nBe quick.\n"})
    assert guard(started, "prove", "taxi").code == 0
    assert record_of(started)["reopened"] == 1
    assert guard(started, "prove", "taxi").code == 0
    assert record_of(started)["reopened"] == 1
    started.commit("fix: taxi again")
    assert "taxi PROVEN (live)" in guard(started, "verify").out


def test_the_fix_that_was_taken_back_is_red_again(started: ScratchRepo) -> None:
    started.write({SKILL_PATH: FIXED})
    guard(started, "prove", "taxi")
    started.commit("fix: taxi")
    started.commit("revert", {SKILL_PATH: BROKEN})
    assert "RED" in guard(started, "prove", "taxi").out


def test_an_edit_that_is_no_fix_of_a_proven_case_raises_nothing(started: ScratchRepo) -> None:
    started.write({SKILL_PATH: FIXED})
    guard(started, "prove", "taxi")
    started.commit("fix: taxi")
    started.write({SKILL_PATH: FIXED + "\nBe kind.\n"})
    outcome = guard(started, "prove", "taxi")
    assert outcome.code == 0, outcome
    assert "reopened" not in record_of(started)


def test_a_pending_record_is_filled_in(started: ScratchRepo) -> None:
    started.commit("fix: taxi", fix())
    assert record_of(started)["proof"] is None if "proof" in record_of(started) else True
    outcome = guard(started, "prove", "taxi")
    assert outcome.code == 0, outcome
    assert record_of(started)["proof"]["after"] == {"passed": 2, "trials": 2}
    assert "reopened" not in record_of(started)


def test_no_record_writes_nothing(started: ScratchRepo) -> None:
    started.write({SKILL_PATH: FIXED})
    outcome = guard(started, "prove", "taxi", "--no-record")
    assert outcome.code == 0
    assert "nothing is recorded (--no-record)" in outcome.out
    assert not (started.root / RECORDS).exists()


def test_more_trials_are_told(started: ScratchRepo) -> None:
    started.write({SKILL_PATH: FIXED})
    assert guard(started, "prove", "taxi", "--trials", "5").code == 0
    found = record_of(started)["proof"]
    assert (found["before"], found["after"]) == (
        {"passed": 0, "trials": 5},
        {"passed": 5, "trials": 5},
    )


@pytest.mark.parametrize(
    ("files", "code", "says"),
    [
        ({CASE_PATH: case(more="prerequisites: [program:no-such]\n")}, 3, "SKIP"),
        ({CASE_PATH: case(more="preconditions:\n  - file_exists: x.md\n")}, 3, "STALE"),
        ({SKILL_PATH: BROKEN + "\ncrash\n"}, 3, "INCONCLUSIVE"),
        ({SKILL_PATH: BROKEN + "\nsleep\n", CASE_PATH: case(more="timeout: 2\n")}, 1, "timeout"),
    ],
    ids=["skip", "stale", "crash", "time-out"],
)
def test_what_is_no_red(repo: ScratchRepo, files: dict[str, str], code: int, says: str) -> None:
    repo.commit("start", {**BASE, CASE_PATH: case(), **files})
    outcome = guard(repo, "prove", "taxi")
    assert outcome.code == code, outcome
    assert says in outcome.out
    assert "RED" not in outcome.out


def test_a_budget_of_nothing_leaves_it_pending(started: ScratchRepo) -> None:
    outcome = guard(started, "prove", "taxi", "--max-seconds", "0")
    assert outcome.code == 3
    assert "PENDING" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tax",), "taxi"),
        (("taxi", "--before", "nowhere"), "nowhere names no commit"),
        (("taxi", "--after", "nowhere"), "nowhere names no commit"),
        (("evals/*.md",), "names 2 cases"),
    ],
    ids=["unknown case", "unknown before", "unknown after", "two cases"],
)
def test_usage(started: ScratchRepo, arguments: tuple[str, ...], says: str) -> None:
    started.write({"evals/cab.md": case(name="cab")})
    outcome = guard(started, "prove", *arguments)
    assert outcome.code == 2, outcome
    assert says in outcome.err


def test_a_skill_that_was_never_committed_asks_for_a_commit(repo: ScratchRepo) -> None:
    repo.write({**BASE, CASE_PATH: case()})
    outcome = guard(repo, "prove", "taxi")
    assert outcome.code == 3
    assert "there was no agent before" in outcome.out


def test_owed_cases_of_the_same_agent_are_named(started: ScratchRepo) -> None:
    started.write({SKILL_PATH: FIXED, "evals/cab.md": case(name="cab")})
    assert "1 other case uses this skill: guard run --owed" in guard(started, "prove", "taxi").out


def test_from_a_folder_below_the_root(started: ScratchRepo) -> None:
    folder: Path = started.root / "agent"
    assert call_guard(folder, "prove", "taxi").code == 3


def test_what_is_committed_already_is_not_to_be_committed_again(started: ScratchRepo) -> None:
    guard(started, "prove", "taxi")
    started.write({SKILL_PATH: FIXED})
    assert "next: git add" in guard(started, "prove", "taxi").out
    started.git("add", "--all")
    started.git("commit", "-qm", "fix(expense): taxi")
    again = guard(started, "prove", "taxi")
    assert "PROVEN" in again.out
    assert "next: " not in again.out
