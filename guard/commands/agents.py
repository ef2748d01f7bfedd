"""``guard agents``: what is guarded, how it is run, and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from guard import model
from guard.commands.options import add_at_option
from guard.errors import ExitCode
from guard.model import Agent
from guard.output import mark_of, out, printable
from guard.plugin.api import Target
from guard.project import Project
from guard.session import Session
from guard.wording.reasons import one_line
from guard.wording.table import show_table
from guard.wording.units import count

if TYPE_CHECKING:
    import argparse

HELP = "list the agents"
#: The verdict that says most about an agent whose cases have different ones, the worst first.
WORST_FIRST = (
    model.FAIL,
    model.XPASS,
    model.TAINTED,
    model.ERROR,
    model.UNGRADED,
    model.INCONCLUSIVE,
    model.BLOCKED,
    model.SKIP,
    model.STALE,
    model.OWED,
    model.XFAIL,
    model.PASS,
)
NOT_RUN = "not run yet"
#: Characters of what a target runs for real.
SHOWN = 40


class Row(NamedTuple):
    """One agent, in words."""

    name: str
    target: str
    real: str
    evaluators: str
    cases: str
    last: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard agents``."""
    parser.add_argument(
        "--real", action="store_true", help="what is run for real, and what is substituted and why"
    )
    add_at_option(parser)


def agents(*, real: bool = False, at: str = "worktree", disabled: frozenset[str]) -> int:
    """Show the agents of a tree, in a table; with ``real`` how each is run."""
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project(at)
        if not project.agents:
            out("guard.yaml declares no agent: nothing is guarded")
            return ExitCode.OK
        verdicts = session.store.last_verdicts()
        if real:
            for agent in project.agents.values():
                out("\n".join(_real_lines(project, agent)))
        else:
            rows = [_row(project, agent, verdicts) for agent in project.agents.values()]
            show_table(("agent", "target", "real", "evaluators", "cases", "last verdict"), rows)
        out(f"{count(len(project.agents), 'agent')}, {count(len(project.cases), 'case')}")
    return ExitCode.OK


def _row(project: Project, agent: Agent, verdicts: Mapping[str, str]) -> Row:
    cases = [case for case in project.cases.values() if case.agent == agent.name]
    last = [verdicts[case.id] for case in cases if case.id in verdicts]
    target = project.plugins.targets().get(agent.target)
    return Row(
        printable(agent.name),
        printable(agent.target),
        _real_word(target),
        printable(", ".join(agent.evaluators)) or "built-in",
        str(len(cases)) if cases else "none",
        _last(last, len(cases)),
    )


def _real_word(target: Target | None) -> str:
    if target is None:
        return "no such target"
    told = one_line(target.real, SHOWN)
    if target.substitutes:
        told += f"; not {', '.join(substitute.what for substitute in target.substitutes)}"
    return printable(told if target.live else f"{told}; not the provider's endpoint")


def _last(verdicts: list[str], cases: int) -> str:
    if not verdicts:
        return NOT_RUN if cases else ""
    counts = Counter(verdicts)
    found = [verdict for verdict in WORST_FIRST if verdict in counts]
    worst = found[0] if found else verdicts[0]
    return f"{mark_of(worst)} {worst} ({counts[worst]} of {cases})"


def _real_lines(project: Project, agent: Agent) -> list[str]:
    target = project.target_of(agent)
    paid = target.paid if agent.paid is None else agent.paid
    steady = target.deterministic if agent.deterministic is None else agent.deterministic
    lines = [printable(agent.name), f"  target       {printable(target.name)}"]
    lines.append(f"  real         {printable(target.real)}")
    for substitute in target.substitutes:
        lines.append(f"  substituted  {printable(substitute.what)}: {printable(substitute.why)}")
    lines.append(f"  trials       {'cost money' if paid else 'are free'}")
    if steady:
        lines.append("               give the same outcome for the same input")
    if not target.live:
        lines.append("  endpoint     not the provider's own: no evidence of a live class")
    wanted = (*target.prerequisites, *agent.prerequisites)
    if wanted:
        lines.append(f"  needs        {printable(', '.join(dict.fromkeys(wanted)))}")
    return lines
