"""Each verdict of a proof, on a repository built for it; the agent is a real program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from guard.engine import Limits
from guard.results import Side
from tests.clerk import (
    BASE,
    BROKEN,
    CASE_PATH,
    CONFIG,
    FIX,
    FIXED,
    SECOND_GUARD,
    SKILL_PATH,
    case,
    fix,
    record,
    regressions,
)
from tests.conftest import ScratchRepo
from tests.proving import prove

Files = Mapping[str, str | None]
NOT_DETERMINISTIC = CONFIG.replace("deterministic: true", "deterministic: false")


def records(**changes: Any) -> dict[str, str]:
    return {"regressions.json": regressions(taxi=record(**changes))}


def skill(text: str) -> dict[str, str]:
    return {SKILL_PATH: text}


class Situation(NamedTuple):
    """One history, commit by commit, and what is said of it."""

    name: str
    commits: tuple[Files, ...]
    verdict: str
    state: str = "live"
    says: str = ""


TWO_GUARDS = FIXED.replace("Say what", SECOND_GUARD + "\nSay what")
SITUATIONS = (
    Situation("fixed in one commit", (BASE, fix()), "PROVEN"),
    Situation(
        "polished since",
        (BASE, fix(), skill(FIXED + "\nBe kind.\n")),
        "PROVEN",
    ),
    Situation(
        "reworded where the fix is",
        (BASE, fix(), skill(FIXED.replace("Ask which currency", "- Ask which currency"))),
        "PROVEN",
        "pinned",
        "not by the live state",
    ),
    Situation(
        "a second sentence guards by now",
        (BASE, fix(), skill(TWO_GUARDS)),
        "PROVEN",
        "pinned",
    ),
    Situation(
        "the case can't see the bug",
        (BASE, fix(**{CASE_PATH: case("{no_changes: true}")}, **records(fails_on=["no_changes"]))),
        "VACUOUS",
        says="2 of 2",
    ),
    Situation(
        "it fails on another key",
        (
            BASE,
            fix(**{CASE_PATH: case('{reply_contains: ["Which"], no_changes: true}')})
            | records(fails_on=["no_changes"]),
        ),
        "WRONG_REASON",
        says="reply_contains",
    ),
    Situation(
        "it fails on one of two recorded keys",
        (
            BASE,
            fix(**{CASE_PATH: case('{reply_contains: ["Which"], no_changes: true}')})
            | records(fails_on=["no_changes", "reply_contains"]),
        ),
        "WRONG_REASON",
    ),
    Situation(
        "it passes, on a key that the case doesn't state",
        (BASE, fix(**{CASE_PATH: case("{no_changes: true}")})),
        "WRONG_REASON",
        says="reply_contains, which the case doesn't state",
    ),
    Situation(
        "no key is recorded",
        (BASE, fix() | records(fails_on=[])),
        "WRONG_REASON",
        says="no key",
    ),
    Situation(
        "it times out before",
        (
            {**BASE, SKILL_PATH: BROKEN + "\nsleep\n"},
            fix(**{CASE_PATH: case(more="timeout: 2\n")}),
        ),
        "WRONG_REASON",
        says="timeout",
    ),
    Situation(
        "the time-out is what is recorded",
        (
            {**BASE, SKILL_PATH: BROKEN + "\nsleep\n"},
            fix(**{CASE_PATH: case(more="timeout: 2\n")}) | records(fails_on=["timeout"]),
        ),
        "PROVEN",
    ),
    Situation(
        "it never worked",
        (BASE, fix(**skill(BROKEN + "\nBe careful.\n"))),
        "BROKEN_NOW",
    ),
    Situation(
        "the record came after its fix",
        (BASE, skill(FIXED), {k: v for k, v in fix().items() if k != SKILL_PATH}),
        "DEGENERATE",
        says="changes nothing",
    ),
    Situation(
        "the record came after its fix, and the skill went on",
        (
            BASE,
            skill(FIXED),
            {k: v for k, v in fix().items() if k != SKILL_PATH},
            skill(FIXED + "\nBe kind.\n"),
        ),
        "DEGENERATE",
        "pinned",
        "changes nothing of the agent",
    ),
    Situation(
        "the fix was taken back",
        (BASE, fix(), skill(BROKEN)),
        "DEGENERATE",
    ),
    Situation("the case is gone", (BASE, fix(), {CASE_PATH: None}), "UNPROTECTED", "", "not there"),
    Situation(
        "the case was renamed",
        (BASE, fix(), {CASE_PATH: None, "evals/cab.md": case()}),
        "UNPROTECTED",
        "",
        "a case of that id is in evals/cab.md",
    ),
    Situation(
        "the agent is gone",
        (BASE, fix(), {"guard.yaml": CONFIG.replace("  clerk:", "  cashier:")}),
        "UNPROTECTED",
        "",
        "agent clerk is no longer in guard.yaml",
    ),
    Situation(
        "the program crashes before",
        ({**BASE, SKILL_PATH: BROKEN + "\ncrash\n"}, fix()),
        "INCONCLUSIVE",
        says="before the fix ERROR",
    ),
    Situation(
        "the case grades the exit code",
        (
            {**BASE, SKILL_PATH: BROKEN + "\ncrash\n"},
            fix(**{CASE_PATH: case("{exit_code: 0}")}) | records(fails_on=["exit_code"]),
        ),
        "PROVEN",
    ),
    Situation(
        "126 is no exit code to grade",
        (
            {**BASE, SKILL_PATH: BROKEN + "\nnot executable\n"},
            fix(**{CASE_PATH: case("{exit_code: 0}")}) | records(fails_on=["exit_code"]),
        ),
        "INCONCLUSIVE",
        says="before the fix ERROR",
    ),
    Situation(
        "it crashes now",
        (BASE, fix(**skill(FIXED + "\ncrash\n"))),
        "INCONCLUSIVE",
        says="now ERROR",
    ),
    Situation(
        "a deterministic target's trials disagree before",
        ({**BASE, SKILL_PATH: BROKEN + "\nmoody\n"}, fix()),
        "INCONCLUSIVE",
        says="disagree",
    ),
    Situation(
        "there was no agent before",
        ({k: v for k, v in BASE.items() if k != SKILL_PATH}, fix()),
        "STALE",
        "",
        "no agent before",
    ),
    Situation(
        "a precondition doesn't hold",
        (BASE, fix(**{CASE_PATH: case(more="preconditions:\n  - file_exists: budget.md\n")})),
        "STALE",
        says="budget.md",
    ),
    Situation(
        "a program is missing here",
        (BASE, fix(**{CASE_PATH: case(more="prerequisites: [program:no-such-program]\n")})),
        "SKIP",
        says="no-such-program",
    ),
    Situation(
        "it is retired",
        (
            BASE,
            fix()
            | records(
                status="retired", retirement={"reason": "no longer sold", "date": "2026-01-01"}
            ),
        ),
        "RETIRED",
        "",
        "no longer sold",
    ),
    Situation(
        "a revision is named",
        (
            BASE,
            skill(FIXED),
            {k: v for k, v in fix().items() if k != SKILL_PATH}
            | records(before={"kind": "revision", "rev": "HEAD~2"}),
        ),
        "PROVEN",
        "revision",
    ),
    Situation(
        "a revision is named that isn't there",
        (BASE, fix() | records(before={"kind": "revision", "rev": "v0.9"})),
        "BLOCKED",
        "",
        "v0.9 is not here",
    ),
    Situation(
        "the baseline excuses it now",
        (
            BASE,
            fix(
                **skill(FIXED + "\nwrite down\n"),
                **{
                    CASE_PATH: case(
                        '{reply_contains: ["Which"], no_changes: true}',
                        "expected_baseline:\n  - {failing_keys: [no_changes]}\n",
                    )
                },
            ),
        ),
        "BROKEN_NOW",
    ),
)


@pytest.mark.parametrize("situation", SITUATIONS, ids=[s.name for s in SITUATIONS])
def test_verdicts(repo: ScratchRepo, situation: Situation) -> None:
    for number, files in enumerate(situation.commits):
        repo.commit(f"commit {number}", files)
    result = prove(repo.root).one
    assert (result.verdict, result.state) == (situation.verdict, situation.state), result.reason
    assert situation.says in result.reason


def test_both_rates_and_the_p_value_are_told(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, "guard.yaml": NOT_DETERMINISTIC})
    repo.commit("fix: taxi", fix())
    found = prove(repo.root)
    result = found.one
    assert (result.before, result.after) == (Side(0, 3), Side(4, 4))
    assert result.p_value is not None
    assert round(result.p_value, 6) == round(1 / 35, 6)
    assert "not controlled" in found.not_established[0]
    assert result.before_result is not None
    assert {trial.verdict for trial in result.before_result.trials} == {"FAIL"}


def test_the_two_sides_run_in_turn_and_in_no_fixed_rhythm(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, "guard.yaml": NOT_DETERMINISTIC})
    repo.commit("fix: taxi", fix())
    found = prove(repo.root, limits=Limits(jobs=1))
    passed = [trial.verdict == "PASS" for trial in found.ran]
    assert passed == [False, True, True, False, True, False, True]


def test_two_trials_that_agree_are_enough_of_a_deterministic_target(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    result = prove(repo.root).one
    assert (result.before, result.after) == (Side(0, 2), Side(2, 2))


def test_a_case_that_is_blocked_is_pending(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    more = 'blocked_when_stdout_contains: ["4600"]\n'
    repo.commit("fix: taxi", fix(**{CASE_PATH: case(more=more)}))
    assert prove(repo.root).one.verdict == "PENDING"


def test_a_vacuous_case_stops_its_fixed_side(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, "guard.yaml": NOT_DETERMINISTIC})
    seen = case("{no_changes: true}")
    repo.commit("fix: taxi", fix(**{CASE_PATH: seen}, **records(fails_on=["no_changes"])))
    found = prove(repo.root, limits=Limits(jobs=1))
    assert found.one.verdict == "VACUOUS"
    assert len(found.ran) == 6


def test_flaky_before_takes_up_to_seven_trials(repo: ScratchRepo) -> None:
    moody = {**BASE, "guard.yaml": NOT_DETERMINISTIC, SKILL_PATH: BROKEN + "\nmoody\n"}
    repo.commit("start", moody)
    repo.commit("fix: taxi", fix())
    result = prove(repo.root).one
    assert result.verdict == "PROVEN"
    assert result.before == Side(3, 7)


def test_several_records_are_proven_at_once(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    two = regressions(taxi=record(), cab=record(case="evals/cab.md"))
    repo.commit("fix: taxi", fix(**{"evals/cab.md": case(name="cab"), "regressions.json": two}))
    assert {r.verdict for r in prove(repo.root).results.values()} == {"PROVEN"}


def test_a_branch_decides_where_live_and_pinned_pass(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("half", skill(FIXED))
    repo.commit("fix: taxi", fix(**skill(TWO_GUARDS)))
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {"b": "1"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    result = prove(repo.root).one
    assert (result.verdict, result.state) == ("PROVEN", "branch")


def test_a_shallow_clone_is_blocked_with_the_command(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    shallow = tmp_path / "shallow"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(shallow))
    result = prove(shallow).one
    assert (result.verdict, result.hint) == ("BLOCKED", "git fetch --unshallow")
    ScratchRepo(shallow).git("fetch", "-q", "--unshallow")
    assert prove(shallow).one.verdict == "PROVEN"


def test_only_in_the_index_or_the_working_tree(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.write(fix())
    assert prove(repo.root).one.verdict == "PROVEN"
    repo.git("add", "--all")
    repo.write(skill(BROKEN))
    assert prove(repo.root, at="index").one.verdict == "PROVEN"


def test_a_commit_under_test_is_its_own_tip(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    fixed = repo.commit("fix: taxi", fix())
    repo.commit("lost", skill(BROKEN))
    assert prove(repo.root, at=fixed, before=[fixed]).one.verdict == "PROVEN"


def test_the_broken_workspace_holds_no_fixed_text(repo: ScratchRepo) -> None:
    """A copy of the skill elsewhere in the repository would let the broken side find it."""
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix(**{"docs/clerk.md": FIX}))
    before = prove(repo.root).one.before_result
    assert before is not None
    assert all("4600" in trial.observation.reply for trial in before.trials)


def test_nothing_of_the_users_is_changed(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    state = [repo.git(*call) for call in (("status", "--porcelain"), ("for-each-ref",))]
    files = sorted(path for path in (repo.root / ".git" / "objects").rglob("*"))
    prove(repo.root)
    assert [repo.git(*c) for c in (("status", "--porcelain"), ("for-each-ref",))] == state
    assert sorted(path for path in (repo.root / ".git" / "objects").rglob("*")) == files
