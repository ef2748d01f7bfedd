"""``guard status``: what holds and what is owed, from what is stored; nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.commands.options import add_at_option
from guard.engine import Engine
from guard.errors import ExitCode
from guard.model import Case
from guard.output import mark_of, out, printable
from guard.project import Project
from guard.records import Receipt
from guard.regressions import Record
from guard.session import Session
from guard.units import count

if TYPE_CHECKING:
    import argparse

HELP = "show what holds and what is owed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard status``."""
    add_at_option(parser)


def status(*, at: str = "worktree", disabled: frozenset[str]) -> int:
    """Show, for each case and record, whether there is evidence for the tree under test."""
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project(at)
        verdicts = session.store.last_verdicts()
        engine = Engine(project)
        owed = 0
        for name in sorted(project.cases):
            case = project.cases[name]
            receipt = engine.receipt_for(case, engine.receipt_key(case))
            owed += receipt is None
            out(_case_line(case, receipt, verdicts.get(name)))
        pending = [r for r in project.records.values() if not r.retired and not _known(project, r)]
        for record in project.records.values():
            out(_record_line(record, record in pending))
        out(_sentence(project, owed, len(pending)))
    return ExitCode.OK


def _case_line(case: Case, receipt: Receipt | None, last: str | None) -> str:
    name = printable(case.id)
    if receipt is not None:
        when = receipt.date[:16].replace("T", " ")
        return f"{mark_of('PASS')} {name}  {receipt.passed} of {receipt.trials}, {when} UTC"
    before = f"; last verdict {last}, on other files" if last else ""
    return f"{mark_of('OWED')} {name}  owed: not run on these files{before}"


def _known(project: Project, record: Record) -> bool:
    """Tell whether the store knows the receipts of a record's proof: numbers prove nothing."""
    digests = record.proof.get("receipts", []) if record.proof else []
    return bool(digests) and all(project.store.get_receipt(digest) for digest in digests)


def _record_line(record: Record, pending: bool) -> str:
    if record.retired:
        return f"{mark_of('RETIRED')} {record.id}  RETIRED: {(record.retirement or {})['reason']}"
    if pending:
        return f"{mark_of('PENDING')} {record.id}  PENDING: the record is there, its proof isn't"
    return f"{mark_of('PROVEN')} {record.id}  proven on {(record.proof or {}).get('date')}"


def _sentence(project: Project, owed: int, pending: int) -> str:
    cases = count(len(project.cases), "case")
    if not project.cases:
        return "there is no case yet: guard new-case ID --agent AGENT"
    if not owed and not pending:
        return f"{cases}: all have evidence for these files"
    parts = []
    if owed:
        parts.append(f"{owed} of {cases} have no evidence for these files: guard run --owed")
    if pending:
        parts.append(f"{count(pending, 'proof')} pending: guard verify")
    return "; ".join(parts)
