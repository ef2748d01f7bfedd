"""Each verdict of a proof, on a repository built for it; the agent is a real program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from guard.budget import Budget
from guard.engine import Limits
from guard.model import Side
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


def test_the_two_sides_run_in_turn(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, "guard.yaml": NOT_DETERMINISTIC})
    repo.commit("fix: taxi", fix())
    found = prove(repo.root, limits=Limits(jobs=1))
    passed = [trial.verdict == "PASS" for trial in found.ran]
    assert passed == [False, True, False, True, False, True, True]


def test_two_trials_that_agree_are_enough_of_a_deterministic_target(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    result = prove(repo.root).one
    assert (result.before, result.after) == (Side(0, 2), Side(2, 2))


def test_more_trials_are_told_and_decide_nothing(repo: ScratchRepo) -> None:
    """The fourth trial of the mood would pass; the first three have decided."""
    repo.commit("start", {**BASE, "guard.yaml": NOT_DETERMINISTIC})
    repo.commit("fix: taxi", fix())
    result = prove(repo.root, limits=Limits(jobs=2, trials=6)).one
    assert (result.verdict, result.before, result.after) == ("PROVEN", Side(0, 6), Side(6, 6))


def test_kept_trials_count_towards_those_asked_for(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    prove(repo.root)
    found = prove(repo.root, limits=Limits(jobs=2, trials=3))
    assert (found.one.before, found.one.after) == (Side(0, 3), Side(3, 3))
    assert len(found.ran) == 2


MODEL = """\
import pathlib
from guard.plugin import Observation, Target, hookimpl

def run(trial):
    text = pathlib.Path(trial.workspace, "skills/clerk/SKILL.md").read_text()
    reply = "Which currency?" if "Ask which" in text else "Booked."
    return Observation(reply=reply, {observed})

@hookimpl
def guard_targets():
    return [Target("model", run, "a model", {declared})]
"""


def with_model(observed: str, declared: str = "") -> dict[str, str]:
    config = CONFIG.replace("target: command", "target: model").replace(
        '    options: {argv: [python3, clerk.py, "{utterance}"], deterministic: true}\n', ""
    )
    plugin = MODEL.replace("{observed}", observed).replace("{declared}", declared)
    listed = config.replace("version: 1\n", "version: 1\nplugins: [evals/model.py]\n")
    return {**BASE, "guard.yaml": listed, "evals/model.py": plugin}


def test_a_target_that_tells_what_it_loaded_is_controlled(repo: ScratchRepo) -> None:
    repo.commit("start", with_model("loaded=True"))
    repo.commit("fix: taxi", fix())
    found = prove(repo.root)
    assert (found.one.verdict, found.not_established) == ("PROVEN", ())


def test_an_agent_that_was_not_loaded_proves_nothing(repo: ScratchRepo) -> None:
    repo.commit("start", with_model("loaded=False"))
    repo.commit("fix: taxi", fix())
    result = prove(repo.root).one
    assert result.verdict == "INCONCLUSIVE"
    assert "agent_not_loaded" in result.reason


def test_the_same_response_twice_proves_nothing(repo: ScratchRepo) -> None:
    repo.commit("start", with_model("response_ids=('msg_1',)"))
    repo.commit("fix: taxi", fix())
    result = prove(repo.root).one
    assert result.verdict == "INCONCLUSIVE"
    assert "the same response id" in result.reason


def test_what_ran_against_a_stand_in_is_not_kept(repo: ScratchRepo) -> None:
    repo.commit("start", with_model("loaded=True", "live=False"))
    repo.commit("fix: taxi", fix())
    assert len(prove(repo.root).ran) == len(prove(repo.root).ran) == 7


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
    assert len(found.ran) == 5


def test_flaky_before_takes_up_to_seven_trials(repo: ScratchRepo) -> None:
    moody = {**BASE, "guard.yaml": NOT_DETERMINISTIC, SKILL_PATH: BROKEN + "\nmoody\n"}
    repo.commit("start", moody)
    repo.commit("fix: taxi", fix())
    result = prove(repo.root).one
    assert result.verdict == "PROVEN"
    assert result.before == Side(3, 7)


def test_a_weaker_expectation_in_the_working_tree_is_vacuous(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    assert prove(repo.root).one.verdict == "PROVEN"
    repo.write({CASE_PATH: case('{reply_contains: ["o"]}')})
    assert prove(repo.root).one.verdict == "VACUOUS"
    repo.write({CASE_PATH: case()})
    assert prove(repo.root).one.verdict == "PROVEN"


def test_receipts_answer_both_sides(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    first = prove(repo.root)
    second = prove(repo.root)
    assert len(first.ran) == 4
    assert second.ran == []
    assert second.one.verdict == "PROVEN"
    assert (second.one.before, second.one.after) == (first.one.before, first.one.after)
    assert second.one.before_result is not None
    assert second.one.before_result.reused
    assert second.one.before_result.receipt
    assert len(prove(repo.root, limits=Limits(jobs=2, no_cache=True)).ran) == 4


def test_an_edit_of_the_skill_does_not_buy_the_reds_again(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    prove(repo.root)
    repo.commit("polish", skill(FIXED + "\nBe kind.\n"))
    again = prove(repo.root)
    assert (again.one.verdict, again.one.state) == ("PROVEN", "live")
    assert {trial.verdict for trial in again.ran} == {"PASS"}
    live = prove(repo.root, live=True)
    assert {trial.verdict for trial in live.ran} == {"PASS", "FAIL"}


def test_a_kept_red_does_not_answer_for_another_case_or_record(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    prove(repo.root)
    repo.commit("stricter", {CASE_PATH: case('{reply_contains: ["Which currency", "nothing"]}')})
    assert {trial.verdict for trial in prove(repo.root).ran} == {"PASS", "FAIL"}
    repo.commit("wrong", records(fails_on=["no_changes"]))
    assert prove(repo.root).one.verdict == "WRONG_REASON"


def test_without_running_what_nothing_answers_is_pending(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    typed = {"before": {"passed": 0, "trials": 4}, "after": {"passed": 9, "trials": 9}}
    proof = {**typed, "date": "2026-07-12", "receipts": ["sha256:00"]}
    repo.commit("fix: taxi", fix() | records(proof=proof))
    found = prove(repo.root, run=False)
    assert (found.one.verdict, found.ran) == ("PENDING", [])
    prove(repo.root)
    assert prove(repo.root, run=False).one.verdict == "PROVEN"


def test_a_budget_that_ends_first_leaves_it_pending_and_is_resumed(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    found = prove(repo.root, budget=Budget(max_seconds=0))
    assert (found.one.verdict, found.ran) == ("PENDING", [])
    assert prove(repo.root).one.verdict == "PROVEN"


def test_an_error_is_drawn_again_twice_and_no_more(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: BROKEN + "\ncrash\n"})
    repo.commit("fix: taxi", fix())
    found = prove(repo.root, limits=Limits(jobs=1))
    assert [trial.verdict for trial in found.ran].count("ERROR") == 3


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
