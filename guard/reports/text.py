"""The report that people read in a terminal: bounded, worst news marked, last line in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from guard import model
from guard.errors import ExitCode
from guard.model import Violation
from guard.output import BROKEN, HOLDS, LOOK, UNKNOWN, mark_of, printable, shell_path
from guard.reports.wording import (
    base_sentence,
    case_sentence,
    driven_by,
    each_took,
    proof_receipts,
    proof_sides,
    under_test,
)
from guard.results import CaseResult, ProofResult, Report, TrialResult
from guard.verdict import rule_code
from guard.wording.established import established
from guard.wording.intervals import describe_limit, describe_rate
from guard.wording.reasons import group_reasons, one_line
from guard.wording.units import count

#: Up to so many cases the report says in words what their trials show.
IN_WORDS: Final = 3
JUDGED_BY_RATE: Final = (model.PASS, model.FAIL, model.XFAIL, model.XPASS, model.INCONCLUSIVE)
#: Cases of one verdict, and broken rules, that get lines of their own; the others are counted.
LISTED: Final = 40
#: Passing cases beyond which only their names are listed.
LISTED_PASSING: Final = 20
#: Different reasons, paths and remarks shown of one thing.
SHOWN: Final = 3
SHOWN_PATHS: Final = 5
SHOWN_REMARKS: Final = 20


def render(report: Report) -> str:
    """Return the report; plain text, with a mark at the start of each verdict's line."""
    lines = [
        *_remarks(LOOK, "drift", report.drift),
        *_head(report),
        *_cases(report.cases),
        *_kept_as(report),
        *_proofs(report.regressions),
        *_rules(report),
        *_remarks(LOOK, "exempt", report.exempt),
        *_remarks(UNKNOWN, "not established", report.not_established),
        *(printable(note) for note in report.notes[:SHOWN_REMARKS]),
        printable(established(report)),
    ]
    return "\n".join(lines) + "\n"


def _head(report: Report) -> list[str]:
    tree = under_test(report)
    if not tree or not (report.cases or report.regressions):
        return []
    driven = driven_by(report.cases)
    by = f", by {'; '.join(driven[:SHOWN])}" if driven else ""
    return [f"guard {report.command}: {tree}{by}"]


def _cases(cases: Sequence[CaseResult]) -> list[str]:
    lines: list[str] = []
    listed: dict[str, int] = {}
    passing = sum(case.verdict == model.PASS for case in cases)
    in_words = len(cases) <= IN_WORDS
    for case in cases:
        listed[case.verdict] = listed.get(case.verdict, 0) + 1
        few = case.verdict != model.PASS or passing <= LISTED_PASSING
        if few and not case.advisory and listed[case.verdict] <= LISTED:
            lines += _case(case, in_words=in_words)
    if passing > LISTED_PASSING:
        lines.append(_passing(cases))
    lines += _more(listed)
    return lines + _advisory(cases)


def _kept_as(report: Report) -> list[str]:
    """Name the run in which keys failed: a baseline says by it where its defect was seen."""
    failed = any(trial.failing for case in report.cases for trial in case.trials)
    return [f"failures are kept as run {report.run_id}"] if failed and report.run_id else []


def _passing(cases: Sequence[CaseResult]) -> str:
    names = [printable(case.case) for case in cases if case.verdict == model.PASS]
    rest = f" and {len(names) - LISTED_PASSING} more" if len(names) > LISTED_PASSING else ""
    return f"{HOLDS} {len(names)} hold (PASS): {', '.join(names[:LISTED_PASSING])}{rest}"


def _more(listed: dict[str, int]) -> list[str]:
    hidden = {v: n - LISTED for v, n in listed.items() if n > LISTED and v != model.PASS}
    return [f"{mark_of(v)} {n} more {v} (all: --json FILE)" for v, n in hidden.items()]


def _advisory(cases: Sequence[CaseResult]) -> list[str]:
    number = sum(case.advisory for case in cases)
    said = f"{UNKNOWN} {count(number, 'case')} UNGRADED: only prose says what they expect"
    return [f"{said}, so they can't fail yet"] if number else []


def _case(case: CaseResult, *, in_words: bool) -> list[str]:
    sentence, took = case_sentence(case), each_took(case)
    head = f"{mark_of(case.verdict)} {printable(case.case)} {case.verdict}"
    lines = [f"{head}{': ' if sentence else ''}{sentence}{'    ' if took else ''}{took}"]
    if case.base is not None:
        lines.append(f"  {base_sentence(case.base)}")
    lines += _groups(case, sentence)
    if in_words and case.graded_count and case.verdict in JUDGED_BY_RATE:
        limit = describe_limit(case.passed, case.graded_count)
        said = describe_rate(case.passed, case.graded_count)
        lines.append(f"  {said}{'; ' if limit else ''}{limit}")
    return lines


def _groups(case: CaseResult, said: str) -> list[str]:
    """Return why trials did not pass, equal reasons on one line, with the command to see one."""
    groups = group_reasons(case.trials)
    new = [group for group in groups if printable(group.reason) not in said]
    if groups and not new:
        return [f"  see  {_show(case, groups[0].numbers[0])}"]
    lines = [
        f"  {_share(group.numbers, case.trials)}: {printable(group.reason)}"
        f"    {_show(case, group.numbers[0])}"
        for group in new[:SHOWN]
    ]
    if len(new) > SHOWN:
        lines.append(f"  and {count(len(new) - SHOWN, 'other reason')}")
    return lines


def _show(case: CaseResult, number: int) -> str:
    return f"guard show {shell_path(case.case)}#{number}"


def _share(numbers: Sequence[int], trials: Sequence[TrialResult]) -> str:
    if len(numbers) == len(trials):
        return f"all {len(trials)}" if len(trials) > 1 else "the one trial"
    return f"{len(numbers)} of {len(trials)}"


def _proofs(proofs: Iterable[ProofResult]) -> list[str]:
    lines: list[str] = []
    for proof in proofs:
        state = f" ({proof.state})" if proof.state else ""
        reason = f": {printable(one_line(proof.reason))}" if proof.reason else ""
        lines.append(
            f"{mark_of(proof.verdict)} {printable(proof.id)} {proof.verdict}{state}{reason}"
        )
        sides = proof_sides(proof)
        if sides:
            lines.append(f"  {sides}")
        if receipts := proof_receipts(proof):
            lines.append(f"  {receipts}")
        if proof.hint:
            lines.append(f"  do  {printable(proof.hint)}")
    return lines


def _rules(report: Report) -> list[str]:
    lines: list[str] = []
    for rule in report.rules[:LISTED]:
        broken = rule_code(rule, strict=report.strict) == ExitCode.REGRESSION
        lines += _rule(rule, BROKEN if broken else LOOK)
    more = len(report.rules) - LISTED
    return [*lines, f"{LOOK} {more} more of the rules (all: --json FILE)"] if more > 0 else lines


def _rule(rule: Violation, mark: str) -> list[str]:
    where = f" [{printable(rule.commit)}]" if rule.commit else ""
    lines = [f"{mark} {printable(rule.rule)}{where}: {printable(rule.message)}"]
    lines += [f"  {printable(line)}" for line in rule.detail]
    lines += [f"  {printable(path)}" for path in rule.paths[:SHOWN_PATHS]]
    if len(rule.paths) > SHOWN_PATHS:
        lines.append(f"  and {count(len(rule.paths) - SHOWN_PATHS, 'more path')}")
    return lines + [f"  do  {printable(command)}" for command in rule.hint]


def _remarks(mark: str, title: str, remarks: Sequence[str]) -> list[str]:
    lines = [f"{mark} {title}: {printable(remark)}" for remark in remarks[:SHOWN_REMARKS]]
    if len(remarks) > SHOWN_REMARKS:
        lines.append(f"{mark} {title}: {len(remarks) - SHOWN_REMARKS} more")
    return lines
