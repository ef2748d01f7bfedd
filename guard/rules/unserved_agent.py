"""unserved-agent: whatever production serves is bound to an agent that is graded.

The manifests say what is served, and nothing here can exempt one. It reads the manifests through
plugins and loads the evaluators, and does neither where guard.yaml names no manifest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from guard import config as config_file
from guard.errors import GuardError
from guard.git import bytes_of
from guard.model import Agent, Case, Violation
from guard.project import Project
from guard.rules.commit import COMMIT, JudgedCommit
from guard.wording.commands import new_case

if TYPE_CHECKING:
    from guard.plugin.api import Served

RULE: Final = "unserved-agent"
_EXPLAIN: Final = f"guard explain {RULE}"


def check(commit: JudgedCommit) -> Iterator[Violation]:
    """Yield a violation for whatever a commit in the making leaves unserved that wasn't before.

    Of what is pushed or reviewed the tip's tree is asked: a later commit may have brought it.
    """
    if commit.stage != COMMIT or not (commit.new.config.served and _in_question(commit)):
        return
    found = unserved_agents(commit.new)
    before = _known(commit.base) if found else frozenset[str]()
    yield from (violation for violation in found if violation.message not in before)


def _in_question(commit: JudgedCommit) -> bool:
    """Tell whether the commit may change what is served, or whether that is graded."""
    named = {*map(bytes_of, commit.new.config.served), bytes_of(config_file.FILE)}
    if not named.isdisjoint(commit.change.paths) or commit.new_cases or commit.old_cases:
        return True
    # A skill's folder is served by being there.
    return any(e.path.endswith(b".md") and not (e.old and e.new) for e in commit.change.entries)


def _known(base: Project) -> frozenset[str]:
    try:
        return frozenset(violation.message for violation in unserved_agents(base))
    except GuardError:
        return frozenset()


def unserved_agents(project: Project, *, by_data: bool = False) -> list[Violation]:
    """Return a violation for each served name that isn't graded, and each name nobody serves.

    ``by_data``: the tree's own plugins and evaluators may be unknown here, and are not asked for.
    Raises `UsageError` where a manifest can't be read.
    """
    if not project.config.served:
        return []
    from guard.served import read_served

    served = read_served(project, by_data=by_data)
    grading = _Grading(project, by_data=by_data)
    return [*_ungraded(served, grading), *_in_no_manifest(project, served)]


def bound_agents(project: Project, name: str) -> list[Agent]:
    """Return the agents that serve a name of a manifest."""
    return [agent for agent in project.agents.values() if name in agent.serves]


def _ungraded(served: Sequence[Served], grading: _Grading) -> Iterator[Violation]:
    by_name: dict[str, list[Served]] = {}
    for entry in served:
        by_name.setdefault(entry.name, []).append(entry)
    for name, entries in by_name.items():
        agents = bound_agents(grading.project, name)
        things = tuple(dict.fromkeys(_place(entry) for entry in entries if entry.entry))
        if not agents:
            yield from (_violation(entry, "and no agent serves it") for entry in entries)
        elif len(things) > len(agents):
            yield _shared(entries[0], things, agents)
        for agent in agents:
            lacking = grading.lacks(agent)
            if lacking:
                yield _violation(entries[0], f"and agent {agent.name} {lacking}", agent)


def _place(entry: Served) -> str:
    """Return what stands for an entry, from the repository's root where that is a path."""
    if not entry.entry.startswith(("./", "../")):
        return entry.entry
    return os.path.normpath(os.path.join(os.path.dirname(entry.manifest), entry.entry))


def _violation(entry: Served, lacking: str, agent: Agent | None = None) -> Violation:
    at = f" ({entry.entry})" if entry.entry else ""
    mend = (new_case(agent.name),) if agent and "case" in lacking else (_EXPLAIN,)
    return Violation(
        rule=RULE,
        message=f"{entry.manifest} serves {entry.name}{at}, {lacking}",
        agent=agent.name if agent else "",
        paths=(entry.manifest, config_file.FILE),
        hint=mend,
    )


def _shared(entry: Served, things: Sequence[str], agents: Sequence[Agent]) -> Violation:
    from guard.wording.units import names

    one = f"agent {agents[0].name} serves them all" if len(agents) == 1 else "fewer agents do"
    said = f"{len(things)} different things are served as {entry.name} ({names(things, 3)}), {one}"
    return Violation(
        RULE, said, agents[0].name, (entry.manifest, config_file.FILE), hint=(_EXPLAIN,)
    )


def _in_no_manifest(project: Project, served: Iterable[Served]) -> Iterator[Violation]:
    known = {entry.name for entry in served}
    for agent in project.agents.values():
        wrong = [n for n in agent.serves if n not in known and _is_stated(project, agent)]
        if wrong:
            from guard.schema import nearest
            from guard.wording.units import listed

            said = f"agent {agent.name} serves {listed(wrong)}, which no manifest has"
            yield Violation(
                rule=RULE,
                message=said + nearest(wrong[0], known),
                agent=agent.name,
                paths=(config_file.FILE, *project.config.served),
                hint=(_EXPLAIN,),
            )


def _is_stated(project: Project, agent: Agent) -> bool:
    """Tell whether ``serves`` is more than the agent's own name, which is there by itself."""
    declared: Mapping[str, object] = project.config.agents.get(agent.name, {})
    return bool(declared.get("serves")) or agent.serves != (agent.name,)


class _Grading:
    """Whether agents are graded, each asked once."""

    def __init__(self, project: Project, *, by_data: bool) -> None:
        self.project = project
        self._by_data = by_data
        self._cases: dict[str, list[Case]] = {}
        for case in project.cases.values():
            self._cases.setdefault(case.agent, []).append(case)

    def lacks(self, agent: Agent) -> str:
        """Return what the agent lacks to be graded; empty where it is."""
        cases = self._cases.get(agent.name, [])
        if not self._has_target(agent):
            return f"has the target {agent.target}, which no plugin offers"
        if not cases:
            return "has no case"
        if not (agent.always or any(case.expected for case in cases)):
            return "has no case that states an expectation"
        return "" if self._is_read(agent, cases) else "has no evaluator for what its cases state"

    def _has_target(self, agent: Agent) -> bool:
        return self._by_data or agent.target in self.project.plugins.targets()

    def _is_read(self, agent: Agent, cases: Sequence[Case]) -> bool:
        if self._by_data:
            return True
        # Late: a hook that finds nothing served needs none of it.
        from guard.running.bound import bound_evaluators

        return bool(bound_evaluators(self.project, agent, cases))
