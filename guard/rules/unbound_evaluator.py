"""unbound-evaluator: an evaluator that an agent names reads something that a case states.

It loads the evaluators, so `guard check` asks it and no hook does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from guard.model import Agent, Violation
from guard.plugin.api import Evaluator
from guard.project import Project

RULE: Final = "unbound-evaluator"


def unbound_evaluators(project: Project) -> list[Violation]:
    """Return a violation for each named evaluator that no case of its agent gives work."""
    return [
        _violation(agent, evaluator)
        for agent in project.agents.values()
        if agent.evaluators
        for evaluator in _unbound(project, agent)
    ]


def _unbound(project: Project, agent: Agent) -> Iterable[Evaluator]:
    cases = [case for case in project.cases.values() if case.agent == agent.name]
    stated = {*agent.always, *(key for case in cases for key in case.expected)}
    known = {e.name: e for e in project.evaluators_of(agent)}
    for name in agent.evaluators if cases else ():
        evaluator = known[name]
        # A plain function declares nothing, and is run on every case.
        if evaluator.declared and stated.isdisjoint(evaluator.reads):
            yield evaluator


def _violation(agent: Agent, evaluator: Evaluator) -> Violation:
    reads = ", ".join(evaluator.reads) or "nothing"
    return Violation(
        rule=RULE,
        message=f"evaluator {evaluator.name} reads {reads}, which no case of {agent.name} states",
        agent=agent.name,
        paths=("guard.yaml",),
        hint=(f"guard explain {RULE}",),
    )
