"""What a hook says of cases and proofs: a few plain lines, the worst news first.

By four rules: at most eight lines in all, equal reasons together, names before numbers, and
the last lines are commands that can be pasted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from guard import model
from guard.hookruns.standing import HOLDS as HOLDING
from guard.hookruns.standing import OWED, UNCLEAR, is_prose
from guard.output import BROKEN, HOLDS, LOOK, UNKNOWN, printable, shell_path
from guard.results import CaseResult, ProofResult
from guard.wording.reasons import group_reasons, one_line
from guard.wording.units import count, duration, money, names

if TYPE_CHECKING:
    # It brings the engine, which a hook that runs no case does without.
    from guard.hookruns.run import Estimate, HookRun

#: Characters of a reason beside other things on its line.
REASON: Final = 90
#: The same where it names a file and the command that brings it.
LONG_REASON: Final = 300


def drift_lines(run: HookRun, most: int = 1) -> list[str]:
    """Say which model or program is another than when the cases last held."""
    told = [f"{LOOK} {printable(text)}" for text in run.drift[:most]]
    more = len(run.drift) - most
    return [*told[:-1], f"{told[-1]}; and {count(more, 'more change')}"] if more > 0 else told


def holding_lines(run: HookRun) -> list[str]:
    """Say what holds: what receipts answered, and what was run now."""
    holding = run.standing.cases_that(HOLDING)
    reused = [case for case in holding if case.reused]
    fresh = [case for case in holding if not case.reused]
    lines: list[str] = []
    if reused:
        said = f"{len(reused)} answered by receipts of {_dates(reused)}"
        lines.append(f"{HOLDS} {said} ({_rates(reused)})")
    if fresh:
        lines.append(f"{HOLDS} {len(fresh)} held when run now ({_rates(fresh)})")
    return [*lines, *_proof_lines(run.standing.proofs_that(HOLDING))]


def _proof_lines(proofs: Sequence[ProofResult]) -> list[str]:
    retired = sum(proof.verdict == model.RETIRED for proof in proofs)
    proven = len(proofs) - retired
    if not proven:
        return [f"{HOLDS} {count(retired, 'regression')} retired"] if retired else []
    more = f", {retired} retired" if retired else ""
    return [f"{HOLDS} {count(proven, 'regression')} proven{more}"]


def _dates(reused: Iterable[CaseResult]) -> str:
    days = sorted({case.reused[:10] for case in reused})
    today = datetime.now(UTC).date().isoformat()
    spans = ["today" if day == today else day for day in days]
    return spans[0] if len(spans) == 1 else f"{spans[0]} to {spans[-1]}"


def _rates(cases: Sequence[CaseResult]) -> str:
    told = [f"{case.case} {case.passed} of {case.graded_count}" for case in cases]
    return names(told, 3)


def unclear_lines(run: HookRun, most: int = 2) -> list[str]:
    """Say what was run and is not settled, a line for each kind."""
    found = run.standing.cases_that(UNCLEAR)
    proofs = run.standing.proofs_that(UNCLEAR)
    told = [(case.case, case.verdict, case.reason) for case in found]
    told += [(proof.id, proof.verdict, proof.reason) for proof in proofs]
    kinds: dict[str, list[str]] = {}
    for name, verdict, why in told:
        reason = one_line(why, REASON)
        kinds.setdefault(verdict, []).append(f"{name} ({reason})" if reason else name)
    lines = [f"{LOOK} {verdict}: {names(listed, 2)}" for verdict, listed in kinds.items()]
    if len(lines) > most:
        rest = sum(len(listed) for listed in list(kinds.values())[most - 1 :])
        verdicts = ", ".join(list(kinds)[most - 1 :])
        lines = [*lines[: most - 1], f"{LOOK} {rest} more not settled ({verdicts})"]
    return lines


def unreadable_lines(cases: Sequence[CaseResult], most: int = 3) -> list[str]:
    """Say of which files the cases' trials can't be made, each reason once."""
    reasons = dict.fromkeys(printable(one_line(case.reason, LONG_REASON)) for case in cases)
    return [f"{UNKNOWN} {reason}" for reason in list(reasons)[:most]]


def owed_lines(run: HookRun, most: int = 2) -> list[str]:
    """Say what is owed and why, equal reasons together."""
    why: dict[str, list[str]] = {}
    for case in run.standing.cases_that(OWED):
        why.setdefault(_why_owed(case, run), []).append(case.case)
    for proof in run.standing.proofs_that(OWED):
        why.setdefault(f"{proof.verdict}, its proof isn't there yet", []).append(proof.id)
    if len(why) <= most:
        return [f"{UNKNOWN} {len(told)} owed: {names(told)} ({w})" for w, told in why.items()]
    all_names = [name for told in why.values() for name in told]
    return [f"{UNKNOWN} {len(all_names)} owed: {names(all_names)} (guard status says why)"]


def _why_owed(case: CaseResult, run: HookRun) -> str:
    reason = one_line(case.reason, REASON)
    if case.verdict != model.OWED:
        return f"{case.verdict}: {reason}" if reason else case.verdict
    if case.trials or reason != "not started":
        return reason
    return f"not started: this hook has {duration(run.budget_seconds)}"


def prose_lines(run: HookRun) -> list[str]:
    """Count the cases of which only prose says what they expect."""
    number = sum(is_prose(case) for case in run.standing.cases)
    said = f"{UNKNOWN} {count(number, 'case')} UNGRADED: only prose says what they expect"
    return [said] if number else []


def broken_lines(cases: Sequence[CaseResult], most: int = 2) -> list[str]:
    """Say how cases fail, and how to look at the first."""
    lines = [_broken(case) for case in cases[:most]]
    if len(cases) > most:
        lines.append(f"{BROKEN} {len(cases) - most} more: {names([c.case for c in cases[most:]])}")
    return [*lines, f"  see     guard show {shell_path(cases[0].case)}#{_first_failing(cases[0])}"]


def _broken(case: CaseResult) -> str:
    name = printable(case.case)
    if case.verdict == model.XPASS:
        return f"{BROKEN} {name} XPASS: {printable(one_line(case.reason, REASON))}"
    rate = f"{case.passed} of {case.graded_count}"
    if case.repeated is not None:
        rate += f", and {case.repeated.passed} of {case.repeated.trials} when repeated"
    groups = group_reasons(trial for trial in case.trials if trial.verdict == model.FAIL)
    reason = printable(one_line(groups[0].reason if groups else case.reason, REASON))
    return f"{BROKEN} {name}   {rate}    {reason}"


def _first_failing(case: CaseResult) -> int:
    failing = [trial.number for trial in case.trials if trial.verdict == model.FAIL]
    return min(failing, default=1)


def refuted_lines(proofs: Sequence[ProofResult], most: int = 2) -> list[str]:
    """Say which proofs don't hold, and the command that mends the first."""
    lines = [
        f"{BROKEN} {printable(p.id)} {p.verdict}: {printable(one_line(p.reason, REASON))}"
        for p in proofs[:most]
    ]
    if len(proofs) > most:
        lines.append(f"{BROKEN} {len(proofs) - most} more: {names([p.id for p in proofs[most:]])}")
    hint = next((proof.hint for proof in proofs if proof.hint), "")
    return [*lines, *([f"  do      {printable(hint)}"] if hint else [])]


def others_line(run: HookRun) -> list[str]:
    """Say what holds beside what is broken, in one line."""
    holding = run.standing.cases_that(HOLDING)
    reused = sum(bool(case.reused) for case in holding)
    if not holding:
        return []
    verb = "holds" if len(holding) == 1 else "hold"
    said = f"  others  {len(holding)} {verb}"
    return [said + (f" ({reused} by receipts)" if reused else "")]


def costs(estimate: Estimate) -> str:
    """Return what it will take, as far as it is known: about $4, 5 min."""
    told = [money(estimate.cost_usd)] if estimate.cost_usd else []
    if estimate.seconds:
        told.append(duration(estimate.seconds))
    return f"about {', '.join(told)}" if told else ""
