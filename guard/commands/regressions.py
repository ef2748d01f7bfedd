"""``guard regressions``: show the retained regressions, or verify them."""

from __future__ import annotations

import json as json_module
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from guard.commands import verify
from guard.errors import ExitCode, UsageError
from guard.output import out, printable
from guard.project import Project
from guard.proofs.case import find_case
from guard.proofs.known import is_known
from guard.regressions import FILE, Record
from guard.session import Session

if TYPE_CHECKING:
    import argparse

HELP = "show or verify the retained regressions"
ACTIONS = ("show", "verify")
TO_COME = ("audit", "add", "retire", "reopen")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard regressions``."""
    parser.add_argument("action", metavar="ACTION", help=f"{' or '.join(ACTIONS)}")
    verify.add_arguments(parser)


def regressions(
    *,
    action: str,
    ids: Sequence[str] = (),
    disabled: frozenset[str] = frozenset(),
    **values: Any,
) -> int:
    """Show the records, or verify them as ``guard verify`` does."""
    if action in TO_COME:
        raise UsageError(f"`guard regressions {action}` is not there yet", "guard regressions show")
    ids = [name for name in ids if not _is_the_file(name)]
    if action == "verify":
        return verify.verify(ids=ids, disabled=disabled, **values)
    if action != "show":
        raise UsageError(f"guard regressions {action}: takes {' or '.join(ACTIONS)}")
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project()
        records = verify.select_records(project, ids)
        if values.get("json"):
            return _as_json(records, str(values["json"]))
        for line in _lines(project, records):
            out(line)
    return ExitCode.OK


def _is_the_file(name: str) -> bool:
    """Tell whether a name is the path of this repository's own file, which stands for all."""
    if name.endswith(".json") and os.path.basename(name) != FILE:
        raise UsageError(f"{name}: only {FILE} of this repository is read yet")
    return os.path.basename(name) == FILE


def _as_json(records: Sequence[Record], path: str) -> int:
    from guard.output import write_file

    write_file(path, json_module.dumps({r.id: r.raw for r in records}, indent=2) + "\n")
    return ExitCode.OK


def _lines(project: Project, records: Sequence[Record]) -> list[str]:
    if not records:
        return [verify.NOTHING]
    lines: list[str] = []
    for record in records:
        lines.append(f"{printable(record.id)} ({_state(project, record)}): {_incident(record)}")
        keys = ", ".join(record.fails_on) or "no key"
        lines.append(
            printable(
                f"  {record.case}, agent {record.agent}, fails on {keys}, before: {_before(record)}"
            )
        )
    retired = sum(record.retired for record in records)
    lines.append(f"{len(records)} retained, {retired} of them retired; guard verify proves them")
    return lines


def _state(project: Project, record: Record) -> str:
    """Say what the file alone can tell: numbers without a known receipt prove nothing."""
    if record.retired:
        return "retired"
    case, _ = find_case(project, record)
    known = case is not None and is_known(record, case.id, project.store)
    return f"proven {(record.proof or {})['date']}" if known else "PENDING"


def _before(record: Record) -> str:
    kind = str(record.before["kind"])
    return f"{kind} {record.before['rev']}" if kind == "revision" else kind


def _incident(record: Record) -> str:
    return printable(str(record.incident.get("summary", "") or "no summary"))
