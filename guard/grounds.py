"""Which files of the tree make up what prerequisites set up for trials: migrations, a schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from guard.casekeys import BUILT_IN_PREREQUISITES

if TYPE_CHECKING:
    from guard.plugin.api import Prerequisite
    from guard.project import Project


def ground_of(project: Project, prerequisites: Iterable[str]) -> tuple[str, ...]:
    """Return globs of those files, for what an agent and its case ask the machine for."""
    stated = (p for p in prerequisites if p.partition(":")[0] not in BUILT_IN_PREREQUISITES)
    wanted = tuple(dict.fromkeys(stated))
    if wanted not in project.grounds:
        project.grounds[wanted] = _ask(project, wanted) if wanted else ()
    return project.grounds[wanted]


def _ask(project: Project, wanted: Iterable[str]) -> tuple[str, ...]:
    from guard.plugin.blame import blamed_on

    plugins = project.plugins_with("guard_prerequisites")
    offered: Mapping[str, Prerequisite] = plugins.prerequisites() if plugins else {}
    found: list[str] = []
    for stated in wanted:
        name, _, argument = stated.partition(":")
        if name in offered and offered[name].provide is not None:
            with blamed_on(f"prerequisite {stated}"):
                found += map(str, offered[name].depends(argument, project.tree.read))
    return tuple(found)
