"""Records as they are listed: what the file says, and what is known here. Nothing is run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from guard.output import printable
from guard.project import Project
from guard.proofs.case import find_case
from guard.proofs.known import is_known
from guard.regressions import Record


def lines_of(project: Project, records: Sequence[Record]) -> list[str]:
    """Return two lines for each record, and one that counts them."""
    lines = [line for record in records for line in _record(project, record)]
    gone = sum(record.retired for record in records)
    return [*lines, f"{len(records)} retained, {gone} of them retired; guard verify proves them"]


def _record(project: Project, record: Record) -> list[str]:
    keys = ", ".join(record.fails_on) or "no key"
    parts = f"{record.case}, agent {record.agent}, fails on {keys}, before: {_before(record)}"
    return [
        f"{printable(record.id)} ({_state(project, record)}): {_incident(record)}",
        printable(f"  {parts}"),
    ]


def _state(project: Project, record: Record) -> str:
    """Say what the file alone can tell: numbers without a known receipt prove nothing."""
    if record.retired:
        retirement = record.retirement or {}
        return printable(f"retired {retirement.get('date')}: {retirement.get('reason')}")
    case, _ = find_case(project, record)
    known = case is not None and is_known(record, case.id, project.store)
    return f"proven {(record.proof or {})['date']}" if known else "PENDING"


def _before(record: Record) -> str:
    kind = str(record.before["kind"])
    if kind == "command":
        return f"command, which is weak: {shlex.join(record.before['argv'])}"
    named = record.before.get("rev") or record.before.get("path")
    return f"{kind} {named}" if named else kind


def _incident(record: Record) -> str:
    return printable(str(record.incident.get("summary", "") or "no summary"))
