"""LangGraph: what a deploy manifest serves."""

from __future__ import annotations

from guard.plugin import Project, Served, hookimpl
from guard_langgraph.served import read_served


@hookimpl
def guard_served_agents(project: Project) -> list[Served]:
    """Return an entry for each graph of each manifest of LangGraph's."""
    return read_served(project)
