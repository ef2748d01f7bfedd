"""Which places of the agents a change of the records takes: what a record names is guard's own.

Asked of places, not of files: a record may name one that the next commit brings.
"""

from __future__ import annotations

from collections.abc import Iterator

from guard import config as config_file
from guard import regressions as regressions_file
from guard.git import bytes_of
from guard.globs import Matcher, compile_globs, folders_above, samples_below
from guard.project import Project
from guard.regressions import Record


def taken_paths(base: Project, new: Project) -> Iterator[tuple[str, str, str]]:
    """Yield record, path and agent for each path of an agent that a record newly names."""
    known = {file for record in base.records.values() for file in record.named_files()}
    for name, record in new.records.items():
        before = base.records.get(name)
        files = () if before and before.raw is record.raw else record.named_files()
        for file in dict.fromkeys(files):
            agent = "" if file in known else _owner(base, new, record, file)
            if agent:
                yield name, file, agent


def _owner(base: Project, new: Project, record: Record, file: str) -> str:
    """Return the agent whose own path a file is, or would be once it is there."""
    path = bytes_of(file.rstrip("/"))
    is_kept = _has_place(record, file)
    for project in (base, new):
        for name, globs in _places(project):
            if not _reaches(globs, path) or any(_settled(p, name)(path) for p in (base, new)):
                continue
            if not is_kept or _has_own_below(base, name, path):
                return name
    return ""


def _has_place(record: Record, file: str) -> bool:
    """Tell whether a file lies where guard keeps what goes with the record.

    No glob means that, wide as it may be, until the agent has a file there.
    """
    return f"{file}/".startswith(f"regressions/{record.id}/")


def _places(project: Project) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each agent, and each pattern that may yet give one, with the globs of its paths."""
    for name, agent in project.agents.items():
        yield name, agent.paths
    for name, declared in project.config.agents.items():
        if "each" in declared:
            yield name, (f"{declared['each']}/**",)


def _reaches(globs: tuple[str, ...], path: bytes) -> bool:
    """Tell whether globs match a path, or may match something below it."""
    inside = compile_globs(globs)
    below = samples_below(path, globs)
    return inside(path) or path in folders_above(globs) or any(map(inside, below))


def _settled(project: Project, name: str) -> Matcher:
    """Return a test of what is no agent's own text, whatever a record says."""
    depends = project.depends_of(project.agents[name]) if name in project.agents else ()
    files = (config_file.FILE, regressions_file.FILE, *project.config.plugins)
    return compile_globs((*files, *project.case_globs, *depends))


def _has_own_below(project: Project, name: str, path: bytes) -> bool:
    if name not in project.agents:
        return False
    own = project.own_paths(project.agents[name])
    return any(map(own, project.tree.below(path)))
