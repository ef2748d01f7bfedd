"""Which cases a command means: by id, glob, path or ``agent:NAME``."""

from __future__ import annotations

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
        found = list(_matching(project, selector, cases))
        if not found:
            raise UsageError(*_nothing(project, selector))
        chosen.update((case.id, case) for case in found)
    return [case for case in cases if case.id in chosen]


def _matching(project: Project, selector: str, cases: Iterable[Case]) -> Iterable[Case]:
    if selector.startswith("agent:"):
        name = selector.removeprefix("agent:")
        return (case for case in cases if case.agent == name)
    if selector in project.cases:
        return (project.cases[selector],)
    by_path = compile_globs([selector])
    by_id = compile_globs([selector]) if WILDCARDS.intersection(selector) else None
    return (
        case
        for case in cases
        if by_path(bytes_of(case.path)) or (by_id is not None and by_id(bytes_of(case.id)))
    )


def _nothing(project: Project, selector: str) -> tuple[str, str]:
    from guard.schema import nearest

    if selector.startswith("agent:"):
        name = selector.removeprefix("agent:")
        near = nearest(name, project.agents)
        what = "has no case" if name in project.agents else f"is not in guard.yaml{near}"
        return f"agent {name} {what}", "guard agents"
    near = nearest(selector, project.cases)
    return f"{selector} matches no case{near}", "guard affected, or guard agents, lists them"
