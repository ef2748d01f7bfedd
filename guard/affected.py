"""Which cases a change affects, each with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from guard.change import Change
from guard.errors import UsageError
from guard.git import bytes_of
from guard.globs import Matcher, compile_globs, literal
from guard.grounds import ground_of
from guard.model import PASS, XFAIL, Agent, Case
from guard.project import Project
from guard.references import fixtures_of, named_in_repo
from guard.rules.commit import is_owned
from guard.skills import is_skill, skill_heads
from guard.tree import Tree


class Selected(NamedTuple):
    """One case to run, and why."""

    case: Case
    affected_by: tuple[str, ...] = ()


def affected_cases(
    project: Project, base: Project, change: Change, last_verdicts: Mapping[str, str]
) -> list[Selected]:
    """Return the cases of ``project`` that the change affects, in the order of their ids."""
    judge = _Judge(project, base, change, last_verdicts)
    found: list[Selected] = []
    for case_id, case in sorted(project.cases.items()):
        reasons = tuple(judge.reasons(project.agents[case.agent], case))
        if reasons:
            found.append(Selected(project.cases[case_id], reasons))
    return found


def readable_before(base: Project) -> Project:
    """Return the state before, or nothing in its place where its own files are wrong.

    Otherwise the change that mends them could never be judged.
    """
    try:
        _ = base.agents, base.records
    except UsageError:
        return Project(base.repo, Tree(base.repo, base.repo.empty_tree), base.store, base.disabled)
    return base


class _Judge:
    """Holds what all cases of one agent share, so that it is worked out once."""

    def __init__(
        self, project: Project, base: Project, change: Change, last_verdicts: Mapping[str, str]
    ) -> None:
        self.project = project
        self.base = readable_before(base)
        self.change = change
        self.last_verdicts = last_verdicts
        self._of_agent: dict[str, tuple[str, ...]] = {}

    def reasons(self, agent: Agent, case: Case) -> Iterable[str]:
        if self._case_changed(case):
            yield "case"
        if agent.name not in self._of_agent:
            self._of_agent[agent.name] = tuple(self._agent_reasons(agent))
        shared = self._of_agent[agent.name]
        yield from (reason for reason in shared if reason in ("agent", "depends"))
        if "depends" not in shared and self._touches(self._named_by(agent, case)):
            yield "depends"
        yield from (reason for reason in shared if reason in ("plugin", "config"))
        if self._record_changed(case):
            yield "record"
        if "discovery" in shared:
            yield "discovery"
        if self.last_verdicts.get(case.id, PASS) not in (PASS, XFAIL):
            yield "last-verdict"
        yield from self._plugin_reasons(agent, case)

    def _named_by(self, agent: Agent, case: Case) -> Iterable[str]:
        yield from map(literal, named_in_repo(case.expected))
        yield from ground_of(self.project, (*agent.prerequisites, *case.prerequisites))

    def _touches(self, globs: Iterable[str]) -> bool:
        matches = compile_globs(globs)
        return any(matches(path) for path in self.change.paths)

    def _case_changed(self, case: Case) -> bool:
        return self._touches(map(literal, (case.path, *fixtures_of(case))))

    def _agent_reasons(self, agent: Agent) -> Iterable[str]:
        own, before = self.project.own_paths(agent), self._own_before(agent.name)
        if any(is_owned(entry, agent, own) or before(entry.path) for entry in self.change.entries):
            yield "agent"
        if self._touches((*self.project.depends_of(agent), *self.project.tools_of(agent))):
            yield "depends"
        if self._touches(self.project.code_of(agent)):
            yield "plugin"
        if self.base.agents.get(agent.name) != agent:
            yield "config"
        if self._discovery_changed(agent):
            yield "discovery"

    def _own_before(self, name: str) -> Matcher:
        agent = self.base.agents.get(name)
        return self.base.own_paths(agent) if agent else compile_globs(())

    def _record_changed(self, case: Case) -> bool:
        def of_case(project: Project) -> list[object]:
            return [r.raw for r in project.records.values() if r.case_path == case.path]

        if not self._touches(["regressions.json"]):
            return False
        return of_case(self.project) != of_case(self.base)

    def _discovery_changed(self, agent: Agent) -> bool:
        prefix = bytes_of(agent.workspace + "/") if agent.workspace else b""
        touched = [p for p in self.change.paths if is_skill(p) and p.startswith(prefix)]
        if not touched:
            return False
        store = self.project.store
        before = skill_heads(self.change.base, touched, store)
        return before != skill_heads(self.change.new, touched, store)

    def _plugin_reasons(self, agent: Agent, case: Case) -> Iterable[str]:
        plugins = self.project.plugins_with("guard_affected")
        if plugins is not None:
            called = plugins.call("guard_affected", change=self.change, agent=agent, case=case)
            yield from (f"plugin:{name}" for name, _ in called)
