"""``guard verify`` and ``guard regressions``: which records, which exit code."""

from __future__ import annotations

import json

import pytest

from tests.clerk import (
    BASE,
    BROKEN,
    CASE_PATH,
    CLERK,
    FIXED,
    SKILL_PATH,
    case,
    fix,
    record,
    regressions,
)
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo

TWO = regressions(taxi=record(), cab=record(case="evals/cab.md"))


@pytest.fixture
def proven(repo: ScratchRepo) -> ScratchRepo:
    repo.commit("start", BASE)
    repo.commit("fix", fix(**{"evals/cab.md": case(name="cab"), "regressions.json": TWO}))
    return repo


def test_no_record_at_all_holds_and_says_so(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    for command in (("verify",), ("regressions", "verify"), ("regressions", "show")):
        outcome = call_guard(repo.root, *command)
        assert outcome.code == 0
        assert "nothing is retained" in outcome.out


def test_all_records_or_those_named(proven: ScratchRepo) -> None:
    one = call_guard(proven.root, "verify", "cab")
    assert one.code == 0
    assert "cab PROVEN" in one.out
    assert "taxi" not in one.out
    both = call_guard(proven.root, "verify")
    assert "2 of 2 regressions proven" in both.out


def test_an_unknown_id_names_the_nearest(proven: ScratchRepo) -> None:
    outcome = call_guard(proven.root, "verify", "tax")
    assert outcome.code == 2
    assert "taxi" in outcome.err


def test_the_json_report_holds_both_sides(proven: ScratchRepo) -> None:
    outcome = call_guard(proven.root, "verify", "taxi", "--json", "-")
    report = json.loads(outcome.out)
    (found,) = report["regressions"]
    assert (found["verdict"], found["state"], found["agent"]) == ("PROVEN", "live", "clerk")
    assert (found["before"]["passed"], found["after"]["passed"]) == (0, 2)
    assert 0 < found["p_value"] < 1
    assert report["exit_code"] == outcome.code == 0


@pytest.mark.parametrize(
    ("files", "verdict", "code", "strict"),
    [
        ({}, "PROVEN", 0, 0),
        ({SKILL_PATH: BROKEN + "\nBe quick.\n"}, "BROKEN_NOW", 1, 1),
        ({CASE_PATH: case("{no_changes: true}")}, "WRONG_REASON", 1, 1),
        ({CASE_PATH: case('{reply_contains: ["o"]}')}, "VACUOUS", 1, 1),
        ({CASE_PATH: None}, "UNPROTECTED", 1, 1),
        ({CASE_PATH: case(more="prerequisites: [program:no-such]\n")}, "SKIP", 0, 3),
        ({CASE_PATH: case(more="preconditions:\n  - file_exists: x.md\n")}, "STALE", 3, 3),
        ({SKILL_PATH: FIXED + "\ncrash\n"}, "INCONCLUSIVE", 3, 3),
    ],
)
def test_exit_codes(
    repo: ScratchRepo, files: dict[str, str | None], verdict: str, code: int, strict: int
) -> None:
    repo.commit("start", BASE)
    repo.commit("fix", fix())
    repo.write(files)
    outcome = call_guard(repo.root, "verify")
    assert verdict in outcome.out
    assert outcome.code == code, outcome
    assert call_guard(repo.root, "verify", "--strict").code == strict
    if code in (1, 3):
        assert call_guard(repo.root, "verify", "--report-only").code == 0


def test_a_budget_leaves_it_pending_and_owed(proven: ScratchRepo) -> None:
    outcome = call_guard(proven.root, "verify", "taxi", "--max-seconds", "0")
    assert outcome.code == 0
    assert "taxi PENDING" in outcome.out
    assert call_guard(proven.root, "verify", "--strict", "--max-seconds", "0").code == 3


def test_receipts_answer_until_live_is_asked_for(proven: ScratchRepo) -> None:
    call_guard(proven.root, "verify", "taxi")
    answered = call_guard(proven.root, "verify", "taxi", "--max-seconds", "0")
    assert "taxi PROVEN" in answered.out
    fresh = call_guard(proven.root, "verify", "taxi", "--live", "--max-seconds", "0")
    assert "taxi PENDING" in fresh.out


SLOW = BROKEN + "\nsleep\n"
LATE = {"before": {"kind": "parent"}, "fails_on": ["timeout"]}


def test_a_time_out_that_is_recorded_is_the_cases_own(repo: ScratchRepo) -> None:
    slow = CLERK.replace("time.sleep(60)", "time.sleep(4)")
    repo.commit("start", {**BASE, "agent/clerk.py": slow, SKILL_PATH: SLOW})
    asked = {CASE_PATH: case("{no_changes: true}", "timeout: 60\n")}
    repo.commit("fix", {**fix(), **asked, "regressions.json": regressions(taxi=record(**LATE))})
    outcome = call_guard(repo.root, "verify", "--timeout", "1")
    assert ("taxi VACUOUS" in outcome.out, outcome.code) == (True, 1), outcome
    assert "its own 60 s: --timeout 1 isn't used" in outcome.err
    # Where the case itself says so little, it is a proof: with the option and without it.
    repo.write({CASE_PATH: case("{no_changes: true}", "timeout: 3\n")})
    assert "taxi PROVEN" in call_guard(repo.root, "verify", "--timeout", "60").out
    assert "--timeout" not in call_guard(repo.root, "verify").err


def test_a_fix_that_was_taken_out_again_is_told_so(proven: ScratchRepo) -> None:
    proven.write({SKILL_PATH: BROKEN})
    outcome = call_guard(proven.root, "verify")
    assert "taxi DEGENERATE (live): the fix is gone from the agent" in outcome.out
    assert "guard run taxi" in outcome.out
    assert call_guard(proven.root, "run", "taxi").code == 1
    proven.write({SKILL_PATH: BROKEN + "\nBe kind.\n"})
    outcome = call_guard(proven.root, "verify")
    assert "taxi BROKEN_NOW" in outcome.out
    assert "the fix is gone from the agent" in outcome.out
    proven.write({SKILL_PATH: FIXED})
    assert "is gone" not in call_guard(proven.root, "verify").out


def test_what_passes_without_the_fix_alone_is_told_so(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: FIXED})
    repo.commit("fix", fix(**{SKILL_PATH: BROKEN}))
    outcome = call_guard(repo.root, "verify")
    assert "taxi VACUOUS" in outcome.out
    assert "it passes without the fix (2 of 2) and fails with it (0 of" in outcome.out
    assert "Which currency" in outcome.out


def test_fail_fast_does_not_take_a_red_for_the_end(proven: ScratchRepo) -> None:
    assert "taxi PROVEN" in call_guard(proven.root, "verify", "--fail-fast").out


def test_regressions_show_lists_what_is_retained(proven: ScratchRepo) -> None:
    outcome = call_guard(proven.root, "regressions", "show")
    assert outcome.code == 0
    assert "taxi (PENDING)" in outcome.out
    assert f"{CASE_PATH}, agent clerk, fails on reply_contains, before: parent" in outcome.out
    one = call_guard(proven.root, "regressions", "show", "cab", "--json", "-")
    assert list(json.loads(one.out)) == ["cab"]
    assert call_guard(proven.root, "regressions", "show", "regressions.json").code == 0
    assert "2 of 2 regressions proven" in call_guard(proven.root, "regressions", "verify").out


def test_a_proof_with_a_known_receipt_is_shown_as_proven(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.write({CASE_PATH: case(), SKILL_PATH: FIXED})
    assert call_guard(repo.root, "prove", "taxi").code == 0
    assert "taxi (proven 20" in call_guard(repo.root, "regressions", "show").out


@pytest.mark.parametrize("arguments", [("list",), ("show", "other.json")])
def test_other_actions_and_files_are_refused(
    proven: ScratchRepo, arguments: tuple[str, ...]
) -> None:
    assert call_guard(proven.root, "regressions", *arguments).code == 2
