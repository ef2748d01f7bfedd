"""Which evaluators have something to read in what an agent's cases state."""

from __future__ import annotations

from collections.abc import Iterable

from guard.model import Agent, Case
from guard.plugin.api import Evaluator
from guard.project import Project


def stated_keys(agent: Agent, cases: Iterable[Case]) -> frozenset[str]:
    """Return every expectation key that the cases state, or the agent in all of them."""
    return frozenset({*agent.always, *(key for case in cases for key in case.expected)})


def bound_evaluators(
    project: Project, agent: Agent, cases: Iterable[Case]
) -> tuple[Evaluator, ...]:
    """Return the evaluators that read something which the cases state; none where they state none.

    A plain function declares nothing, and is run on every case.
    """
    stated = stated_keys(agent, cases)
    return tuple(
        evaluator
        for evaluator in (project.evaluators_of(agent) if stated else ())
        if not evaluator.declared or not stated.isdisjoint(evaluator.reads)
    )
