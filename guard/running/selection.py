"""Which cases a command means: by id, glob, path or ``agent:NAME``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from guard.errors import UsageError
from guard.git import bytes_of
from guard.globs import WILDCARDS, compile_globs
from guard.model import Case
from guard.project import Project


def select_cases(project: Project, selectors: Sequence[str]) -> list[Case]:
    """Return the cases that the selectors name, all of them where there is none.

    Raises `UsageError` for a selector that matches nothing: an empty run is no evidence.
    """
    cases = [project.cases[name] for name in sorted(project.cases)]
    if not selectors:
        return cases
    chosen: dict[str, Case] = {}
    for selector in selectors:
        found = list(_matching(project, selector, cases) or _below_here(project, selector, cases))
        if not found:
            raise UsageError(*_nothing(project, selector))
        chosen.update((case.id, case) for case in found)
    return [case for case in cases if case.id in chosen]


def select_one_case(project: Project, selector: str, command: str) -> Case:
    """Return the one case that a selector names. Raises `UsageError` where it names others too."""
    found = select_cases(project, [selector])
    if len(found) > 1:
        names = ", ".join(case.id for case in found[:5])
        said = f"{selector} names {len(found)} cases: {names}"
        raise UsageError(said, f"guard {command} takes one")
    return found[0]


def _matching(project: Project, selector: str, cases: Iterable[Case]) -> list[Case]:
    if selector.startswith("agent:"):
        name = selector.removeprefix("agent:")
        return [case for case in cases if case.agent == name]
    if selector in project.cases:
        return [project.cases[selector]]
    if not selector or selector.startswith("/"):  # as a glob "" and "/" match everything
        return []
    path, hash_sign, example = selector.partition("#")
    if hash_sign:
        return [case for case in cases if case.path == path and case.id == example]
    matches = compile_globs([selector])
    by_id = bool(WILDCARDS.intersection(selector))
    return [
        case
        for case in cases
        if matches(bytes_of(case.path)) or (by_id and matches(bytes_of(case.id)))
    ]


def _below_here(project: Project, selector: str, cases: Iterable[Case]) -> list[Case]:
    """Read a selector as a path or glob from the folder in which guard was called."""
    root = os.path.realpath(project.repo.root)
    place = os.path.relpath(os.path.join(os.path.realpath("."), selector), root)
    if not selector or not project.repo.root or place.startswith(".."):
        return []
    matches = compile_globs([place])
    return [case for case in cases if matches(bytes_of(case.path))]


def _nothing(project: Project, selector: str) -> tuple[str, str]:
    from guard.schema import nearest

    if selector.startswith("agent:"):
        name = selector.removeprefix("agent:")
        near = nearest(name, project.agents)
        what = "has no case" if name in project.agents else f"is not in guard.yaml{near}"
        return f"agent {name} {what}", "guard agents"
    said = f"{selector or 'an empty selector'} matches no case{nearest(selector, project.cases)}"
    return said, "guard status"
