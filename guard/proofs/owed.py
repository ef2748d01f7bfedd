"""Proofs that are owed: what nothing kept answers on the tree under test, and what paying takes.

Which they are is found anew each time, from the receipts: a list would outlive what it lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from guard.engine import Engine
from guard.hookruns.lines import costs
from guard.hookruns.run import Estimate
from guard.model import PROVEN, RETIRED, Case
from guard.output import warn
from guard.project import Project
from guard.proof import Prover
from guard.proofs.case import find_case
from guard.proofs.evidence import BEFORE, Half
from guard.regressions import Record
from guard.results import ProofResult
from guard.running.gates import FAILS_BEFORE_CAP
from guard.running.series import most_trials
from guard.session import INDEX, WORKTREE
from guard.wording.units import count


class Paid(NamedTuple):
    """What came of proofs that were owed."""

    proofs: tuple[ProofResult, ...] = ()
    not_established: tuple[str, ...] = ()


def pay_owed(engine: Engine, at: str, cases: Iterable[Case]) -> Paid:
    """Prove the records of these cases that don't hold by what is kept; of all cases, all records.

    What an earlier call was stopped in counts: at most the trials in flight then are run again.
    """
    engine.limits = engine.limits._replace(fail_fast=False)
    with Prover(engine, (commit_before(at),)) as prover:
        owed = find_owed(prover, records_of(engine.project, cases))
        prover.announce = tell_estimate
        return Paid(tuple(prover.prove(owed)), prover.not_established if owed else ())


def commit_before(at: str) -> str:
    """Return the commit under test; of a working tree or index the one that it follows."""
    return "HEAD" if at in (WORKTREE, INDEX) else at


def records_of(project: Project, cases: Iterable[Case]) -> list[Record]:
    """Return the records that stand on one of these cases.

    All where these are all there are: one whose case is gone stands on none.
    """
    names = {case.id for case in cases}
    if names.issuperset(project.cases):
        return list(project.records.values())
    found = ((record, find_case(project, record).case) for record in project.records.values())
    return [record for record, case in found if case is not None and case.id in names]


def find_owed(prover: Prover, records: Sequence[Record]) -> list[Record]:
    """Return the records that nothing kept proves; nothing is run for it."""
    proofs = told_by_receipts(prover, records)
    return [record for record in records if proofs[record.id].verdict not in (PROVEN, RETIRED)]


def told_by_receipts(prover: Prover, records: Sequence[Record]) -> dict[str, ProofResult]:
    """Return id → what the receipts say of a record; nothing is run for it."""
    runs, prover.run = prover.run, False
    try:
        return {proof.id: proof for proof in prover.prove(records)}
    finally:
        prover.run = runs


# What it takes -----------------------------------------------------------------------------


def tell_estimate(engine: Engine, halves: Sequence[Half]) -> None:
    """Say what is about to be run and what it takes, where any of it is paid for."""
    if not any(engine.is_paid(half.case) for half in halves):
        return
    most = sum(most_of(engine, half) for half in halves)
    takes = costs(estimate_halves(engine, halves)) or "not known yet what it takes"
    regressions = count(len({half.case.id for half in halves}), "regression")
    warn(f"to run: at most {count(most, 'trial')} of {regressions} ({takes})")


def estimate_halves(engine: Engine, halves: Iterable[Half]) -> Estimate:
    """Return what sides of proofs take at most; unknown where one of them is."""
    store = engine.project.store
    seconds: float | None = 0.0
    cost: float | None = 0.0
    for half in halves:
        agent, case, most = half.case.agent, half.case.id, most_of(engine, half)
        each = store.median_seconds(agent, case) or store.median_seconds(agent)
        price = store.median_cost(agent, case) or store.median_cost(agent)
        seconds = None if seconds is None or each is None else seconds + each * most / engine.jobs
        cost = None if cost is None or price is None else cost + price * most
    return Estimate(seconds, cost)


def most_of(engine: Engine, half: Half) -> int:
    """Return how many trials a side still takes at most."""
    deterministic = engine.is_deterministic(engine.project.agents[half.case.agent])
    if half.side == BEFORE:
        most = 2 if deterministic else FAILS_BEFORE_CAP
    else:
        most = most_trials(half.case, deterministic=deterministic)
    return max(0, most - len(half.trials))
