"""A repository's guarded agents, for its own tests: what isn't graded, and grading by hand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from guard.closing import Closing
from guard.errors import UsageError
from guard.model import FAIL, Agent, Case
from guard.plugin.api import Evaluator
from guard.plugin.switches import disabled_plugins
from guard.project import Project
from guard.results import Observation, Score
from guard.session import WORKTREE, Session


class Graded(NamedTuple):
    """What guard's own grading makes of one observation."""

    verdict: str
    """PASS, FAIL, XFAIL, UNGRADED or ERROR."""
    reason: str = ""
    failing: tuple[str, ...] = ()
    """Keys with a score below 1."""
    excused: tuple[str, ...] = ()
    """Those of them that the case's baseline excuses."""


class GradedRepository(Closing):
    """The agents and cases of a repository, as guard sees them. No agent is ever run."""

    def __init__(self, root: str | os.PathLike[str], at: str = WORKTREE) -> None:
        """Open the repository whose top folder is ``root``; ``at``: worktree, index or a revision.

        Raises `UsageError` where that is no repository, or has no guard.yaml.
        """
        self._session = Session.open(os.fspath(root), disabled_plugins())
        try:
            top = self._session.repo.root
            if not os.path.samefile(top or ".", root):
                raise UsageError(f"{os.fspath(root)} is not the top folder of its repository")
            self._project = self._session.guarded_project(at)
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        """Close what was opened."""
        self._session.close()

    @property
    def agents(self) -> Mapping[str, Agent]:
        """Name → agent."""
        return self._project.agents

    @property
    def cases(self) -> Mapping[str, Case]:
        """Id → case."""
        return self._project.cases

    # What is wrong ---------------------------------------------------------------------

    def find_ungraded(self) -> list[str]:
        """Return a sentence for each thing that production serves and nothing grades.

        Where guard.yaml names no manifest that is the first of them.
        """
        from guard.rules.unserved_agent import unserved_agents

        if not self._project.config.served:
            return ["guard.yaml names no manifest under `served`, so nothing tells what is served"]
        return [violation.message for violation in unserved_agents(self._project)]

    def find_unreal(self) -> list[str]:
        """Return a sentence for each agent whose target would not run the real one.

        What a manifest serves is run by a target that can tell: one that checks it by ``verify``,
        where the plugin that reads the manifest offers such a target.
        """
        from guard.running.real_agents import refuse_unreal
        from guard.served import read_served

        found: list[str] = []
        for agent in self.agents.values():
            try:
                refuse_unreal(self._project, [agent])
            except UsageError as error:
                found.append(error.message)
        verifying = _verifying_targets(self._project)
        readers = self._project.plugins.served_agents(self._project.view)
        reader_of = {entry.manifest: plugin for plugin, entry in readers}
        for entry in read_served(self._project):
            wanted = verifying.get(reader_of[entry.manifest], frozenset())
            found += _not_by(entry.name, wanted, self.agents.values())
        return list(dict.fromkeys(found))

    def find_unread(self) -> list[str]:
        """Return a sentence for each expectation that no evaluator declares to read.

        A plain function declares nothing until it is marked by `guard.plugin.evaluator`.
        """
        found: list[str] = []
        for case in self.cases.values():
            readers = [e for e in self._evaluators(case) if e.declared]
            for key in self.expected(case):
                if not any(key in evaluator.reads for evaluator in readers):
                    said = f"{case.path}: {case.id} expects `{key}`"
                    found.append(f"{said}, which no evaluator of agent {case.agent} reads")
        return found

    def find_impossible(self) -> list[str]:
        """Return a sentence for each key of a baseline that can't fail, or can't be excused."""
        from guard.rules.impossible_baseline import impossible_baselines

        found = impossible_baselines(self._project, self.cases.values())
        return [violation.message for violation in found]

    # Grading ---------------------------------------------------------------------------

    def expected(self, case: Case) -> dict[str, Any]:
        """Return all that is expected in a case, its agent's ``always`` included."""
        return {**self.agents[case.agent].always, **case.expected}

    def grade(
        self,
        case: str,
        observation: Observation | None = None,
        *,
        scores: Mapping[str, float] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Graded:
        """Grade as a trial of the case would be: by its evaluators, and then by its baseline.

        With ``scores``, key → value, no evaluator is asked, and keys that aren't named pass.
        ``facts`` are the observation's. No judge is asked: what it would say isn't known here.
        """
        return self._grade(self._case(case), observation or Observation(), scores, facts)

    def _grade(
        self,
        case: Case,
        seen: Observation,
        scores: Mapping[str, float] | None,
        facts: Mapping[str, Any] | None,
    ) -> Graded:
        from guard.trials.grading import grade, grade_scores

        if facts is not None:
            seen = seen._replace(facts=facts)
        evaluators, expected = self._evaluators(case), self.expected(case)
        if scores is not None:
            given = dict.fromkeys(self._written(case), 1.0) | dict(scores)
            listed = [Score(key, float(value), "as given") for key, value in given.items()]
            found = grade_scores(case, expected, seen, listed, evaluators)
        else:
            judges = [e for e in evaluators if e.judge]
            asked = {k: v for k, v in expected.items() if not any(k in e.reads for e in judges)}
            others = [e for e in evaluators if not e.judge]
            found = grade(case, asked, seen, others)
        return Graded(found.verdict, found.reason, found.failing, found.excused)

    def find_excused(self, key: str) -> list[str]:
        """Return a sentence for each way in which a miss on a score key is, or could be, excused.

        Tried on every case that may score it, under every condition that a baseline names, and
        with a baseline that names this very key.
        """
        scoring = [case for case in self.cases.values() if key in self._written(case)]
        if not scoring:
            return [f"no case scores `{key}`, so nothing is held by it"]
        found: list[str] = []
        for case in scoring:
            conditions = _conditions(case)
            broad = case._replace(expected_baseline=({"failing_keys": [key]},))
            tried = [(case, facts) for facts in conditions] + [(broad, conditions[0])]
            for one, facts in tried:
                graded = self._grade(one, Observation(), {key: 0.0}, facts)
                if graded.verdict != FAIL or key in graded.excused:
                    what = "could be" if one is broad else "is"
                    found.append(f"{case.id}: a miss on `{key}` {what} excused with {dict(facts)}")
        return found

    def _case(self, name: str) -> Case:
        if name not in self.cases:
            from guard.schema import nearest

            raise UsageError(f"there is no case {name!r}{nearest(name, self.cases)}")
        return self.cases[name]

    def _evaluators(self, case: Case) -> tuple[Evaluator, ...]:
        return self._project.evaluators_of(self.agents[case.agent])

    def _written(self, case: Case) -> list[str]:
        """Return the score keys that are written where the case is graded.

        A plain function doesn't say: it is taken to write whatever is expected.
        """
        from guard.evaluators.fields import unwritten_keys

        expected = self.expected(case)
        asked = [e for e in self._evaluators(case) if not expected.keys().isdisjoint(e.reads)]
        written = {key for evaluator in asked for key in evaluator.writes}
        if not all(evaluator.declared for evaluator in self._evaluators(case)):
            written |= expected.keys()
        return sorted(written - unwritten_keys(expected))


def _conditions(case: Case) -> list[Mapping[str, Any]]:
    """Return the facts under which each group of a baseline holds, every fact always set."""
    groups: Iterable[Mapping[str, Any]] = case.expected_baseline
    named = [dict(group.get("only_when") or {}) for group in groups]
    unset: dict[str, Any] = dict.fromkeys((name for facts in named for name in facts), None)
    return [unset, *({**unset, **facts} for facts in named)]


def _verifying_targets(project: Project) -> dict[str, frozenset[str]]:
    """Return plugin → its targets that can tell whether they would run the real agent."""
    from guard.plugin.api import Target

    default = Target._field_defaults["verify"]
    found: dict[str, set[str]] = {}
    for name, target in project.plugins.targets().items():
        if target.verify is not default:
            found.setdefault(project.plugins.owner_of(name), set()).add(name)
    return {plugin: frozenset(names) for plugin, names in found.items()}


def _not_by(name: str, targets: frozenset[str], agents: Iterable[Agent]) -> Iterator[str]:
    """Yield a sentence for each agent that serves a name and is run by none of the targets."""
    for agent in agents:
        if targets and name in agent.serves and agent.target not in targets:
            offered = " or ".join(sorted(targets))
            yield (
                f"agent {agent.name} serves {name} and is run by the target {agent.target}, which "
                f"can't tell whether that is the real one: {offered} can"
            )
