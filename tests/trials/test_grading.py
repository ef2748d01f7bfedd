from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from guard.model import ERROR, FAIL, PASS, STALE, UNGRADED, XFAIL, Agent
from guard.plugin.api import Evaluator, Expectations, Trial
from guard.results import Observation, Score
from tests.conftest import ScratchRepo
from tests.staging import (
    case_of,
    run_argv,
    run_script,
)


def test_a_precondition_that_broke_is_stale_before_the_target_starts(repo: ScratchRepo) -> None:
    started: list[int] = []

    def run(trial: Trial) -> Observation:
        started.append(trial.number)
        return Observation()

    case = case_of(preconditions=({"no_match": "taxi"},))
    result = run_script(repo, "", case, run=run)
    assert result.verdict == STALE
    assert result.reason == 'stale, needs review: no_match "taxi": budget.md has it'
    assert started == []
    assert (
        run_script(repo, "", case_of(preconditions=({"match": "taxi"},)), run=run).verdict == PASS
    )


def test_what_no_evaluator_scores_is_ungraded(repo: ScratchRepo) -> None:
    nothing = run_script(repo, "true", case_of(expected={}))
    assert (nothing.verdict, nothing.reason) == (UNGRADED, "the case states no expectation")
    unknown = run_script(repo, "true", case_of(expected={"no_changes": True, "colour": "red"}))
    assert (unknown.verdict, unknown.reason) == (
        UNGRADED,
        "no score for what is expected: colour",
    )
    failing = run_script(repo, "echo >x", case_of(expected={"no_changes": True, "colour": "red"}))
    assert failing.verdict == FAIL


def test_what_always_holds_is_expected_of_every_case(repo: ScratchRepo) -> None:
    agent = Agent("expense", workspace="agent", always={"stdout_contains": ["ok"]})
    assert run_script(repo, "echo ok", agent=agent).verdict == PASS
    assert run_script(repo, "echo no", agent=agent).failing == ("stdout_contains",)
    own = case_of(expected={"stdout_contains": ["no"]})
    assert run_script(repo, "echo no", own, agent=agent).verdict == PASS


def scoring(*scores: object) -> Evaluator:
    def evaluate(observation: Observation, expected: Expectations) -> Iterable[Score]:
        assert expected["mine"]
        return scores  # type: ignore[return-value]  # what a plugin may get wrong

    return Evaluator("mine", evaluate, reads=("mine",), writes=("mine",), source="plugin")


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (Score("mine", 1.5), "scored mine with 1.5, which is not from 0 to 1"),
        (Score("mine", float("nan")), "scored mine with nan"),
        (Score("other", 1.0), "wrote other, which it doesn't declare"),
        (True, "returned bool, not a score"),
    ],
)
def test_a_score_that_breaks_the_contract_is_an_error(
    repo: ScratchRepo, score: object, said: str
) -> None:
    case = case_of(expected={"mine": 1})
    result = run_script(repo, "true", case, evaluators=[scoring(score)])
    assert result.verdict == ERROR
    assert said in result.reason
    fine = run_script(repo, "true", case, evaluators=[scoring(Score("mine", 1.0))])
    assert fine.verdict == PASS


def test_a_key_read_undeclared_is_an_error(repo: ScratchRepo) -> None:
    def evaluate(observation: Observation, expected: Expectations) -> Iterable[Score]:
        return [Score("mine", float(expected["no_changes"]))]

    peeking = Evaluator("mine", evaluate, reads=("mine",), writes=("mine",))
    case = case_of(expected={"mine": 1, "no_changes": True})
    result = run_script(repo, "true", case, evaluators=[peeking])
    assert result.reason == "evaluator mine read no_changes, which it doesn't declare"
    undeclared = peeking._replace(declared=False, reads=(), writes=())
    assert run_script(repo, "true", case, evaluators=[undeclared]).verdict == PASS


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
        (SystemExit(0), "SystemExit: 0"),
    ],
)
def test_an_evaluator_that_raises_is_named(
    repo: ScratchRepo, error: BaseException, said: str
) -> None:
    def evaluate(observation: Observation, expected: Expectations) -> Iterable[Score]:
        raise error

    broken = Evaluator("mine", evaluate, reads=("mine",), writes=("mine",))
    result = run_script(repo, "true", case_of(expected={"mine": 1}), evaluators=[broken])
    assert result.verdict == ERROR
    assert result.reason.startswith(f"evaluator mine raised {said} (")


def with_fact(value: object) -> Callable[[Trial], Observation]:
    def run(trial: Trial) -> Observation:
        return run_argv(trial)._replace(facts={"model": value})

    return run


def test_a_baseline_excuses_what_it_names_and_only_there(repo: ScratchRepo) -> None:
    group = {"failing_keys": ["no_changes"], "only_when": {"model": "small"}}
    case = case_of(
        expected={"no_changes": True, "stdout_contains": ["ok"]}, expected_baseline=(group,)
    )
    excused = run_script(repo, "echo ok; echo >x", case, run=with_fact("small"))
    assert (excused.verdict, excused.excused) == (XFAIL, ("no_changes",))
    larger = run_script(repo, "echo ok; echo >x", case, run=with_fact("large"))
    assert (larger.verdict, larger.failing) == (FAIL, ("no_changes",))
    both = run_script(repo, "echo >x", case, run=with_fact("small"))
    assert (both.verdict, both.excused) == (FAIL, ("no_changes",))
    assert both.reason.startswith("stdout_contains")
    unknown = run_script(repo, "echo ok; echo >x", case)
    assert unknown.verdict == ERROR
    assert "facts that the target never set: model" in unknown.reason


def test_a_baseline_never_excuses_what_was_left_running(repo: ScratchRepo) -> None:
    case = case_of(expected_baseline=({"failing_keys": ["orphans", "timeout"]},))
    assert run_script(repo, "sleep 60 &", case).verdict == FAIL
