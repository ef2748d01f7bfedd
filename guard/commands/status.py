"""``guard status``: what holds and what is owed, from what is stored; nothing is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from guard.commands.options import add_at_option
from guard.engine import Engine
from guard.errors import ExitCode
from guard.model import FAIL, OWED, PASS, PENDING, SKIP, XFAIL, XPASS
from guard.output import mark_of, out, printable, shell_path
from guard.project import Project
from guard.proofs.standing import Standing as Recorded
from guard.proofs.standing import standings
from guard.session import Session
from guard.storage.records import Receipt
from guard.trials.ground import Ground
from guard.verdict import PROOF_CODES
from guard.wording.units import count

if TYPE_CHECKING:
    import argparse

HELP = "show what holds and what is owed"
EPILOG = """\
It runs nothing and judges nothing: it shows what is kept, and ends in 0 whatever that is. Where an
exit code has to tell, call one of these:

    guard run --owed       # runs what is owed of cases and proofs
    guard verify           # the verdict on each retained regression"""
#: Verdicts of cases of which no trial was started.
UNRUN = (SKIP, OWED)
#: Records that the last line names.
SHOWN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard status``."""
    parser.epilog = EPILOG
    add_at_option(parser)


def status(*, at: str = "worktree", disabled: frozenset[str]) -> int:
    """Show, for each case and record, whether there is evidence for the tree under test."""
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project(at)
        found = list(_standings(project, session.store.last_verdicts()))
        for standing in found:
            out(standing.line)
        records = list(standings(project, list(project.records.values()), at))
        for record in records:
            for line in _lines(record):
                out(line)
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


def _lines(standing: Recorded) -> list[str]:
    name = printable(standing.record.id)
    line = f"{mark_of(standing.verdict)} {name}  {printable(standing.line)}"
    return [line, f"  do  {printable(standing.hint)}"] if standing.hint else [line]


def _sentence(found: Sequence[Standing], records: Sequence[Recorded]) -> str:
    """Say what doesn't hold, then what is owed, with the command that pays all of it once."""
    parts = [*_broken(found, records), *_owed(found, records)]
    if parts:
        return "; ".join(parts)
    if not found:
        return "there is no case yet: guard new-case ID --agent AGENT"
    return f"{count(len(found), 'case')}: all have evidence for these files"


def _broken(found: Sequence[Standing], records: Sequence[Recorded]) -> Iterator[str]:
    broken = [standing.case for standing in found if standing.broken]
    if broken:
        verb = "doesn't hold" if len(broken) == 1 else "don't hold"
        of = count(len(found), "case")
        yield f"{len(broken)} of {of} {verb}: guard show {shell_path(broken[0])}"
    for code, one, more in (
        (ExitCode.REGRESSION, "doesn't hold", "don't hold"),
        (ExitCode.NOT_ESTABLISHED, "isn't established", "aren't established"),
    ):
        named = [r.record.id for r in records if _code(r) == code]
        if named:
            ids = " ".join(map(shell_path, named[:SHOWN]))
            verb = one if len(named) == 1 else more
            yield f"{count(len(named), 'proof')} {verb}: guard verify {ids}"
    unnamed = [r.record.id for r in records if r.unnamed]
    if unnamed:
        verb = "isn't" if len(unnamed) == 1 else "aren't"
        named_in = f"{count(len(unnamed), 'proof')} {verb} in regressions.json yet"
        yield f"{named_in}: guard prove {shell_path(unnamed[0])}"


def _owed(found: Sequence[Standing], records: Sequence[Recorded]) -> list[str]:
    parts: list[str] = []
    owed = sum(standing.owed for standing in found)
    pending = [r for r in records if r.verdict == PENDING and not r.unnamed]
    late = sum(r.lapsed for r in pending)
    if owed:
        verb = "has" if owed == 1 else "have"
        parts.append(f"{owed} of {count(len(found), 'case')} {verb} no evidence for these files")
    if len(pending) > late:
        parts.append(f"{count(len(pending) - late, 'proof')} pending")
    if late:
        parts.append(f"{count(late, 'proof')} owed on these files")
    return [*parts[:-1], f"{parts[-1]}: guard run --owed"] if parts else []


def _code(standing: Recorded) -> ExitCode:
    return PROOF_CODES.get(standing.verdict, ExitCode.NOT_ESTABLISHED)
