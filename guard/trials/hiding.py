"""What a trial must not see: guard's own files, and what its outcome is checked with."""

from __future__ import annotations

from guard.globs import Matcher, compile_globs, literal
from guard.model import Agent
from guard.project import Project
from guard.references import named_in_repo


def hidden_from_target(project: Project, agent: Agent) -> Matcher:
    """Return a test of what isn't in ``{repo}`` while a target runs.

    The agent's own paths neither: a broken workspace must not find the fixed code there.
    """
    own, guards_own = project.own_paths(agent), project.is_guards_own
    return lambda path: own(path) or guards_own(path)


def shown_to_checker(project: Project, agent: Agent) -> Matcher:
    """Return a test of what is in ``{repo}`` while checkers run, beside what an argv names."""
    depends, guards_own = compile_globs(project.depends_of(agent)), project.is_guards_own
    return lambda path: depends(path) or guards_own(path)


def hidden_from_workspace(project: Project, agent: Agent) -> Matcher:
    """Return a test of what isn't in a workspace, though it lies in the agent's folder."""
    named = {
        path
        for case in project.cases.values()
        if case.agent == agent.name
        for path in named_in_repo(case.expected)
    }
    checks = compile_globs((*project.depends_of(agent), *map(literal, sorted(named))))
    guards_own = project.is_guards_own
    return lambda path: guards_own(path) or checks(path)
