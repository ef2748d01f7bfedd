"""agent-without-case: every agent has a case.

In a change only where it adds the agent to a guard.yaml that was there before, or takes away
its last case; an agent that never had one is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from guard.globs import compile_globs
from guard.model import Agent, Violation
from guard.project import Project
from guard.rules.commit import JudgedCommit, read_cases
from guard.wording.commands import new_case

RULE: Final = "agent-without-case"
_CONFIG: Final = b"guard.yaml"
HAS_NONE: Final = "has no case yet"


def check(commit: JudgedCommit) -> Iterator[Violation]:
    """Yield a violation for each agent that the commit adds, or leaves, without a case."""
    for name in _in_question(commit):
        if name in commit.base.agents:
            if has_case(commit.base, name, lenient=True) and not has_case(commit.new, name):
                yield _violation(commit.new.agents[name], "this takes away the last case of")
        elif not has_case(commit.new, name):
            yield _violation(commit.new.agents[name], "this adds, without a case,")


def named(commit: JudgedCommit) -> list[str]:
    """Return a note for each agent without a case that came with a new guard.yaml or folder."""
    added = [name for name in commit.new.agents if name not in commit.base.agents]
    asked = _in_question(commit) if added else []
    return [note_of(name) for name in added if name not in asked and not has_case(commit.new, name)]


def note_of(name: str) -> str:
    """Return what is said of an agent that has no case yet."""
    return f"agent {name} {HAS_NONE}: {new_case(name)}"


def without_case(project: Project) -> list[Violation]:
    """Return a violation for each agent of the tree that has no case."""
    with_case = {case.agent for case in project.cases.values()}
    return [
        _violation(agent, "no case guards")
        for name, agent in project.agents.items()
        if name not in with_case
    ]


def _violation(agent: Agent, what: str) -> Violation:
    return Violation(
        rule=RULE,
        message=f"{what} agent {agent.name}",
        agent=agent.name,
        paths=agent.paths,
        hint=(new_case(agent.name),),
    )


def _in_question(commit: JudgedCommit) -> list[str]:
    """Return the agents of the new tree that the commit may add or take a case from."""
    if not commit.base.has_config:
        return []
    if _CONFIG in commit.change.paths:
        return list(commit.new.agents)
    gone = {case.agent for case in commit.old_cases.values()}
    return [name for name in commit.new.agents if name in gone]


def has_case(project: Project, name: str, *, lenient: bool = False) -> bool:
    """Tell whether an agent has a case; with ``lenient`` a file that can't be read is none."""
    matches = compile_globs(project.agents[name].cases)
    for path in filter(matches, project.tree.entries()):
        cases = read_cases(project, [path], lenient=lenient)
        if any(case.agent == name for case in cases.values()):
            return True
    return False
