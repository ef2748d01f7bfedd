"""What answers a side of a proof without a run, and what a target must tell."""

from __future__ import annotations

from typing import Any

import pytest

from guard.engine import Limits
from guard.results import Side
from guard.running.budget import Budget
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
from tests.conftest import ScratchRepo
from tests.proving import prove


def records(**changes: Any) -> dict[str, str]:
    return {"regressions.json": regressions(taxi=record(**changes))}


NOT_DETERMINISTIC = CONFIG.replace("deterministic: true", "deterministic: false")


def skill(text: str) -> dict[str, str]:
    return {SKILL_PATH: text}


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


@pytest.mark.parametrize(
    ("number", "verdict"), [("str(trial.number)", "INCONCLUSIVE"), ("trial.workspace", "PROVEN")]
)
def test_an_answer_that_both_sides_have_proves_nothing(
    repo: ScratchRepo, number: str, verdict: str
) -> None:
    repo.commit("start", with_model(f"loaded=True, response_ids=('msg_' + {number},)"))
    repo.commit("fix: taxi", fix())
    result = prove(repo.root).one
    assert result.verdict == verdict
    said = "both sides have the same response id (msg_1): a cache answered"
    assert (said in result.reason) is (verdict == "INCONCLUSIVE")
    # Nor does it refute anything: that it passes before may be what the fixed one answered.
    repo.write({CASE_PATH: case('{reply_contains: ["o"]}')})
    assert prove(repo.root).one.verdict == verdict.replace("PROVEN", "VACUOUS")


def test_what_ran_against_a_stand_in_is_not_kept(repo: ScratchRepo) -> None:
    repo.commit("start", with_model("loaded=True", "live=False"))
    repo.commit("fix: taxi", fix())
    assert len(prove(repo.root).ran) == len(prove(repo.root).ran) == 7


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


def test_more_trials_are_told_and_decide_nothing(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, "guard.yaml": NOT_DETERMINISTIC})
    repo.commit("fix: taxi", fix())
    result = prove(repo.root, limits=Limits(jobs=2, trials=6)).one
    assert (result.verdict, result.before, result.after) == ("PROVEN", Side(0, 6), Side(6, 6))


def test_an_error_is_drawn_again_twice_and_no_more(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: BROKEN + "\ncrash\n"})
    repo.commit("fix: taxi", fix())
    found = prove(repo.root, limits=Limits(jobs=1))
    assert [trial.verdict for trial in found.ran].count("ERROR") == 3
