"""Whether what fails on the head failed on the base too: shown beside it, never an excuse.

The agent as the base has it, by the case and the checks of the head: as a proof's broken side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from guard.affected import Selected
from guard.closing import Closing
from guard.engine import Engine
from guard.errors import GuardError
from guard.git import bytes_of
from guard.model import FAIL, XPASS, Case
from guard.project import Project
from guard.proofs.past_agent import PastAgent, agent_in, find_lacking, relocated
from guard.proofs.scratch import Scratch
from guard.results import BaseRun, CaseResult
from guard.running.answers import Answers
from guard.running.outcomes import is_open
from guard.running.receipts import is_fresh, result_of
from guard.running.series import Series, by_policy
from guard.storage.records import Receipt
from guard.tree import Entry, Tree

#: The side under which the store keeps such trials: `guard show CASE#base-1`.
SIDE: Final = "base"
BROKEN: Final = (FAIL, XPASS)


class _Asked(NamedTuple):
    """One failing case that is run on the base."""

    case: Case
    key: str
    series: Series


class BaseRuns(Closing):
    """Runs failing cases of an engine's project on the tree before the change."""

    def __init__(self, engine: Engine, start: Project, sha: str) -> None:
        """``start``: the project before the change; ``sha``: its commit."""
        self.engine = engine
        self.project = engine.project
        self.start = start
        self.sha = sha
        self.scratch = Scratch(self.project.repo)
        self._trees: dict[str, Tree | str] = {}

    def beside(self, cases: Sequence[CaseResult]) -> list[CaseResult]:
        """Return the cases, those that fail with how they end on the base; no verdict changes."""
        failing = [case for case in cases if case.verdict in BROKEN]
        found: dict[str, BaseRun] = {}
        asked: list[_Asked] = []
        for result in failing:
            known = self._without_run(result)
            if isinstance(known, BaseRun):
                found[result.case] = known
            else:
                asked.append(known)
        found.update(self._run(asked))
        return [case._replace(base=found.get(case.case)) for case in cases]

    def _without_run(self, result: CaseResult) -> BaseRun | _Asked:
        """Return what is known without a run, or what is to be run."""
        case = self.engine.bounded(self.project.cases[result.case])
        if lacking := self._lacking(case):
            return BaseRun(self.sha, reason=lacking)
        tree = self._tree(case.agent)
        if isinstance(tree, str):
            return BaseRun(self.sha, reason=tree)
        if tree.oid == self.project.tree.oid:
            return self._same(case, result)
        key = self.engine.receipt_key(case, tree)
        receipt = self._receipt(case, key)
        if receipt is not None:
            return self._told(result_of(receipt, Selected(case)))
        agent = self.project.agents[case.agent]
        more = by_policy(case, deterministic=self.engine.is_deterministic(agent))
        return _Asked(case, key, Series(case, self.engine.lend(agent, tree), more, key, side=SIDE))

    def _lacking(self, case: Case) -> str:
        """Say why the base can't be asked about a case."""
        try:
            known = self.start.has_config and case.id in self.start.cases
        except GuardError:
            return "its cases can't be read there"
        return "" if known else "the case is new"

    def _tree(self, name: str) -> Tree | str:
        """Return the head's tree with an agent's own paths as the base has them, or why not."""
        if name not in self._trees:
            self._trees[name] = self._laid(name)
        return self._trees[name]

    def _laid(self, name: str) -> Tree | str:
        agent, tree = self.project.agents[name], self.project.tree
        then = agent_in(self.project, self.start.tree, (name,))
        if then is None:
            return f"there was no agent {name}"
        now = PastAgent(agent, self.project.own_paths(agent), tree)
        placed = relocated(self.scratch, then, now)
        if lacking := find_lacking(placed, then.tree, now):
            return lacking
        edits = _differing(now.own_entries(), placed)
        return Tree(tree.repo, self.scratch.edit_tree(tree.oid, edits)) if edits else tree

    def _same(self, case: Case, result: CaseResult) -> BaseRun:
        """Say what a change means for a case whose agent it leaves as it was."""
        if self._is_same_case(case):
            return self._told(result)._replace(reason="all that it depends on is the same")
        said = "the agent is the same there, its case, checks or data are not"
        return BaseRun(self.sha, reason=said)

    def _is_same_case(self, case: Case) -> bool:
        try:
            before = self.engine.bounded(self.start.cases[case.id])
            same = Answers(self.start).key(before) == self.engine.receipt_key(case)
        except GuardError:
            return False
        workspace = bytes_of(self.project.agents[case.agent].workspace)
        data = [dict(tree.below(workspace)) for tree in (self.start.tree, self.project.tree)]
        return same and before.policy == case.policy and data[0] == data[1]

    def _receipt(self, case: Case, key: str) -> Receipt | None:
        """Return the receipt of the base's tree; a failure is told as well as what held."""
        answers = self.engine.answers
        store = self.project.store
        found = store.find_receipt(key, answers.fits) if answers.by_receipts else None
        fresh = found is not None and is_fresh(found.date, answers.max_age(case))
        failed = fresh and found is not None and found.verdict in BROKEN
        return found if failed else self.engine.receipt_for(case, key)

    def _run(self, asked: Sequence[_Asked]) -> Mapping[str, BaseRun]:
        found: dict[str, BaseRun] = {}
        of = {one.series: one for one in asked}

        def keep(series: Series) -> None:
            result = self.engine.judged(series, Selected(series.case))
            if not is_open(series, result):
                self.engine.keep(of[series].key, result, series.case)

        self.engine.run_series(list(of), self.engine.may_start, keep)
        for one in asked:
            found[one.case.id] = self._told(self.engine.judged(one.series, Selected(one.case)))
        return found

    def _told(self, result: CaseResult) -> BaseRun:
        return BaseRun(
            self.sha,
            result.verdict,
            result.passed,
            result.graded_count,
            "" if result.verdict in BROKEN else result.reason,
            result.reused,
        )

    def close(self) -> None:
        """Remove the scratch git directory."""
        self.scratch.close()


def _differing(
    today: Mapping[bytes, Entry], then: Mapping[bytes, Entry]
) -> dict[bytes, Entry | None]:
    paths = dict.fromkeys((*today, *then))
    return {path: then.get(path) for path in paths if then.get(path) != today.get(path)}


def beside_base(
    engine: Engine, start: Project, sha: str, cases: Sequence[CaseResult]
) -> list[CaseResult]:
    """Run what fails on the base too, within what is left of the engine's budget.

    Nothing is asked where there is no base, or it is the tree under test.
    """
    failing = any(case.verdict in BROKEN for case in cases)
    if not (failing and sha) or start.tree.oid == engine.project.tree.oid:
        return list(cases)
    with BaseRuns(engine, start, sha) as runs:
        return runs.beside(cases)
