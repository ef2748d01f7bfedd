"""Proves the records of a scratch repository as the commands do, with the results at hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from guard.engine import Engine, Limits
from guard.git import find_repo
from guard.project import Project
from guard.proof import Prover
from guard.results import ProofResult, TrialResult
from guard.running.budget import Budget
from guard.session import Session


class Proven(NamedTuple):
    """The verdicts, and the trials that were run for them."""

    results: dict[str, ProofResult]
    ran: list[TrialResult]
    not_established: tuple[str, ...]

    @property
    def one(self) -> ProofResult:
        """The only result."""
        (result,) = self.results.values()
        return result


def prove(
    root: Path,
    *,
    at: str = "worktree",
    before: Sequence[str] = ("HEAD",),
    limits: Limits | None = None,
    budget: Budget | None = None,
    live: bool = False,
    run: bool = True,
) -> Proven:
    """Prove every record of the tree named."""
    ran: list[TrialResult] = []
    with Session(find_repo(str(root))) as session:
        project: Project = session.guarded_project(at)
        with (
            Engine(project, limits or Limits(jobs=2), budget, ran.append) as engine,
            Prover(engine, before, live=live, run=run) as prover,
        ):
            results = prover.prove(project.records.values())
            unknown = prover.not_established
    return Proven({result.id: result for result in results}, ran, unknown)
