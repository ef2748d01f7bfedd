"""The cases that a range affects and the records that it concerns: what is run, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from guard.affected import Selected, affected_cases
from guard.change import change_of_trees
from guard.engine import Engine
from guard.hookruns.run import Estimate, estimate_owed
from guard.model import OWED, PENDING, RETIRED
from guard.project import Project
from guard.regressions import Record
from guard.results import CaseResult, ProofResult
from guard.store import Store

UNTRUSTED = "nothing of an untrusted head is run: owed until a maintainer starts it"


class Work(NamedTuple):
    """What a range asks to be run."""

    cases: tuple[Selected, ...] = ()
    records: tuple[Record, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is affected."""
        return not (self.cases or self.records)


def work_of(start: Project, tip: Project, *, everything: bool, known: bool = True) -> Work:
    """Return what the change from one tree to the other affects; all of it where asked.

    ``known``: whether there is a base, so that reasons can be told.
    """
    if not tip.has_config:
        return Work()
    found: Sequence[Selected] = ()
    if known:
        change = change_of_trees(tip.repo, start.tree, tip.tree)
        found = affected_cases(tip, start, change, tip.store.last_verdicts())
    records = _concerned(start, tip, found) if known else []
    if everything:
        reasons = {one.case.id: one.affected_by for one in found}
        cases = tip.cases
        found = [Selected(cases[name], reasons.get(name, ())) for name in sorted(cases)]
        records = list(tip.records.values())
    return Work(tuple(found), tuple(records))


def _concerned(start: Project, tip: Project, affected: Iterable[Selected]) -> list[Record]:
    """Return the records that the change adds or alters, and those of an affected case."""
    files = {(one.case.path, one.case.id) for one in affected}
    paths = {path for path, _ in files}
    before = _records_of(start)
    found: list[Record] = []
    for record in tip.records.values():
        _, _, example = record.case.partition("#")
        known = before.get(record.id)
        named = (record.case_path, example) in files if example else record.case_path in paths
        if named or known is None or known.raw != record.raw:
            found.append(record)
    return found


def _records_of(project: Project) -> dict[str, Record]:
    from guard.errors import UsageError

    try:
        return dict(project.records)
    except UsageError:  # the change mends the file
        return {}


def oldest_evidence_first(engine: Engine, work: Work) -> Work:
    """Return the work with the oldest evidence first; what has none is older than all."""
    store = engine.project.store

    def of_case(chosen: Selected) -> str:
        receipt = store.find_receipt(engine.receipt_key(chosen.case))
        return receipt.date if receipt else ""

    def of_record(record: Record) -> str:
        return proof_date(record, store)

    return Work(tuple(sorted(work.cases, key=of_case)), tuple(sorted(work.records, key=of_record)))


def proof_date(record: Record, store: Store) -> str:
    """Return when the older side of a record's proof was run; empty where it isn't known."""
    digests: Sequence[str] = (record.proof or {}).get("receipts", ())
    receipts = [store.get_receipt(digest) for digest in digests]
    dates = [receipt.date for receipt in receipts if receipt]
    return min(dates) if dates and len(dates) == len(digests) else ""


def owed_until_started(work: Work) -> tuple[tuple[CaseResult, ...], tuple[ProofResult, ...]]:
    """Return the results of work that nobody who may has started."""
    cases = tuple(
        CaseResult(
            case=one.case.id,
            agent=one.case.agent,
            verdict=OWED,
            reason=UNTRUSTED,
            affected_by=one.affected_by,
            path=one.case.path,
        )
        for one in work.cases
    )
    return cases, pending(work.records, UNTRUSTED)


def pending(records: Iterable[Record], reason: str) -> tuple[ProofResult, ...]:
    """Return the results of records that nothing was run for."""
    return tuple(_unproven(record, reason) for record in records)


def _unproven(record: Record, reason: str) -> ProofResult:
    verdict = RETIRED if record.retired else PENDING
    why = str((record.retirement or {}).get("reason", "")) if record.retired else reason
    return ProofResult(record.id, record.agent, record.case, verdict, reason=why)


def estimate(engine: Engine, work: Work) -> tuple[list[Selected], Estimate]:
    """Return the cases that no receipt answers, and what they will take together."""
    owed = [one for one in work.cases if engine.is_owed(one.case)]
    waiting = [CaseResult(one.case.id, one.case.agent, OWED) for one in owed]
    return owed, estimate_owed(engine, waiting)
