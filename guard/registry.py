"""The agents as a table: what runs them and grades them, and what of that is real."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from guard import model
from guard.errors import UsageError
from guard.model import Agent, Case
from guard.output import mark_of, printable
from guard.plugin.api import Target
from guard.project import Project
from guard.running.bound import bound_evaluators
from guard.running.doubles import named_doubles
from guard.running.outcomes import is_deterministic
from guard.running.real_agents import refuse_unreal
from guard.wording.reasons import one_line

#: The verdict that says most about an agent whose cases have different ones, the worst first.
WORST_FIRST: Final = (
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
NOT_RUN: Final = "not run yet"
NOTHING: Final = "none"
NOT_SERVED: Final = "not served"
#: Characters of what a target runs for real.
SHOWN: Final = 40
#: Evaluators that one cell lists before it only counts.
LISTED: Final = 3
REAL, SUBSTITUTED, REFUSED = "real", "substituted", "refused"


class Row(NamedTuple):
    """One agent, in words."""

    name: str
    target: str
    real: str
    evaluators: str
    cases: str
    last: str
    served: str


HEADS: Final = ("agent", "target", "real", "evaluators", "cases", "last verdict", "served as")


class RealRow(NamedTuple):
    """One thing that an agent's trials run, or something else in its place."""

    agent: str
    target: str
    what: str
    how: str
    """real, substituted or refused."""
    why: str


REAL_HEADS: Final = ("agent", "target", "what", "is", "why")


def agent_row(
    project: Project, agent: Agent, verdicts: Mapping[str, str], served: frozenset[str] | None
) -> Row:
    """Return what is known of an agent.

    ``verdicts``: case → its last one. ``served``: every name of a manifest; None where guard.yaml
    names no manifest.
    """
    cases = [case for case in project.cases.values() if case.agent == agent.name]
    last = [verdicts[case.id] for case in cases if case.id in verdicts]
    return Row(
        printable(agent.name),
        printable(agent.target),
        _real_word(project, agent),
        _evaluators_word(project, agent, cases),
        str(len(cases)) if cases else NOTHING,
        _last_word(last, len(cases)),
        _served_word(agent, served),
    )


def _real_word(project: Project, agent: Agent) -> str:
    target = project.plugins.targets().get(agent.target)
    if target is None:
        return "no such target"
    told = one_line(target.real, SHOWN)
    substituted = list(_substituted(project, agent, target))
    if substituted:
        told += f"; not {', '.join(what for what, _ in substituted)}"
    return printable(told if target.live else f"{told}; not the provider's endpoint")


def _evaluators_word(project: Project, agent: Agent, cases: Sequence[Case]) -> str:
    names = [e.name for e in bound_evaluators(project, agent, cases)] if cases else []
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return printable(", ".join(names[:LISTED])) + more or NOTHING


def _last_word(verdicts: list[str], cases: int) -> str:
    if not verdicts:
        return NOT_RUN if cases else ""
    counts = Counter(verdicts)
    found = [verdict for verdict in WORST_FIRST if verdict in counts]
    worst = found[0] if found else verdicts[0]
    return f"{mark_of(worst)} {worst} ({counts[worst]} of {cases})"


def _served_word(agent: Agent, served: frozenset[str] | None) -> str:
    if served is None:
        return ""
    return printable(", ".join(name for name in agent.serves if name in served)) or NOT_SERVED


def real_rows(project: Project, agent: Agent) -> list[RealRow]:
    """Return what an agent's trials run for real, and what they substitute and why.

    Raises `UsageError` where that is refused.
    """
    refuse_unreal(project, [agent])
    target = project.target_of(agent)
    head = (printable(agent.name), printable(target.name))
    rows = [RealRow(*head, printable(target.real), REAL, "")]
    for what, why in _substituted(project, agent, target):
        rows.append(RealRow(*head, printable(what), SUBSTITUTED, printable(why)))
    return rows


def refused_row(agent: Agent, error: UsageError) -> RealRow:
    """Return the row of an agent that isn't run: what is wrong with it."""
    return RealRow(
        printable(agent.name), printable(agent.target), "nothing", REFUSED, printable(error.message)
    )


def _substituted(project: Project, agent: Agent, target: Target) -> Iterator[tuple[str, str]]:
    """Yield what doesn't run for real, and why: by the target, and by the doubles it is given."""
    yield from ((substitute.what, substitute.why) for substitute in target.substitutes)
    for double in named_doubles(project, agent):
        yield f"{double.replaces} ({double.name})", double.why


def trials_line(project: Project, agent: Agent) -> str:
    """Say what an agent's trials cost and need."""
    target = project.target_of(agent)
    paid = target.paid if agent.paid is None else agent.paid
    told = [f"trials {'cost money' if paid else 'are free'}"]
    if is_deterministic(project, agent):
        told.append("they give the same outcome for the same input")
    if not target.live:
        told.append("the endpoint is not the provider's own: no evidence of a live class")
    wanted = dict.fromkeys((*target.prerequisites, *agent.prerequisites))
    if wanted:
        told.append(f"they need {', '.join(wanted)}")
    return printable(f"{agent.name}: {'; '.join(told)}")
