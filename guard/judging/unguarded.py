"""Agents that no change can touch: their globs match no file, most often for a typo."""

from __future__ import annotations

from guard.project import Project


def without_files(project: Project) -> list[str]:
    """Return the names of the agents whose own paths match no file of the tree."""
    found: list[str] = []
    for name, agent in project.agents.items():
        if not any(map(project.own_paths(agent), project.tree.entries())):
            found.append(name)
    return found
