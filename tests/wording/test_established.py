from __future__ import annotations

import pytest

from guard import model
from guard.model import Violation
from guard.results import CaseResult, ProofResult, Report, TrialResult
from guard.wording.established import established


def case(name: str, verdict: str, passed: int = 0, trials: int = 0) -> CaseResult:
    return CaseResult(name, "expense", verdict, recorded_passed=passed, recorded_trials=trials)


def test_everything_holds() -> None:
    report = Report("run", cases=(case("a", "PASS", 4, 4), case("b", "XFAIL", 5, 6)))
    assert established(report) == "2 of 2 cases hold (9 of 10 trials passed)"


def test_one_case_reads_as_one() -> None:
    report = Report("run", cases=(case("a", "PASS", 4, 4),))
    assert established(report) == "1 of 1 case holds (4 of 4 trials passed)"


def test_what_is_broken_and_what_is_not_known_are_named() -> None:
    report = Report(
        "run",
        cases=(case("a", "PASS", 4, 4), case("radik", "FAIL", 0, 2), case("olga", "OWED")),
        regressions=(ProofResult("eur", "expense", "eur", model.PROVEN),),
        rules=(Violation("fix-needs-case", "m"),),
    )
    assert established(report) == (
        "1 of 3 cases hold (4 of 4 trials passed), 1 of 1 regression proven; "
        "broken: radik (FAIL), 1 rule finding (fix-needs-case); not established: olga (OWED)"
    )


def test_many_are_counted_by_verdict() -> None:
    cases = tuple(case(f"c{n}", "OWED" if n < 3 else "SKIP") for n in range(5))
    said = established(Report("run", cases=cases))
    assert said.startswith("nothing was tested: 0 of 5 cases ran")
    assert said.endswith(
        "not established: 5 cases (3 OWED, 2 SKIP); skipped is not passed: --strict ends in 3"
    )


def test_what_was_skipped_is_said_loudly_unless_the_command_fails() -> None:
    cases = (case("a", "PASS", 4, 4), case("b", "SKIP"))
    loud = "; not established: b (SKIP); skipped is not passed: --strict ends in 3"
    assert established(Report("run", cases=cases)).endswith(loud)
    assert "skipped is" not in established(Report("run", cases=cases, strict=True))
    assert "skipped is" not in established(Report("run", cases=(*cases, case("c", "FAIL"))))
    assert "skipped is" not in established(Report("run", cases=(case("a", "OWED"),)))


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("UNGRADED", "nothing was graded: 1 of 1 case ran"),
        ("BLOCKED", "nothing was graded: 1 of 1 case ran"),
        ("STALE", "nothing was tested: 0 of 1 case ran"),
    ],
)
def test_what_ran_is_said_to_have_run(verdict: str, said: str) -> None:
    ran = CaseResult("a", "expense", verdict, (TrialResult("a", 1, verdict),))
    assert established(Report("run", cases=(ran,))).startswith(said)


def test_nothing_asked() -> None:
    assert "nothing is claimed" in established(Report("run"))
    assert "did not hold (2)" in established(Report("run", exit_code=2))
    assert established(Report("run", nothing_owed=True)) == "nothing is owed"


@pytest.mark.parametrize("verdict", ["ERROR", "SKIP", "OWED", "STALE", "UNGRADED", "INCONCLUSIVE"])
def test_what_is_unknown_is_never_said_to_hold(verdict: str) -> None:
    said = established(Report("run", cases=(case("a", verdict),)))
    assert "hold" not in said
    assert f"not established: a ({verdict})" in said


def test_reservations() -> None:
    report = Report("run", live=False, report_only=True, cases=(case("a", "FAIL", 0, 2),))
    said = established(report)
    assert "not the provider's own" in said
    assert "exit 0 instead of 1" in said
    assert "\n" not in said


def test_a_warning_breaks_nothing() -> None:
    warning = Violation("near-miss-header", "m", warning=True)
    assert "broken" not in established(Report("check", rules=(warning,)))
    assert "broken" in established(Report("check", strict=True, rules=(warning,)))


def test_a_check_claims_no_more_than_it_looked_at() -> None:
    said = established(Report(command="check"))
    assert said.startswith("what can be told without a run holds; nothing is claimed")
    assert "holds" not in established(Report(command="run"))
