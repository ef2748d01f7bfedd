from __future__ import annotations

from guard.model import Violation
from guard.reports.text import render
from guard.results import CaseResult, Report
from tests.reports.sample import FAILING, PROVEN, RECEIPT, REPORT, nasty_report, passing, trial


def test_a_full_report() -> None:
    assert (
        render(REPORT)
        == """\
guard run: the working tree at a1b2c3d (main), by claude 2.1, sonnet
✓ taxi PASS: 4 of 4 passed (51 to 100 %)    $0.46, 30 s a trial
✗ radik-closed FAIL: 0 of 2 passed (0 to 66 %), and 0 of 2 when repeated    $0.46, 30 s a trial
  all 2: no_changes: 1 file changed    guard show radik-closed#1
? olga OWED: not started
✓ marcus PASS: 10 of 10 passed (72 to 100 %), answered by a receipt of 2026-07-12
failures are kept as run 0123
✓ eur-taxi PROVEN (pinned): fails without the fix (no_changes), passes with it
  before 0 of 3 (0 to 56 %)   after 10 of 10 (72 to 100 %)   p = 0.003
✗ old-bug VACUOUS
  before 3 of 3 (44 to 100 %)
  do  guard capture expense
✗ fix-needs-case [a1b2c3d fix: taxi]: this fix changes skill expense and brings no case
  evals/x.md exists but is not staged
  agent/SKILL.md
  do  guard capture expense
  do  git add evals
! near-miss-header: the header says fixes and is no fix
! exempt: a1b2c3d: expense: a typo of ours
? not established: repository and HOME: not controlled
nothing else
2 of 4 cases hold (14 of 14 trials passed), 1 of 2 regressions proven; \
broken: radik-closed (FAIL), old-bug (VACUOUS), 1 rule finding (fix-needs-case); \
not established: olga (OWED)
"""
    )


def test_few_cases_say_what_their_trials_show() -> None:
    shown = render(Report("run", cases=(RECEIPT, FAILING)))
    assert "  10 of 10 shows a true rate of at least 72 % (95 %); it can't show 90 %" in shown
    assert "  0 of 2 shows a true rate of at most 66 % (95 %)" in shown


def test_a_run_in_which_keys_failed_is_named() -> None:
    failed = trial(1, "FAIL")._replace(failing=("no_changes",))
    case = CaseResult("x", "expense", "FAIL", (failed,))
    named = "failures are kept as run 0123\n"
    assert named in render(Report("run", "0123", cases=(case,)))
    excused = case._replace(verdict="XFAIL", trials=(failed._replace(verdict="XFAIL"),))
    assert named in render(Report("run", "0123", cases=(excused,)))
    assert "kept as run" not in render(Report("run", "0123", cases=(passing("y"),)))


def test_different_reasons_are_told_apart_and_bounded() -> None:
    whys = ["a", "a", "b", "c", "d", "e"]
    trials = [trial(n, "FAIL", why) for n, why in enumerate(whys, start=1)]
    case = CaseResult("x y", "expense", "FAIL", (*trials, trial(7)))
    shown = render(Report("run", cases=(case,)))
    assert "  2 of 7: no_changes: a    guard show 'x y'#1" in shown
    assert "  1 of 7: no_changes: c    guard show 'x y'#4" in shown
    assert "no_changes: d" not in shown
    assert "  and 2 other reasons" in shown


def test_an_error_says_its_reason_once() -> None:
    broken = trial(1, "ERROR")._replace(reason="skill expense was not loaded (agent_not_loaded)")
    case = CaseResult("x", "expense", "ERROR", (broken,), reason=broken.reason)
    shown = render(Report("run", cases=(case,)))
    assert shown.startswith("! x ERROR: skill expense was not loaded (agent_not_loaded)")
    assert shown.count("not loaded") == 1
    assert "  see  guard show x#1" in shown


def test_many_passing_cases_are_one_line_and_what_fails_keeps_its_own() -> None:
    cases = (*(passing(f"c{n}") for n in range(300)), FAILING)
    lines = render(Report("run", cases=cases)).splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("✗ radik-closed")
    assert lines[2].startswith("✓ 300 hold (PASS): c0, c1, ")
    assert lines[2].endswith("c19 and 280 more")


def test_many_failing_cases_are_bounded_and_counted() -> None:
    cases = tuple(FAILING._replace(case=f"c{n}") for n in range(500))
    lines = render(Report("run", cases=cases)).splitlines()
    assert len(lines) < 90
    assert "✗ 460 more FAIL (all: --json FILE)" in lines


def test_prose_alone_is_one_counted_line() -> None:
    prose = CaseResult("c", "a", "UNGRADED", advisory=True)
    lines = render(Report("run", cases=(passing("p"), *[prose] * 291))).splitlines()
    assert "? 291 cases UNGRADED: only prose says what they expect, so they can't fail yet" in lines
    assert len(lines) == 4


def test_a_warning_is_marked_as_broken_under_strict_alone() -> None:
    warning = Violation("near-miss-header", "m", warning=True)
    assert render(Report("check", rules=(warning,))).startswith("! near-miss-header: m")
    strict = Report("check", rules=(warning,), strict=True)
    assert render(strict).startswith("✗ near-miss-header: m")


def test_many_paths_are_bounded() -> None:
    rule = Violation("r", "m", paths=tuple(f"p{n}" for n in range(50)))
    assert "  and 45 more paths" in render(Report("check", rules=(rule,)))


def test_the_last_line_is_the_sentence() -> None:
    lines = render(Report("verify", regressions=(PROVEN,))).splitlines()
    assert lines[-1] == "1 of 1 regression proven"


def test_nothing_that_is_quoted_moves_the_cursor_or_breaks_a_line() -> None:
    shown = render(nasty_report())
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown.splitlines()) == 18
