"""Records as they are listed: what the file says, and what is known here. Nothing is run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from guard.model import PROVEN
from guard.output import printable
from guard.project import Project
from guard.proofs.standing import Standing, standings
from guard.regressions import Record
from guard.session import WORKTREE


def lines_of(project: Project, records: Sequence[Record]) -> list[str]:
    """Return two lines for each record, and one that counts them."""
    found = standings(project, records, WORKTREE)
    lines = [line for standing in found for line in _record(standing)]
    gone = sum(record.retired for record in records)
    return [*lines, f"{len(records)} retained, {gone} of them retired; guard verify proves them"]


def _record(standing: Standing) -> list[str]:
    record = standing.record
    keys = ", ".join(record.fails_on) or "no key"
    parts = f"{record.case}, agent {record.agent}, fails on {keys}, before: {_before(record)}"
    return [
        f"{printable(record.id)} ({_state(standing)}): {_incident(record)}",
        printable(f"  {parts}"),
    ]


def _state(standing: Standing) -> str:
    """Say in one word what `guard status` says of it, on the files as they are."""
    record = standing.record
    if record.retired:
        retirement = record.retirement or {}
        return printable(f"retired {retirement.get('date')}: {retirement.get('reason')}")
    if standing.verdict == PROVEN:
        return f"proven {(record.proof or {}).get('date')}"
    return standing.verdict


def _before(record: Record) -> str:
    kind = str(record.before["kind"])
    if kind == "command":
        return f"command, which is weak: {shlex.join(record.before['argv'])}"
    named = record.before.get("rev") or record.before.get("path")
    return f"{kind} {named}" if named else kind


def _incident(record: Record) -> str:
    return printable(str(record.incident.get("summary", "") or "no summary"))
