"""Whether a change can concern anything that is guarded: asked first, for most commits don't.

A superset, told from guard.yaml's globs alone: no tree is listed for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from guard import config as config_file
from guard import regressions as regressions_file
from guard.change import DiffEntry
from guard.errors import UsageError
from guard.globs import compile_globs
from guard.project import Project
from guard.tree import GITLINK


def concerns(project: Project, entries: Iterable[DiffEntry]) -> bool:
    """Tell whether any entry may be of an agent, a case, a record or guard.yaml itself."""
    if not project.has_config:
        return False
    try:
        globs = list(_globs(project))
    except UsageError:
        # Whoever goes on to judge will say what is wrong, or do without this side.
        return True
    matches = compile_globs((config_file.FILE, regressions_file.FILE, *globs))
    return any(matches(entry.path) or _is_gitlink(entry) for entry in entries)


def _is_gitlink(entry: DiffEntry) -> bool:
    return any(side.mode == GITLINK for side in (entry.old, entry.new) if side)


def _globs(project: Project) -> Iterator[str]:
    if project.plugins_with("guard_agents") is not None:
        for agent in project.agents.values():
            yield from (*agent.paths, *agent.cases)
        return
    for declared in project.config.agents.values():
        yield from _declared_globs(declared)


def _declared_globs(declared: Mapping[str, Any]) -> Iterator[str]:
    folder = declared.get("each")
    if folder is None:
        yield from (*declared.get("paths", ()), *declared.get("cases", ()))
        return
    yield f"{folder}/**"
    for glob in declared.get("cases", ()):
        yield glob.replace("{dir}", folder).replace("{name}", "**")
