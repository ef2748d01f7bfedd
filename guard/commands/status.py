"""``guard status``: what holds and what is owed, from what is stored; nothing is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from guard.commands.options import add_at_option
from guard.engine import Engine
from guard.errors import ExitCode
from guard.model import FAIL, OWED, PASS, PENDING, PROVEN, RETIRED, SKIP, XFAIL, XPASS
from guard.output import mark_of, out, printable, shell_path
from guard.project import Project
from guard.proof import Prover
from guard.proofs.case import find_case
from guard.proofs.known import is_known
from guard.proofs.owed import commit_before, told_by_receipts
from guard.regressions import Record
from guard.results import ProofResult
from guard.session import Session
from guard.storage.records import Receipt
from guard.trials.ground import Ground
from guard.wording.units import count

if TYPE_CHECKING:
    import argparse

HELP = "show what holds and what is owed"
#: Verdicts of cases of which no trial was started.
UNRUN = (SKIP, OWED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard status``."""
    add_at_option(parser)


def status(*, at: str = "worktree", disabled: frozenset[str]) -> int:
    """Show, for each case and record, whether there is evidence for the tree under test."""
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project(at)
        found = list(_standings(project, session.store.last_verdicts()))
        for standing in found:
            out(standing.line)
        records = _records_of(project, at)
        for record in records:
            out(record.line)
        out(_sentence(found, records))
    return ExitCode.OK


class Standing(NamedTuple):
    """What the store says of one case on the tree under test."""

    case: str
    line: str
    owed: bool = False
    broken: bool = False


def _standings(project: Project, verdicts: Mapping[str, str]) -> Iterator[Standing]:
    engine, ground = Engine(project), Ground(project)
    for name, case in sorted(project.cases.items()):
        key = engine.receipt_key(case)
        receipt = engine.receipt_for(case, key)
        shown = printable(name)
        if receipt is not None:
            yield Standing(name, f"{mark_of('PASS')} {shown}  {_counted(receipt)}")
        elif said := ground.find_broken(case):
            line = f"{mark_of('STALE')} {shown}  STALE: needs review: {printable(said)}"
            yield Standing(name, line, owed=True)
        else:
            yield _without_receipt(name, project.store.find_receipt(key), verdicts.get(name))


def _without_receipt(name: str, latest: Receipt | None, last: str | None) -> Standing:
    shown = printable(name)
    if latest is None:
        # What was run left a receipt, under these files or others; the rest leaves none.
        where = "" if last in UNRUN else ", on other files"
        before = f"; last verdict {last}{where}" if last else ""
        line = f"{mark_of('OWED')} {shown}  owed: not run on these files{before}"
        return Standing(name, line, owed=True)
    if latest.verdict in (PASS, XFAIL):
        line = f"{mark_of('OWED')} {shown}  owed: its receipt is too old, {_counted(latest)}"
        return Standing(name, line, owed=True)
    line = f"{mark_of(latest.verdict)} {shown}  {latest.verdict}: {_counted(latest)}"
    broken = latest.verdict in (FAIL, XPASS)
    return Standing(name, line, owed=not broken, broken=broken)


def _counted(receipt: Receipt) -> str:
    when = f"{receipt.date[:16].replace('T', ' ')} UTC"
    return f"{receipt.passed} of {receipt.trials}, {when}" if receipt.trials else when


def _known(project: Project, record: Record) -> bool:
    case, _ = find_case(project, record)
    return case is not None and is_known(record, case.id, project.store)


class Recorded(NamedTuple):
    """What is known of one record, and what of it on the tree under test."""

    line: str
    pending: bool = False
    """Whether no known receipt proves it."""
    owed: bool = False
    """Whether it was proven, and nothing answers for the tree under test."""


def _records_of(project: Project, at: str) -> list[Recorded]:
    records = list(project.records.values())
    if not records:
        return []
    with Engine(project) as engine, Prover(engine, (commit_before(at),)) as prover:
        told = told_by_receipts(prover, records)
    return [_recorded(record, told[record.id], _known(project, record)) for record in records]


def _recorded(record: Record, told: ProofResult, known: bool) -> Recorded:
    name, date = printable(record.id), (record.proof or {}).get("date")
    if record.retired:
        why = (record.retirement or {})["reason"]
        return Recorded(f"{mark_of(RETIRED)} {name}  RETIRED: {printable(why)}")
    if known:
        owed = told.verdict == PENDING
        said = f"proven on {date}{'; owed on these files' if owed else ''}"
        return Recorded(f"{mark_of(PROVEN)} {name}  {said}", owed=owed)
    if told.verdict == PROVEN:
        said = "proven by receipts that its record doesn't name"
        return Recorded(f"{mark_of(PROVEN)} {name}  {said}")
    line = f"{mark_of(PENDING)} {name}  PENDING: the record is there, its proof isn't"
    return Recorded(line, pending=True)


def _sentence(found: Sequence[Standing], records: Sequence[Recorded]) -> str:
    if not found:
        return "there is no case yet: guard new-case ID --agent AGENT"
    cases, owed = count(len(found), "case"), sum(standing.owed for standing in found)
    broken = [standing.case for standing in found if standing.broken]
    parts: list[str] = []
    if broken:
        verb = "doesn't hold" if len(broken) == 1 else "don't hold"
        parts.append(f"{len(broken)} of {cases} {verb}: guard show {shell_path(broken[0])}")
    if owed:
        verb = "has" if owed == 1 else "have"
        parts.append(f"{owed} of {cases} {verb} no evidence for these files: guard run --owed")
    pending, late = (sum(r.pending for r in records), sum(r.owed for r in records))
    if pending:
        parts.append(f"{count(pending, 'proof')} pending: guard run --owed")
    if late:
        parts.append(f"{count(late, 'proof')} owed on these files: guard run --owed")
    return "; ".join(parts) or f"{cases}: all have evidence for these files"
