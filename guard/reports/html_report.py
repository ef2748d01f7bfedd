"""The report as one HTML file that needs nothing else: no script, no style sheet, no font."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from guard.model import Violation
from guard.output import mark_of, printable
from guard.reports.wording import (
    base_sentence,
    case_sentence,
    each_took,
    proof_receipts,
    proof_sides,
    under_test,
)
from guard.results import CaseResult, ProofResult, Report, TrialResult
from guard.wording.established import established
from guard.wording.show import show_trial

STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "pre{white-space:pre-wrap;background:#8881;padding:1em;overflow-wrap:anywhere}"
    "summary{cursor:pointer}"
)


def render(report: Report) -> str:
    """Return the report; each trial folds open."""
    blocks = [
        f"<h1>guard {_text(report.command)}</h1>",
        f"<p><strong>{_text(established(report))}</strong></p>",
        _list("Drift", map(_text, report.drift)),
        f"<p>{_text(under_test(report))} {_text(report.finished)}</p>",
        *map(_case, report.cases),
        _list("Regressions", map(_proof, report.regressions)),
        _list("Rules", map(_rule, report.rules)),
        _list("Exempt", map(_text, report.exempt)),
        _list("Not established", map(_text, report.not_established)),
        _list("Notes", map(_text, report.notes)),
    ]
    title = f"<title>guard {_text(report.command)}</title><style>{STYLE}</style>"
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{title}</head>'
    body = "\n".join(block for block in blocks if block)
    return f"{head}\n<body>\n{body}\n</body></html>\n"


def _text(text: str) -> str:
    return escape(printable(text, keep="\n\t"))


def _case(case: CaseResult) -> str:
    name = f"{mark_of(case.verdict)} {case.case} {case.verdict}"
    before = base_sentence(case.base) if case.base else ""
    told = ", ".join(part for part in (case_sentence(case), before, each_took(case)) if part)
    trials = "\n".join(map(_trial, case.trials))
    return f"<details><summary>{_text(name)}: {_text(told)}</summary>\n{trials}\n</details>"


def _trial(trial: TrialResult) -> str:
    return f"<pre>{_text(show_trial(trial))}</pre>"


def _proof(proof: ProofResult) -> str:
    told = f"{mark_of(proof.verdict)} {proof.id} {proof.verdict} {proof.state}: {proof.reason}"
    return f"{_text(told)} {_text(proof_sides(proof))} {_text(proof_receipts(proof))}".rstrip()


def _rule(rule: Violation) -> str:
    where: Sequence[str] = [part for part in (rule.commit, rule.agent, *rule.paths) if part]
    return f"{_text(rule.rule)}: {_text(rule.message)} {_text(', '.join(where))}"


def _list(title: str, items: Iterable[str]) -> str:
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f"<h2>{title}</h2><ul>{listed}</ul>" if listed else ""
