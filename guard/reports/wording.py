"""The words that the reports for people share: counts, intervals, what a trial took."""

from __future__ import annotations

from collections.abc import Sequence

from guard import model
from guard.output import printable
from guard.results import BaseRun, CaseResult, ProofResult, Report
from guard.wording.intervals import wilson
from guard.wording.reasons import one_line
from guard.wording.units import answered_by, duration, money

#: Characters of a commit's id that people are shown.
SHORT = 7
UNDER_TEST = {"worktree": "the working tree", "index": "what is staged"}


def case_sentence(case: CaseResult) -> str:
    """Say in words how a case ended: the counts where it was graded, else the reason."""
    if case.verdict == model.PASS:
        return ", ".join(part for part in (counted(case), by_receipt(case)) if part)
    if case.verdict == model.FAIL:
        return counted(case) + _repeated(case)
    reason = printable(one_line(case.reason))
    if case.verdict in (model.XFAIL, model.XPASS):
        return "; ".join(part for part in (counted(case), reason, by_receipt(case)) if part)
    return reason


def by_receipt(case: CaseResult | None) -> str:
    """Say of when the evidence is where nothing was run; empty where something was."""
    return answered_by(case.reused) if case and case.reused else ""


def proof_receipts(proof: ProofResult) -> str:
    """Say which sides of a proof were answered by what is kept, and of when that is."""
    sides = (("before", proof.before_result), ("after", proof.after_result))
    return ", ".join(f"{name} {by_receipt(side)}" for name, side in sides if by_receipt(side))


def counted(case: CaseResult) -> str:
    """Return ``4 of 5 passed (38 to 96 %)``; empty where nothing was graded."""
    if not case.graded_count:
        return ""
    return f"{case.passed} of {case.graded_count} passed ({interval(case)})"


def interval(case: CaseResult) -> str:
    """Return the Wilson interval in whole percents; empty where nothing was graded."""
    if not case.graded_count:
        return ""
    return _percents(case.passed, case.graded_count)


def _percents(passed: int, trials: int) -> str:
    low, high = wilson(passed, trials)
    return f"{100 * low:.0f} to {100 * high:.0f} %"


def _repeated(case: CaseResult) -> str:
    if case.repeated is None:
        return ""
    return f", and {case.repeated.passed} of {case.repeated.trials} when repeated"


def base_sentence(base: BaseRun) -> str:
    """Say how a failing case ended before the change: ``0 of 2 on a1b2c3d``."""
    where = base.sha[:SHORT]
    reason = printable(one_line(base.reason))
    if not base.verdict:
        return f"not run on {where}: {reason}"
    told = f"{base.passed} of {base.trials} on {where}"
    told += f", {answered_by(base.reused)}" if base.reused else ""
    if base.verdict in (model.PASS, model.XFAIL):
        return f"it held before your change: {told}"
    if base.verdict in (model.FAIL, model.XPASS):
        word = "failed" if base.verdict == model.FAIL else "passed against its baseline"
        return f"it {word} before your change too: {f'{reason} on {where}' if reason else told}"
    said = f"{base.verdict} on {where}" + (f" ({reason})" if reason else "")
    return f"whether it failed before your change isn't known: {said}"


def each_took(case: CaseResult) -> str:
    """Return what one trial took on average: ``$0.46, 30 s a trial``; empty if none was run."""
    if not case.trials or case.reused:
        return ""
    seconds = [trial.observation.seconds for trial in case.trials]
    costs = [c for t in case.trials if (c := t.cost_usd) is not None]
    told = [money(sum(costs) / len(costs))] if costs else []
    return ", ".join([*told, f"{duration(sum(seconds) / len(seconds))} a trial"])


def proof_sides(proof: ProofResult) -> str:
    """Return both rates with their intervals, and the p-value.

    As in ``before 0 of 3 (0 to 56 %)   after 10 of 10 (72 to 100 %)   p = 0.003``.
    """
    told = [
        f"{name} {side.passed} of {side.trials} ({_percents(side.passed, side.trials)})"
        for name, side in (("before", proof.before), ("after", proof.after))
        if side is not None
    ]
    if proof.p_value is not None:
        told.append(f"p = {proof.p_value:.3f}" if proof.p_value >= 0.001 else "p < 0.001")
    return "   ".join(told)


def driven_by(cases: Sequence[CaseResult]) -> list[str]:
    """Return each program and model that trials were made with."""
    found = {
        ", ".join(part for part in (trial.observation.program, trial.observation.model) if part)
        for case in cases
        for trial in case.trials
    }
    return sorted(printable(name) for name in found if name)


def under_test(report: Report) -> str:
    """Name the tree that was judged."""
    name = UNDER_TEST.get(report.at, printable(report.at))
    where = report.sha[:SHORT] + (f" ({printable(report.ref)})" if report.ref else "")
    return f"{name} at {where}" if name and report.sha else name or where
