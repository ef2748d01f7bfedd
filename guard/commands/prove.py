"""``guard prove``: run once before the edit (red) and once after it (green)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard import model
from guard.commands.options import RunOptions, add_run_options
from guard.engine import Engine
from guard.errors import UnreadableError, UsageError
from guard.model import Case
from guard.project import Project
from guard.proof import Prover
from guard.proofs.keeping import with_observations
from guard.proofs.prove import Proved, prove_case, record_of
from guard.proofs.record import read_document, write_record
from guard.proofs.text import describe
from guard.reporting import finish_report, start_report
from guard.running.listener import TrialListener
from guard.running.selection import select_one_case
from guard.session import WORKTREE, Session

if TYPE_CHECKING:
    import argparse

HELP = "show that a case fails before a fix and passes after it; run it before and after the edit"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard prove``."""
    parser.add_argument("case", metavar="CASE", help="its id or path")
    parser.add_argument(
        "--before", metavar="REV", help="the state before a fix that is committed already"
    )
    parser.add_argument("--after", metavar="REV", help="the fixed state, if not the working tree")
    parser.add_argument("--no-record", action="store_true", help="don't write regressions.json")
    add_run_options(parser, trials=True)


def prove(
    *,
    case: str,
    before: str | None = None,
    after: str | None = None,
    no_record: bool = False,
    disabled: frozenset[str] = frozenset(),
    **values: Any,
) -> int:
    """Prove one case, as far as it goes now; write its record once it is proven."""
    options = RunOptions.of(values)
    with Session.open(disabled=disabled) as session:
        worktree = session.guarded_project()
        chosen = select_one_case(worktree, case, "prove")
        if not no_record:
            read_document(session.repo.root)  # What can't be recorded is said before it is run.
        report = start_report(worktree, "prove", WORKTREE, options)
        project = _fixed_at(session, worktree, chosen, after) if after else worktree
        rev = before or (f"{after}^" if after else None)
        limits = options.limits()._replace(fail_fast=False)
        with (
            TrialListener(project, 1) as listener,
            Engine(project, limits, options.budget(), listener, report.run_id) as engine,
            Prover(engine) as prover,
        ):
            proved = prove_case(prover, chosen, rev)
            record = _may_record(proved, no_record, worktree, project)
            if record:
                proved = with_observations(prover, proved, chosen)
                write_record(session.repo.root, proved, chosen)
            text = describe(proved, chosen, engine, recorded=record)
            report = report._replace(
                regressions=(proved.proof,),
                not_established=prover.not_established,
                exit_code=proved.exit_code,
            )
        return finish_report(worktree, report, options, text)


def _fixed_at(session: Session, worktree: Project, case: Case, rev: str) -> Project:
    """Return the working tree with the agent's own paths as a revision has them."""
    if session.repo.resolve(f"{rev}^{{commit}}") is None:
        raise UsageError(f"{rev} names no commit or tag here", "git log --oneline -5")
    with Engine(worktree) as engine, Prover(engine) as prover:
        rung = prover.states.revision(record_of(worktree, case), rev)
    if rung.same:
        return worktree
    if rung.tree is None:
        raise UnreadableError(f"the agent of {case.id} can't be taken from {rev}: {rung.reason}")
    return session.project_of(rung.tree)


def _may_record(proved: Proved, no_record: bool, worktree: Project, project: Project) -> bool:
    """Record a proof of what stands in the working tree, and of nothing else."""
    proven = proved.proof.verdict == model.PROVEN
    return proven and not no_record and worktree.tree.oid == project.tree.oid
