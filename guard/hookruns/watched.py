"""Whether a change can affect any case: asked before a commit, for most commits can't.

A superset of `guard.affected`, told from guard.yaml's globs and the case files that the store
knows already: no tree is listed, no evaluator is loaded, nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from guard import config as config_file
from guard import regressions as regressions_file
from guard.cases import loading
from guard.change import DiffEntry
from guard.git import Repo, bytes_of
from guard.globs import compile_globs, literal, literal_prefix, outermost
from guard.grounds import ground_of
from guard.judging.guarded import ROOT_FILES, reached
from guard.project import Project
from guard.references import named_in_repo, sources_in
from guard.skills import is_skill
from guard.tree import entry_at

_CONFIG = bytes_of(config_file.FILE)
#: Counts up when the stored form of what cases name changes.
NAMED = "named-by-cases-2"
FILES, PREREQUISITES = "files", "prerequisites"
#: What an agent says of files by glob.
_GLOBS = ("paths", "cases", "depends")
#: Hooks by which a plugin may be concerned with any path.
_DYNAMIC = ("guard_agents", "guard_affected")


def may_affect(base: Project, new: Project, entries: Sequence[DiffEntry]) -> bool:
    """Tell whether the change may affect a case of the trees before and after it."""
    if not (base.has_config or new.has_config):
        return False
    # Where guard.yaml doesn't change, the state before tells all that is watched.
    return any(e.path == _CONFIG for e in entries) or _may_affect(base, entries)


def _may_affect(project: Project, entries: Sequence[DiffEntry]) -> bool:
    if not entries:
        return False
    globs = list(dict.fromkeys(configured_globs(project)))
    if reached(globs, entries) or any(is_skill(entry.path) for entry in entries):
        return True
    further = further_globs(project)
    return further is None or reached(further, entries)


def further_globs(project: Project) -> list[str] | None:
    """Return globs of what plugins and cases watch beside guard.yaml.

    None where any path may affect a case: a plugin doesn't say what it looks at, or the store
    doesn't know a case yet.
    """
    by_plugins = _watched_by_plugins(project)
    if by_plugins is None:
        return None
    # No case file changes where this is asked, so neither does what they name.
    by_cases = _named_by_cases(project)
    if by_cases is None:
        return None
    stated = (*_prerequisites(project), *by_cases[PREREQUISITES])
    return [*by_plugins, *by_cases[FILES], *ground_of(project, stated)]


def _prerequisites(project: Project) -> Iterator[str]:
    """Yield what guard.yaml asks the machine for: some of it is made of files of the tree."""
    for declared in (project.config.defaults, *project.config.agents.values()):
        yield from declared.get("prerequisites", ())


def _watched_by_plugins(project: Project) -> list[str] | None:
    plugins = project.plugins_with(*_DYNAMIC)
    if plugins is None:
        return []
    return None if plugins.implements("guard_agents") else plugins.watched_globs()


def configured_globs(project: Project) -> Iterator[str]:
    """Yield globs of all that guard.yaml says may affect a case."""
    config = project.config
    yield from (config_file.FILE, regressions_file.FILE, f"{regressions_file.FOLDER}/**")
    yield from config.served
    yield from map(_folder_of, config.plugins)
    for declared in config.agents.values():
        yield from _watched_of(declared)


def _watched_of(declared: Mapping[str, Any]) -> Iterator[str]:
    folder = declared.get("each")
    if folder is not None:
        yield f"{folder}/**"
    globs = [glob for key in _GLOBS for glob in declared.get(key, ())]
    named = [declared.get(key, {}) for key in ("always", "options")]
    globs += [literal(path) for path in named_in_repo(named)]
    files = [name.rpartition(":")[0] for name in declared.get("evaluators", ())]
    globs += [_folder_of(file) for file in files if file.endswith(".py")]
    for glob in globs:
        yield _any_folder(glob, folder) if folder is not None else glob


def _folder_of(file: str) -> str:
    """Return a glob of what a Python file of the repository can import: its folder."""
    folder = file.rpartition("/")[0]
    return literal(folder) if folder else ROOT_FILES


def _any_folder(glob: str, folder: str) -> str:
    return glob.replace("{dir}", folder).replace("{name}", "*")


def _named_by_cases(project: Project) -> Mapping[str, list[str]] | None:
    """Return globs of the fixtures and ``{repo}/…`` files that cases name, and prerequisites.

    Kept by the ids of the folders that hold the cases. None where the store doesn't know a case
    yet: then it was never run either, and is worth a closer look.
    """
    globs = [glob for d in project.config.agents.values() for glob in _case_globs(d)]
    folders = outermost(literal_prefix(glob) for glob in globs)
    tree = project.tree
    oids = [_oid_of(project.repo, tree.oid, folder) for folder in folders]
    kind = loading.kind_of(project.plugins_with(loading.HOOK))
    key = " ".join([kind, project.config.blob, *oids])
    known: Mapping[str, list[str]] | None = project.store.get_parsed(NAMED, key)
    if known is None:
        known = _read_names(project, kind, folders, globs)
        if known is not None:
            project.store.put_parsed(NAMED, {key: known})
    return known


def _oid_of(repo: Repo, oid: str, folder: str) -> str:
    """Return the id of a folder of a tree; empty where there is none."""
    found = entry_at(repo, oid, bytes_of(folder)) if folder else None
    return found.oid if found else "" if folder else oid


def _read_names(
    project: Project, kind: str, folders: Iterable[str], globs: Iterable[str]
) -> Mapping[str, list[str]] | None:
    matches = compile_globs(globs)
    blobs: set[str] = set()
    entries = project.tree.entries_in(map(bytes_of, folders))
    blobs.update(entry.oid for path, entry in entries.items() if matches(path))
    known = project.store.get_parsed_many(kind, blobs)
    if blobs.difference(known):
        return None
    cases = [fields for parsed in known.values() for fields in parsed]
    asked = {one for fields in cases for one in fields.get("prerequisites", ())}
    files = {literal(path) for fields in cases for path in _named_by(fields)}
    return {FILES: sorted(files), PREREQUISITES: sorted(asked)}


def _case_globs(declared: Mapping[str, Any]) -> list[str]:
    folder = declared.get("each")
    globs: list[str] = list(declared.get("cases", ()))
    return globs if folder is None else [_any_folder(glob, folder) for glob in globs]


def _named_by(fields: Mapping[str, Any]) -> Iterator[str]:
    yield from named_in_repo(fields.get("expected", {}))
    yield from sources_in(fields.get("given", {}))
