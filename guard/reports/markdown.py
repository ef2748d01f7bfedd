"""The report as Markdown, for a pull request's comment or a CI job's summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from guard.errors import ExitCode
from guard.model import Violation
from guard.output import BROKEN, LOOK, mark_of, printable
from guard.reports.wording import (
    base_sentence,
    by_receipt,
    each_took,
    interval,
    proof_receipts,
    proof_sides,
    under_test,
)
from guard.results import CaseResult, ProofResult, Report
from guard.verdict import rule_code
from guard.wording.established import established
from guard.wording.reasons import group_reasons, one_line

#: Rows of one table; GitHub refuses a comment of more than 65,536 characters.
ROWS: Final = 100
#: Characters of a whole report.
LIMIT: Final = 60_000
#: What would start markup, HTML, a mention or a link to an issue.
MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>|#~@])")


def render(report: Report) -> str:
    """Return the report; what it quotes is escaped, so that it stays text."""
    blocks = [
        f"### guard {report.command}: {text(established(report))}",
        _list("Drift", report.drift),
        text(under_test(report)),
        _cases(report.cases),
        _proofs(report.regressions),
        _rules(report),
        _list("Exempt", report.exempt),
        _list("Not established", report.not_established),
        _list("Notes", report.notes),
    ]
    whole = "\n\n".join(block for block in blocks if block) + "\n"
    return whole if len(whole) <= LIMIT else whole[:LIMIT].rpartition("\n")[0] + "\n\n(cut)\n"


def text(words: str) -> str:
    """Escape words, so that Markdown shows them as they are and on one line."""
    return MARKUP.sub(r"\\\1", printable(" ".join(words.split())))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    listed = list(rows)
    if not listed:
        return ""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(row)} |" for row in listed[:ROWS]]
    if len(listed) > ROWS:
        lines += ["", f"and {len(listed) - ROWS} more"]
    return "\n".join(lines)


def _cases(cases: Sequence[CaseResult]) -> str:
    heads = ("", "case", "verdict", "passed", "true rate (95 %)", "a trial", "why")
    worst_first = sorted(cases, key=lambda case: mark_of(case.verdict) != BROKEN)
    return _table(heads, map(_case_row, worst_first))


def _case_row(case: CaseResult) -> tuple[str, ...]:
    groups = group_reasons(case.trials)
    why = "; ".join(f"{len(group.numbers)} x {group.reason}" for group in groups[:3]) or case.reason
    why = "; ".join(part for part in (why, by_receipt(case)) if part)
    if case.base is not None:
        why = "; ".join(part for part in (base_sentence(case.base), why) if part)
    passed = f"{case.passed} of {case.graded_count}" if case.graded_count else ""
    verdict = f"{case.verdict}, repeated" if case.confirmed else case.verdict
    return (
        mark_of(case.verdict),
        text(case.case),
        verdict.replace("_", r"\_"),
        passed,
        interval(case),
        text(each_took(case)),
        text(one_line(why)),
    )


def _proofs(proofs: Sequence[ProofResult]) -> str:
    heads = ("", "regression", "verdict", "state", "before and after", "why")
    return _table(heads, map(_proof_row, proofs))


def _proof_row(proof: ProofResult) -> tuple[str, ...]:
    return (
        mark_of(proof.verdict),
        text(proof.id),
        text(proof.verdict),
        text(proof.state),
        text(proof_sides(proof)),
        text("; ".join(part for part in (one_line(proof.reason), proof_receipts(proof)) if part)),
    )


def _rules(report: Report) -> str:
    def row(rule: Violation) -> tuple[str, ...]:
        broken = rule_code(rule, strict=report.strict) == ExitCode.REGRESSION
        paths = ", ".join(rule.paths[:3]) + (" …" if len(rule.paths) > 3 else "")
        told = (rule.rule, rule.commit, rule.message, paths)
        return (BROKEN if broken else LOOK, *map(text, told))

    return _table(("", "rule", "commit", "what", "paths"), map(row, report.rules))


def _list(title: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    lines = [f"- {text(item)}" for item in items[:ROWS]]
    return "\n".join([f"{title}:", "", *lines])
