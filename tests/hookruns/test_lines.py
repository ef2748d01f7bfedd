"""What a hook says: few lines, names before numbers, equal reasons together."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from guard import model
from guard.hookruns.lines import (
    broken_lines,
    costs,
    drift_lines,
    holding_lines,
    others_line,
    owed_lines,
    prose_lines,
    refuted_lines,
    unclear_lines,
)
from guard.hookruns.run import Estimate, HookRun
from guard.hookruns.standing import Standing
from guard.results import CaseResult, ProofResult, Score, Side, TrialResult


def case(name: str, verdict: str, reason: str = "", **more: object) -> CaseResult:
    return CaseResult(name, "expense", verdict, reason=reason)._replace(**more)  # type: ignore[arg-type]  # field names


def passed(name: str, number: int = 4, reused: str = "") -> CaseResult:
    return case(name, model.PASS, reused=reused, recorded_passed=number, recorded_trials=number)


def failed(name: str, key: str = "no_changes", numbers: tuple[int, ...] = (1, 2)) -> CaseResult:
    score = Score(key, 0.0, "budget.md (2 lines)")
    trials = tuple(TrialResult(name, n, model.FAIL, (score,), failing=(key,)) for n in numbers)
    return case(name, model.FAIL, trials=trials)


def run_of(*cases: CaseResult, proofs: tuple[ProofResult, ...] = ()) -> HookRun:
    return HookRun(Standing(cases, proofs), budget_seconds=60.0)


def proof(name: str, verdict: str, reason: str = "", hint: str = "") -> ProofResult:
    return ProofResult(name, "expense", name, verdict, reason=reason, hint=hint)


def test_what_holds_by_receipts_and_by_runs() -> None:
    today = datetime.now(UTC).isoformat()
    assert holding_lines(run_of(passed("a", reused=today), passed("b"), passed("c", 10))) == [
        "✓ 1 answered by receipts of today (a 4 of 4)",
        "✓ 2 held when run now (b 4 of 4, c 10 of 10)",
    ]


def test_drift_is_one_line() -> None:
    run = run_of(failed("a"))
    assert drift_lines(run) == []
    assert drift_lines(run._replace(drift=("brew is 2 now",))) == ["! brew is 2 now"]
    several = drift_lines(run._replace(drift=("brew is 2 now", "x", "y")))
    assert several == ["! brew is 2 now; and 2 more changes"]


def test_dates_of_older_receipts() -> None:
    older = passed("a", reused="2031-01-02T00:00:00+00:00"), passed("b", reused="2031-02-03")
    assert "receipts of 2031-01-02 to 2031-02-03" in holding_lines(run_of(*older))[0]


def test_proven_regressions_are_counted() -> None:
    proofs = proof("x", model.PROVEN), proof("y", model.PROVEN)
    assert holding_lines(run_of(proofs=proofs)) == ["✓ 2 regressions proven"]
    retired = proof("z", model.RETIRED)
    both = holding_lines(run_of(proofs=(*proofs, retired)))
    assert both == ["✓ 2 regressions proven, 1 retired"]
    assert holding_lines(run_of(proofs=(retired,))) == ["✓ 1 regression retired"]


def test_owed_cases_of_one_reason_share_a_line() -> None:
    owed = [case(name, model.OWED, "not started") for name in ("a", "b", "c")]
    assert owed_lines(run_of(*owed)) == ["? 3 owed: a, b, c (not started: this hook has 60 s)"]


def test_many_reasons_are_counted_only() -> None:
    owed = [case(name, model.SKIP, f"reason {name}") for name in ("a", "b", "c")]
    assert owed_lines(run_of(*owed[:2])) == [
        "? 1 owed: a (SKIP: reason a)",
        "? 1 owed: b (SKIP: reason b)",
    ]
    assert owed_lines(run_of(*owed)) == ["? 3 owed: a, b, c (guard status says why)"]


def test_pending_proofs_are_owed() -> None:
    found = owed_lines(run_of(proofs=(proof("x", model.PENDING),)))
    assert found == ["? 1 owed: x (PENDING, its proof isn't there yet)"]


def test_unclear_cases_by_verdict() -> None:
    stale = case("a", model.STALE, "stale, needs review: gone.txt is not there")
    mixed = case("b", model.INCONCLUSIVE, "0 of 2 passed, then 2 of 2")
    assert unclear_lines(run_of(stale, mixed)) == [
        "! STALE: a (stale, needs review: gone.txt is not there)",
        "! INCONCLUSIVE: b (0 of 2 passed, then 2 of 2)",
    ]
    third = case("c", model.TAINTED)
    assert unclear_lines(run_of(stale, mixed, third))[1:] == [
        "! 2 more not settled (INCONCLUSIVE, TAINTED)"
    ]


def test_failing_case_with_the_trial_to_look_at() -> None:
    found = failed("radik", numbers=(2, 3))._replace(repeated=Side(0, 2))
    assert broken_lines([found]) == [
        "✗ radik   0 of 2, and 0 of 2 when repeated    no_changes: budget.md (2 lines)",
        "  see     guard show radik#2",
    ]


def test_many_failing_cases_are_bounded() -> None:
    lines = broken_lines([failed(name) for name in "abcde"])
    assert len(lines) == 4
    assert lines[2] == "✗ 3 more: c, d, e"


def test_id_that_a_shell_would_read_is_quoted() -> None:
    assert broken_lines([failed("a b")])[-1] == "  see     guard show 'a b'#1"


def test_refuted_proofs() -> None:
    found = [proof(name, model.VACUOUS, "it passes before", f"mend {name}") for name in "abc"]
    assert refuted_lines(found) == [
        "✗ a VACUOUS: it passes before",
        "✗ b VACUOUS: it passes before",
        "✗ 1 more: c",
        "  do      mend a",
    ]


def test_others_hold() -> None:
    run = run_of(failed("a"), passed("b"), passed("c", reused="2031-01-01"))
    assert others_line(run) == ["  others  2 hold (1 by receipts)"]
    assert others_line(run_of(failed("a"))) == []


def test_prose_is_one_counted_line() -> None:
    prose = [case(name, model.UNGRADED, advisory=True) for name in "ab"]
    assert prose_lines(run_of(*prose)) == ["? 2 cases UNGRADED: only prose says what they expect"]
    assert prose_lines(run_of(passed("a"))) == []


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (Estimate(300.0, 4.0), "about $4.00, 5 min"),
        (Estimate(300.0, None), "about 5 min"),
        (Estimate(), ""),
    ],
)
def test_costs(estimate: Estimate, said: str) -> None:
    assert costs(estimate) == said
