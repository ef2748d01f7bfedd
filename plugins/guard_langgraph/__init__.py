"""LangGraph: the graphs that a deploy manifest serves, and the target that runs them.

What is imported here, a git hook may import: the rest comes when it is needed.
"""

from __future__ import annotations

from guard.plugin import Evaluator, Project, Served, Target, hookimpl


@hookimpl
def guard_served_agents(project: Project) -> list[Served]:
    """Return an entry for each graph of each manifest of LangGraph's."""
    from guard_langgraph.served import read_served

    return read_served(project)


@hookimpl
def guard_targets() -> list[Target]:
    """Offer the target ``langgraph``."""
    from guard_langgraph.target import TARGET

    return [TARGET]


@hookimpl
def guard_evaluators() -> list[Evaluator]:
    """Offer what is expected of a graph's pauses, and of its end."""
    from guard_langgraph.gates import EVALUATORS

    return list(EVALUATORS)
