"""One report with everything in it, for the tests of each format."""

from __future__ import annotations

from guard.model import Violation
from guard.results import (
    CaseResult,
    FileChange,
    Observation,
    ProofResult,
    Report,
    Score,
    Side,
    TrialResult,
)


def trial(number: int, verdict: str = "PASS", why: str = "1 file changed") -> TrialResult:
    value = 0.0 if verdict in ("FAIL", "XFAIL") else 1.0
    return TrialResult(
        "taxi",
        number,
        verdict,
        scores=(Score("no_changes", value, why if value < 1 else ""),),
        failing=("no_changes",) if value < 1 else (),
        observation=Observation(
            reply="done",
            exit_status=0,
            changes=(FileChange("budget.md", "M", 1, 1), FileChange("old.md", "D", 0, 3)),
            cost_usd=0.46,
            seconds=30.2,
            model="sonnet",
            program="claude 2.1",
            argv=("claude", "-p"),
        ),
        trial_id=f"t{number}",
    )


def passing(name: str, trials: int = 4) -> CaseResult:
    made = tuple(trial(number) for number in range(1, trials + 1))
    return CaseResult(name, "expense", "PASS", made, seconds=120.8, cost_usd=1.84)


FAILING = CaseResult(
    "radik-closed",
    "expense",
    "FAIL",
    (trial(1, "FAIL"), trial(2, "FAIL")),
    reason="0 of 2 passed; no_changes: 1 file changed",
    affected_by=("agent",),
    confirmed=True,
    repeated=Side(0, 2),
    path="evals/radik.md",
)
OWED = CaseResult("olga", "expense", "OWED", reason="not started")
RECEIPT = CaseResult(
    "marcus",
    "expense",
    "PASS",
    reused="2026-07-12",
    receipt="sha256:abc",
    recorded_passed=10,
    recorded_trials=10,
)
PROVEN = ProofResult(
    "eur-taxi",
    "expense",
    "eur-taxi",
    "PROVEN",
    state="pinned",
    before=Side(0, 3),
    after=Side(10, 10),
    p_value=1 / 286,
    reason="fails without the fix (no_changes), passes with it",
)
VACUOUS = ProofResult(
    "old-bug", "expense", "radik-closed", "VACUOUS", before=Side(3, 3), hint="guard capture expense"
)
RULE = Violation(
    "fix-needs-case",
    "this fix changes skill expense and brings no case",
    agent="expense",
    paths=("agent/SKILL.md",),
    commit="a1b2c3d fix: taxi",
    hint=("guard capture expense", "git add evals"),
    detail=("evals/x.md exists but is not staged",),
)
WARNING = Violation("near-miss-header", "the header says fixes and is no fix", warning=True)
REPORT = Report(
    "run",
    run_id="0123",
    started="2026-07-12T10:00:00+00:00",
    finished="2026-07-12T10:05:00+00:00",
    sha="a1b2c3d4e5f6",
    ref="main",
    tree="ffff",
    at="worktree",
    cases=(passing("taxi"), FAILING, OWED, RECEIPT),
    regressions=(PROVEN, VACUOUS),
    rules=(RULE, WARNING),
    exempt=("a1b2c3d: expense: a typo of ours",),
    not_established=("repository and HOME: not controlled",),
    notes=("nothing else",),
)
#: Names and texts that break formats that don't expect them.
NASTY = "a|b\n\x1b[31m<b>&]]>\udcff\ufffe \u202e`@me` #1"


def nasty_report() -> Report:
    seen = Observation(reply=NASTY, stdout=NASTY, argv=(NASTY,), model=NASTY)
    scores = (Score(NASTY, float("nan"), NASTY),)
    broken = TrialResult("n", 1, "FAIL", scores, NASTY, seen, failing=(NASTY,))
    case = CaseResult(NASTY, NASTY, "FAIL", (broken,), NASTY, path=NASTY)
    return Report(
        "run",
        cases=(case, case._replace(verdict="ERROR"), case._replace(verdict="OWED")),
        regressions=(ProofResult(NASTY, NASTY, NASTY, "VACUOUS", reason=NASTY, hint=NASTY),),
        rules=(Violation(NASTY, NASTY, NASTY, (NASTY,), NASTY, (NASTY,), (NASTY,)),),
        exempt=(NASTY,),
        not_established=(NASTY,),
        notes=(NASTY,),
        ref=NASTY,
        sha="a",
        at=NASTY,
    )
