"""Trials have to be independent: what a cache answered is one answer, however often it comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from guard.affected import Selected
from guard.engine import Engine, Limits
from guard.results import CaseResult
from guard.running.budget import Budget
from guard.session import Session
from tests.conftest import ScratchRepo
from tests.guard_command import case, config
from tests.test_engine import plugged

ONE_JOB = Limits(jobs=1)
CONFIRM = Limits(jobs=1, confirm=True)
AGAIN = Limits(jobs=1, no_cache=True)
#: A response id that stays the same from the trial on that the expression names.
CACHED = "said('{said}', response_ids=(f'r{{min(trial.number, {last})}}',), cost_usd=0.1)"
#: One that no other trial of any run has.
FRESH = "said('{said}', response_ids=(trial.env['GUARD_TRIAL'] + trial.workspace,))"


@pytest.fixture
def session(repo: ScratchRepo) -> Iterator[Session]:
    with Session.open(str(repo.root)) as opened:
        yield opened


def run(
    session: Session,
    limits: Limits = ONE_JOB,
    budget: Budget | None = None,
    **how: Any,
) -> CaseResult:
    project = session.project()
    with Engine(project, limits, budget) as engine:
        (result,) = engine.run([Selected(project.cases["one"])], **how)
    return result


def test_a_second_gate_that_a_cache_answers_confirms_nothing(
    repo: ScratchRepo, session: Session
) -> None:
    repo.write({**plugged(), **case(CACHED.format(said="no", last=2))})
    found = run(session, CONFIRM)
    assert (found.verdict, found.confirmed) == ("INCONCLUSIVE", False)
    assert "0 of 0 passed when repeated (ERROR)" in found.reason
    repo.write(case(FRESH.format(said="no")))
    found = run(session, CONFIRM)
    assert (found.verdict, found.confirmed) == ("FAIL", True)


def test_a_run_that_goes_on_knows_what_was_answered_before(
    repo: ScratchRepo, session: Session
) -> None:
    repo.write({**plugged(), **case(CACHED.format(said="hello", last=2), trials=4)})
    ended = run(session, ONE_JOB, Budget(max_cost=0.15))
    assert (ended.verdict, len(ended.trials)) == ("OWED", 2)
    found = run(session, resume=True)
    assert found.verdict == "ERROR"
    assert "the same response id as in trial 2: a cache answered" in found.reason


def test_old_evidence_is_not_made_anew_by_a_cache(repo: ScratchRepo, session: Session) -> None:
    repo.write({**plugged(), **case(CACHED.format(said="hello", last=9))})
    first = run(session)
    assert first.verdict == "PASS"
    again = run(session, AGAIN)
    assert again.verdict == "ERROR"
    assert "the same response id as in trial 1 of 20" in again.reason
    repo.write(case(FRESH.format(said="hello")))
    assert [run(session, how).verdict for how in (ONE_JOB, AGAIN)] == ["PASS", "PASS"]


def test_a_failure_that_a_cache_repeats_is_one_still(repo: ScratchRepo, session: Session) -> None:
    """Else to run it again would turn a regression into something that is only not known."""
    repo.write({**plugged(), **case(CACHED.format(said="no", last=9))})
    assert [run(session).verdict, run(session).verdict] == ["FAIL", "FAIL"]


def test_a_deterministic_target_answers_alike(repo: ScratchRepo, session: Session) -> None:
    same = case(CACHED.format(said="hello", last=1))
    repo.write({**plugged(deterministic=True), **same})
    assert [run(session, how).verdict for how in (ONE_JOB, AGAIN)] == ["PASS", "PASS"]


@pytest.mark.parametrize(("outcomes", "verdict"), [("FPPPP", "PASS"), ("PFF", "FAIL")])
def test_trials_that_end_in_reverse_are_read_in_order(
    repo: ScratchRepo, session: Session, outcomes: str, verdict: str
) -> None:
    words = {"P": "hello", "F": "no"}
    said = " ".join(f"{n}) echo {words[letter]};;" for n, letter in enumerate(outcomes, 1))
    script = f"sleep 0.0$((9 - GUARD_TRIAL)); case $GUARD_TRIAL in {said} esac"
    repo.write({**config(), **case(script, gate="quick")})
    found = run(session, Limits(jobs=4))
    assert found.verdict == verdict, found.reason
    names = {"P": "PASS", "F": "FAIL"}
    expected = [(n, names[letter]) for n, letter in enumerate(outcomes, 1)]
    assert [(trial.number, trial.verdict) for trial in found.trials] == expected
