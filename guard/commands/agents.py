"""``guard agents``: what is guarded, how it is run and graded, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from guard.commands.options import add_at_option
from guard.errors import ExitCode, UsageError, worst
from guard.output import BROKEN, LOOK, out, printable
from guard.project import Project
from guard.registry import HEADS, REAL_HEADS, agent_row, real_rows, refused_row, trials_line
from guard.rules.unserved_agent import unserved_agents
from guard.served import read_served
from guard.session import Session
from guard.wording.table import show_table
from guard.wording.units import count

if TYPE_CHECKING:
    import argparse

HELP = "list the agents"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard agents``."""
    parser.add_argument(
        "--real", action="store_true", help="what is run for real, and what is substituted and why"
    )
    add_at_option(parser)


def agents(*, real: bool = False, at: str = "worktree", disabled: frozenset[str]) -> int:
    """Show the agents of a tree as a table; with ``real`` what of each is real, and what isn't."""
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project(at)
        if real:
            codes = [_show_real(project)]
        else:
            served, problem = _served_names(project)
            verdicts = session.store.last_verdicts()
            found = [agent_row(project, a, verdicts, served) for a in project.agents.values()]
            if found:
                show_table(HEADS, found)
            codes = [_tell_served(project, problem)]
        if not project.agents:
            out("guard.yaml declares no agent: nothing is guarded")
        else:
            out(f"{count(len(project.agents), 'agent')}, {count(len(project.cases), 'case')}")
    return worst(ExitCode.OK, *codes)


def _served_names(project: Project) -> tuple[frozenset[str] | None, UsageError | None]:
    """Return every name that production serves, or why that can't be told."""
    if not project.config.served:
        return None, None
    try:
        return frozenset(entry.name for entry in read_served(project)), None
    except UsageError as error:
        return None, error


def _tell_served(project: Project, problem: UsageError | None) -> int:
    """Name what is served and isn't graded; it is `guard check` that is broken by it."""
    if problem is not None:
        out(f"{LOOK} {printable(problem.message)}")
        return problem.exit_code
    for violation in unserved_agents(project):
        out(f"{BROKEN} {printable(violation.message)} ({violation.rule})")
    return ExitCode.OK


def _show_real(project: Project) -> int:
    """Show what is real of each agent; one that isn't is named, and hides no other."""
    rows: list[Sequence[str]] = []
    notes: list[str] = []
    codes: list[int] = []
    for agent in project.agents.values():
        try:
            rows += real_rows(project, agent)
            notes.append(trials_line(project, agent))
        except UsageError as error:
            rows.append(refused_row(agent, error))
            codes.append(error.exit_code)
    if rows:
        show_table(REAL_HEADS, rows)
        if notes:
            out("\n".join(["", *notes]))
    return worst(ExitCode.OK, *codes)
