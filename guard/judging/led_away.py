"""Links among an agent's own paths whose text lies elsewhere: nobody guards that there."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from guard.git import bytes_of, text_of
from guard.globs import compile_globs
from guard.model import Agent
from guard.project import Project
from guard.rules.commit import JudgedCommit
from guard.tree import SYMLINK


def links_brought(commit: JudgedCommit) -> list[str]:
    """Return a sentence for each link that a commit brings and that leads out of an agent."""
    found: list[str] = []
    for name, entries in commit.owned.items():
        links = [e.path for e in entries if e.new and e.new.mode == SYMLINK]
        if links and name in commit.new.agents:
            found += _led_away(commit.new, commit.new.agents[name], links)
    return found


def all_links(project: Project) -> list[str]:
    """Return a sentence for each link of the tree that leads out of its agent."""
    links = [path for path, entry in project.tree.entries().items() if entry.mode == SYMLINK]
    if not links:
        return []
    return [said for agent in project.agents.values() for said in _led_away(project, agent, links)]


def _led_away(project: Project, agent: Agent, links: Iterable[bytes]) -> Iterator[str]:
    own, depends = project.own_paths(agent), compile_globs(project.depends_of(agent))
    for link in filter(own, links):
        target = text_of(project.tree.read(link) or b"")
        name = posixpath.normpath(posixpath.join(posixpath.dirname(text_of(link)), target))
        if name.startswith(("/", "../")) or name == "..":
            yield f"{text_of(link)} leads out of the repository, where nothing can be guarded"
            continue
        path = bytes_of(name)
        held = [path] if project.tree.get(path) else [*project.tree.below(path)]
        if not held or not all(own(one) or depends(one) for one in held):
            yield (
                f"{text_of(link)} leads to {name}, which no path of agent {agent.name} covers: "
                f"add it to agents.{agent.name}.paths"
            )
