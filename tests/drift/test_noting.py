"""What a run's report says first: the drift of its cases, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from guard.drift.noting import with_drift
from guard.results import CaseResult, Fingerprint, Observation, ProofResult, Report, TrialResult
from guard.store import Store

DATE = "2026-11-20T10:00:00+00:00"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(str(tmp_path))
    yield opened
    opened.close()


def case(
    name: str = "taxi",
    version: str = "2.1.0",
    verdict: str = "PASS",
    models: tuple[str, ...] = (),
    agent: str = "clerk",
) -> CaseResult:
    program = f"claude-code {version}"
    trials = tuple(
        TrialResult(
            name,
            number,
            verdict,
            observation=Observation(program=program, model=model),
            asked=Fingerprint(program, "sonnet"),
        )
        for number, model in enumerate(models or ("s-1",), 1)
    )
    return CaseResult(name, agent, verdict, trials)


def held(store: Store, *cases: CaseResult, date: str = DATE) -> None:
    store.put_run(Report("run", f"r{date}", finished=date, cases=cases))


def said(store: Store, *cases: CaseResult, proofs: tuple[ProofResult, ...] = ()) -> list[str]:
    return list(with_drift(Report("run", cases=cases, regressions=proofs), store).drift)


def test_a_first_run_and_an_unchanged_one_say_nothing(store: Store) -> None:
    assert said(store, case()) == []
    held(store, case())
    assert said(store, case(verdict="FAIL")) == []


def test_a_failure_after_an_update_may_be_the_updates(store: Store) -> None:
    held(store, case())
    assert said(store, case(version="2.1.4", verdict="FAIL")) == [
        "claude-code is 2.1.4 now, was 2.1.0 when this suite last held (2026-11-20): "
        "what fails below may be the program, not your change"
    ]


def test_what_holds_with_the_new_one_is_said_too(store: Store) -> None:
    held(store, case())
    assert said(store, case(version="2.1.4")) == [
        "claude-code is 2.1.4 now, was 2.1.0 when this suite last held (2026-11-20): "
        "what is said below is of the new one"
    ]


def test_cases_and_agents_share_a_sentence_with_the_latest_date(store: Store) -> None:
    held(store, case(), case("lunch"))
    held(store, case("note", agent="scribe"), date="2026-11-22T10:00:00+00:00")
    cases = (
        case(version="2.1.4"),
        case("lunch", "2.1.4", "FAIL"),
        case("note", "2.1.4", agent="scribe"),
        case("new", "2.1.4", agent="other"),
    )
    assert said(store, *cases) == [
        "claude-code is 2.1.4 now, was 2.1.0 when what guards clerk and scribe last held "
        "(2026-11-22): what fails below may be the program, not your change"
    ]


def test_each_case_knows_its_own(store: Store) -> None:
    held(store, case(), case("lunch", "2.1.4"))
    report = Report("run", cases=(case(version="2.1.4"), case("lunch", "2.1.4")))
    first, second = with_drift(report, store).cases
    assert [(one.now, one.was, one.since) for one in first.drift] == [("2.1.4", "2.1.0", DATE)]
    assert second.drift == ()


def test_a_failure_in_between_does_not_count_as_held(store: Store) -> None:
    held(store, case())
    held(store, case(version="2.1.4", verdict="FAIL"), date="2026-11-21T10:00:00+00:00")
    assert "was 2.1.0" in said(store, case(version="2.1.4", verdict="FAIL"))[0]
    held(store, case(version="2.1.4"), date="2026-11-22T10:00:00+00:00")
    assert said(store, case(version="2.1.4", verdict="FAIL")) == []


def test_an_agent_that_is_not_of_the_run_is_not_looked_at(store: Store) -> None:
    held(store, case(), case("note", agent="scribe"))
    assert said(store, case()) == []
    skipped = CaseResult("note", "scribe", "SKIP", reason="no program")
    assert said(store, case(), skipped) == []


def test_a_receipt_drove_nothing(store: Store) -> None:
    held(store, case())
    assert said(store, CaseResult("taxi", "clerk", "PASS", reused=DATE, recorded_trials=4)) == []


def test_two_models_in_one_run_are_no_rate_of_either(store: Store) -> None:
    told = (case(models=("s-1", "s-2")), case("lunch", models=("s-2", "s-1")), case("note"))
    assert said(store, *told) == [
        "2 models answered trials of one case (s-1 and s-2): "
        "the rate of taxi and lunch is that of none of them alone"
    ]


def test_the_sides_of_a_proof_must_be_of_one_model(store: Store) -> None:
    before, after = case(verdict="FAIL"), case(models=("s-2",))
    kept = before._replace(reused=DATE)
    proof = ProofResult("bug-1", "clerk", "taxi", "PROVEN", before_result=kept, after_result=after)
    (line,) = said(store, proofs=(proof,))
    assert line.startswith("2 models answered trials of one case (s-1 and s-2): the rate of bug-1")
    held(store, case())
    assert "the model is s-2 now, was s-1 when" in said(store, proofs=(proof,))[0]


def test_a_build_that_nobody_reads_is_called_another_one(store: Store) -> None:
    held(store, case(version="6831736.1731234567890123456"))
    (line,) = said(store, case(version="6831736.1799999999999999999", verdict="FAIL"))
    assert line == (
        "claude-code is another build now than when this suite last held (2026-11-20): "
        "what fails below may be the program, not your change"
    )
