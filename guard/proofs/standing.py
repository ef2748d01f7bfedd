"""What holds of a record on the tree under test, told by what is kept; nothing is run.

A proof of other files proves nothing of these: numbers and digests that stand in a record count
only where what is kept answers for the tree under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guard import model
from guard.engine import Engine
from guard.output import shell_path
from guard.project import Project
from guard.proof import Prover
from guard.proofs.case import find_case
from guard.proofs.known import is_known
from guard.proofs.owed import commit_before, told_by_receipts
from guard.regressions import Record
from guard.results import ProofResult
from guard.rules.record_invalid import may_write
from guard.wording.reasons import one_line


class Standing(NamedTuple):
    """A verdict on a record, a sentence about it, and the command that mends or shows it."""

    record: Record
    verdict: str
    said: str = ""
    hint: str = ""
    lapsed: bool = False
    """Of a PENDING one: whether its proof is known, and is one of other files."""
    unnamed: bool = False
    """Of a PENDING one: whether what is kept proves it, and its record doesn't say so."""

    @property
    def line(self) -> str:
        """The verdict and why, in one line."""
        if self.verdict == model.PROVEN:
            return self.said
        return f"{self.verdict}: {self.said}" if self.said else self.verdict


def standings(project: Project, records: Sequence[Record], at: str) -> Iterator[Standing]:
    """Yield how each record stands, in the same order."""
    if not records:
        return
    with Engine(project) as engine, Prover(engine, (commit_before(at),)) as prover:
        told = told_by_receipts(prover, records)
    for record in records:
        yield _standing(project, record, told[record.id])


def _standing(project: Project, record: Record, told: ProofResult) -> Standing:
    if told.verdict == model.PENDING:
        return _open(project, record)
    if told.verdict == model.PROVEN:
        return _proven(project, record)
    hint = told.hint
    if not hint and told.verdict != model.RETIRED:
        hint = f"guard verify {shell_path(record.id)}"
    return Standing(record, told.verdict, one_line(told.reason), hint)


def _proven(project: Project, record: Record) -> Standing:
    if _is_known(project, record):
        return Standing(record, model.PROVEN, f"proven on {_date(record)}")
    if record.proof:
        said = "proven by receipts of this machine, others than its record names"
        return Standing(record, model.PROVEN, said)
    said = "its receipts hold, the record doesn't name them yet"
    return Standing(record, model.PENDING, said, _prove(record), unnamed=True)


def _open(project: Project, record: Record) -> Standing:
    """Tell of a record that what is kept doesn't settle; which no run could prove is refuted."""
    case = find_case(project, record).case
    agent = project.agents.get(record.agent)
    if record.states_nothing:
        said = "the record names no key that it fails on yet"
        return Standing(record, model.PENDING, said, _prove(record), unnamed=True)
    if case is not None and agent is not None:
        key = next((key for key in record.fails_on if not may_write(key, case, agent)), None)
        if key is not None:
            said = f"its case never writes {key}, which stands in fails_on"
            hint = f"guard verify {shell_path(record.id)}"
            return Standing(record, model.WRONG_REASON, said, hint)
    if _is_known(project, record):
        said = f"proven on {_date(record)} with other files, owed on these"
        return Standing(record, model.PENDING, said, lapsed=True)
    if record.proof:
        said = f"not proven on this machine yet; recorded as proven on {_date(record)}"
        return Standing(record, model.PENDING, said)
    return Standing(record, model.PENDING, "the record is there, its proof isn't")


def _is_known(project: Project, record: Record) -> bool:
    case = find_case(project, record).case
    return case is not None and is_known(record, case.id, project.store)


def _date(record: Record) -> str:
    return str((record.proof or {}).get("date"))


def _prove(record: Record) -> str:
    return f"guard prove {shell_path(record.id)}"
