"""Which agents a case file may belong to, by the globs of their ``cases``."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from guard.git import bytes_of
from guard.globs import compile_globs, literal_prefix
from guard.model import Agent


class CaseOwners:
    """The globs of all agents, made ready once."""

    def __init__(self, agents: Iterable[Agent]) -> None:
        self._matchers = [
            (
                agent.name,
                # Most files are told by their folder: no pattern is asked.
                tuple(bytes_of(literal_prefix(glob)) for glob in agent.cases),
                compile_globs(agent.cases),
            )
            for agent in agents
            if agent.cases
        ]

    def of(self, path: bytes) -> list[str]:
        """Return the names of the agents among whose cases a path is."""
        return [
            name
            for name, prefixes, matches in self._matchers
            if path.startswith(prefixes) and matches(path)
        ]


def not_its_agent(stated: str, known: Collection[str]) -> str:
    """Return what is wrong with the agent that a case states: its globs don't match the file."""
    if stated in known:
        return f"this file is not among the `cases` of agent {stated} (guard.yaml)"
    from guard.schema import nearest

    return f"there is no agent {stated!r}{nearest(stated, known)}"
