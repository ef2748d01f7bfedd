"""Whether a change can concern anything that is guarded: asked first, for most commits don't.

A superset, told from guard.yaml's globs alone: no tree is listed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from guard import config as config_file
from guard import regressions as regressions_file
from guard.change import DiffEntry
from guard.errors import UsageError
from guard.git import bytes_of
from guard.globs import compile_globs, folders_above, literal_prefix
from guard.project import Project
from guard.tree import GITLINK

#: The glob of the root's own files.
ROOT_FILES = "*"


def concerns(project: Project, entries: Iterable[DiffEntry]) -> bool:
    """Tell whether any entry may be of an agent, a case, a record or guard.yaml itself."""
    if not project.has_config:
        return False
    try:
        globs = list(guarded_globs(project))
    except UsageError:
        # Whoever goes on to judge will say what is wrong, or do without this side.
        return True
    return reached(globs, entries)


def reached(globs: Sequence[str], entries: Iterable[DiffEntry]) -> bool:
    """Tell whether any entry may be, hold, or lead to something that a glob matches."""
    return any(map(reach_of(globs), entries))


def reach_of(globs: Sequence[str]) -> Callable[[DiffEntry], bool]:
    """Return a test whether an entry may be, hold, or lead to something that a glob matches.

    What stands where a folder of a glob's would is one: a submodule, a link.
    """
    matches, above = compile_globs(globs), folders_above(globs)
    # A lone `*` stays at the root, where it matches a submodule's own name.
    places = [bytes_of(literal_prefix(glob)) for glob in globs if glob != ROOT_FILES]

    def reaches(entry: DiffEntry) -> bool:
        if matches(entry.path) or entry.path in above:
            return True
        return _is_gitlink(entry) and any(_is_at_or_below(entry.path, place) for place in places)

    return reaches


def _is_gitlink(entry: DiffEntry) -> bool:
    return any(side.mode == GITLINK for side in (entry.old, entry.new) if side)


def _is_at_or_below(path: bytes, folder: bytes) -> bool:
    return not folder or path == folder or path.startswith(folder + b"/")


def guarded_globs(project: Project) -> Iterator[str]:
    """Yield globs of guard's own files, and of what may be of an agent or a case."""
    yield from (config_file.FILE, regressions_file.FILE, f"{regressions_file.FOLDER}/**")
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
