"""``guard verify``: show that every retained regression still fails before its fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from guard.commands.options import RunOptions, add_run_options
from guard.engine import Engine
from guard.errors import UsageError
from guard.project import Project
from guard.proof import Prover
from guard.proofs.owed import tell_estimate
from guard.regressions import Record
from guard.reporting import finish_report, start_report
from guard.running.listener import TrialListener
from guard.schema import nearest
from guard.session import WORKTREE, Session

if TYPE_CHECKING:
    import argparse

HELP = "show that every retained regression still fails before its fix"
NOTHING = "nothing is retained: regressions.json holds no record"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard verify``."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="a record's id; all where none is")
    parser.add_argument(
        "--live", action="store_true", help="run both sides again, whatever is kept"
    )
    add_run_options(parser)


def verify(
    *,
    ids: Sequence[str] = (),
    live: bool = False,
    disabled: frozenset[str] = frozenset(),
    **values: Any,
) -> int:
    """Prove the records that are asked for; run what no receipt answers."""
    options = RunOptions.of(values)
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project()
        records = select_records(project, ids)
        report = start_report(project, "verify", WORKTREE, options)
        if not records:
            return finish_report(project, report._replace(notes=(NOTHING,)), options)
        # One proof's red is no reason to leave the others.
        limits = options.limits()._replace(fail_fast=False)
        with (
            TrialListener(project, len(records)) as listener,
            Engine(project, limits, options.budget(), listener, report.run_id) as engine,
            Prover(engine, live=live) as prover,
        ):
            prover.announce = tell_estimate
            results = prover.prove(records)
            unknown = prover.not_established
        report = report._replace(regressions=tuple(results), not_established=unknown)
        return finish_report(project, report, options)


def select_records(project: Project, ids: Sequence[str]) -> list[Record]:
    """Return the records named, all where none is. Raises `UsageError` for an unknown id."""
    if not ids:
        return list(project.records.values())
    for name in ids:
        if name not in project.records:
            near = nearest(name, project.records)
            raise UsageError(f"{name} is no record of regressions.json{near}", "guard verify")
    return [project.records[name] for name in dict.fromkeys(ids)]
