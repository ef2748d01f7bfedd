"""Why a hook refuses, as the first line that many clients show alone, and what to do then.

Seven lines at most: one or two stand above them, said before anything ran.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from guard import model
from guard.hookruns.lines import (
    broken_lines,
    costs,
    drift_lines,
    others_line,
    owed_lines,
    refuted_lines,
    unclear_lines,
    unreadable_lines,
)
from guard.hookruns.run import HookRun
from guard.hookruns.standing import BROKEN, OWED, UNCLEAR, UNREADABLE
from guard.judging.left_out import LeftOut
from guard.output import printable, shell_path
from guard.results import CaseResult
from guard.wording.units import count, names

#: What is known of the cases before the change: those that held, those that failed.
Before = tuple[Collection[str], Collection[str]]
NOTHING: Final[Before] = ((), ())
MOST: Final = 7


def commit_text(
    run: HookRun, before: Before, left: Sequence[LeftOut] = (), commands: Sequence[str] = ()
) -> str:
    """Return the text for a commit that breaks a case.

    ``left``: files of the agents that aren't committed as they are on disk. ``commands``: what
    to do, up to the one that repeats the commit.
    """
    most = 1 if commands else 2
    first, *rest = _broken_text(run, "refused", "with this change", before, most).split("\n")
    does = [f"  {'' if n else 'do':<7} {printable(text)}" for n, text in enumerate(commands)]
    more = f", and {len(left) - 1} more" if len(left) > 1 else ""
    likely = [f"  likely   {printable(one.path)} {one.why}{more}" for one in left[:1]]
    # Whoever can't do everything at once needs the commands more than what else holds.
    return "\n".join([*[first, *likely, *rest][: MOST - len(does)], *does])


def push_text(run: HookRun, refused: Collection[str], place: str, at: str) -> str:
    """Return the text for a tip that is not pushed.

    ``place`` names it; ``at`` is the option by which guard runs what is pushed.
    """
    if run.standing.has(BROKEN, UNREADABLE):
        return _broken_text(run, "not pushed", f"in {place}", NOTHING)
    owed = OWED in refused
    unclear = run.standing.has(UNCLEAR)
    lines = [f"guard: not pushed: {_unknown(run, owed=owed)} for {place}"]
    lines += unclear_lines(run)
    lines += owed_lines(run, 1 if unclear else 2)
    lines += _payments(run, at, owed=owed)
    lines.append("  then     git push    # answered from receipts")
    if not unclear and not _cannot_run(run):
        why = "git keeps the connection open while this hook runs; servers close it"
        lines.append(f"  why      {why}")
    return "\n".join(_with_drift(lines, run))


def _unknown(run: HookRun, *, owed: bool) -> str:
    wanted = (UNCLEAR, OWED) if owed else (UNCLEAR,)
    cases = len(run.standing.cases_that(*wanted))
    proofs = len(run.standing.proofs_that(*wanted))
    told = [count(cases, "case")] if cases else []
    told += [count(proofs, "regression")] if proofs else []
    verb = "has" if cases + proofs == 1 else "have"
    return f"{' and '.join(told)} {verb} no evidence"


def _cannot_run(run: HookRun) -> bool:
    """Tell whether all that is owed is owed because something isn't there on this machine."""
    owed = run.standing.cases_that(OWED)
    return bool(owed) and all(case.verdict in (model.SKIP, model.BLOCKED) for case in owed)


def _payments(run: HookRun, at: str, *, owed: bool) -> Iterator[str]:
    """Yield the commands that establish what is missing."""
    wanted = (UNCLEAR, OWED) if owed else (UNCLEAR,)
    commands: list[str] = []
    if owed and _cannot_run(run) and not run.standing.cases_that(UNCLEAR):
        commands.append(f"set up what is missing on this machine, then: guard run --owed{at}")
        commands.append("or, where CI runs it, in guard.yaml: hooks: {pre-push: {owed: ci}}")
    elif run.standing.cases_that(*wanted):
        price = costs(run.estimate)
        told = f"{price}; can be stopped and resumed" if price else "can be stopped and resumed"
        commands.append(f"guard run --owed{at}    # {told}")
    proofs = [shell_path(proof.id) for proof in run.standing.proofs_that(*wanted)]
    if proofs:
        elsewhere = f"    # with {at.split()[-1]} checked out" if at else ""
        commands.append(f"guard verify {' '.join(proofs[:3])}{elsewhere}")
    for number, command in enumerate(commands):
        yield f"  {'' if number else 'do':<8} {command}"


def _broken_text(run: HookRun, refused: str, where: str, before: Before, most: int = 2) -> str:
    """Return the text for cases that fail or can't be run, and proofs that don't hold."""
    cases = run.standing.cases_that(BROKEN)
    proofs = run.standing.proofs_that(BROKEN, UNREADABLE)
    unreadable = run.standing.cases_that(UNREADABLE)
    if not cases and unreadable:
        first = f"guard: {refused}: {names([case.case for case in unreadable], 3)} can't be run"
        lines = [f"{first} {where}", *unreadable_lines(unreadable)]
        return "\n".join([*lines, *(refuted_lines(proofs, 1) if proofs else [])])
    if not cases:
        first = f"guard: {refused}: {names([p.id for p in proofs], 3)} "
        first += f"{_do_not_hold(len(proofs))} {where}"
        return "\n".join([first, *refuted_lines(proofs)])
    lines = [f"guard: {refused}: {_headline(cases, where, before)}"]
    if proofs:
        lines += [*broken_lines(cases, 1), *refuted_lines(proofs, 1)]
    else:
        lines += [*broken_lines(cases, most), *others_line(run)]
    return "\n".join(_with_drift(lines, run))


def _with_drift(lines: list[str], run: HookRun) -> list[str]:
    """Return the lines with what may be behind them as the second, where there is room."""
    first, *rest = lines
    return [first, *drift_lines(run), *rest] if len(lines) < MOST else lines


def _do_not_hold(number: int) -> str:
    return "isn't proven" if number == 1 else "aren't proven"


def _headline(cases: Sequence[CaseResult], where: str, before: Before) -> str:
    held, failed = before
    if len(cases) > 1:
        number = sum(case.case in held for case in cases)
        known = f" ({number} of them held before)" if number else ""
        listed = names([case.case for case in cases], 3)
        return f"{len(cases)} cases fail {where}: {listed}{known}"
    (case,) = cases
    name = printable(case.case)
    if case.verdict == model.XPASS:
        return f"{name} passes, and its baseline says that it fails (XPASS)"
    if name in held:
        return f"{name} held before this change and fails with it"
    if name in failed:
        return f"{name} failed before this change, and still fails"
    return f"{name} fails {where}"
