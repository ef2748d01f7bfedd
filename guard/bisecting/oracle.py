"""What a case says of a commit: today's tree with the agent's own files as that commit has them.

The case, its evaluators and what they depend on are those of the tree under test, as in a proof.
Commits with the same files of the agent are one state, which is run once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, NamedTuple

from guard import model
from guard.affected import Selected
from guard.bisecting.search import BAD, GOOD, SKIPPED
from guard.closing import Closing
from guard.engine import Engine
from guard.model import Case
from guard.proofs.broken_state import BrokenStates
from guard.proofs.past_agent import NO_AGENT
from guard.proofs.prove import record_of
from guard.proofs.rung import Rung
from guard.proofs.scratch import Scratch
from guard.results import CaseResult
from guard.running.outcomes import is_open
from guard.running.reads import Reads
from guard.running.receipts import is_fresh, result_of
from guard.running.series import Series, by_policy
from guard.tree import Tree
from guard.trials.given import check_given
from guard.trials.ground import Ground

#: A budget ended before it was known.
STOPPED: Final = "stopped"
KINDS: Final = {
    model.PASS: GOOD,
    model.XFAIL: GOOD,
    model.FAIL: BAD,
    model.OWED: STOPPED,
    model.NOT_TESTED: STOPPED,
}
#: Verdicts of a receipt that answer a step: one that failed then is not run again either.
ANSWERING: Final = (model.PASS, model.XFAIL, model.FAIL)


class Tried(NamedTuple):
    """One commit, and what the case says of it."""

    commit: str
    result: CaseResult
    same_as: str = ""
    """An earlier commit with the same files of the agent, whose result this is."""
    again: bool = False
    """Whether it is the second, fresh run of the same."""

    @property
    def kind(self) -> str:
        """What that makes of the commit: good, bad, skipped or stopped."""
        return KINDS.get(self.result.verdict, SKIPPED)


class Oracle(Closing):
    """Runs one case on the agent of many commits; a context manager."""

    def __init__(
        self,
        engine: Engine,
        case: Case,
        watching: Callable[[int], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Make ready; ``watching`` is entered while trials of so many states are under way."""
        self.engine = engine
        self.case = engine.bounded(case)
        self.agent = engine.project.agents[case.agent]
        self.deterministic = engine.is_deterministic(self.agent)
        self.scratch = Scratch(engine.project.repo)
        self.states = BrokenStates(engine.project, (), self.scratch)
        self.known_trials = 0
        """Trials of earlier runs that answered a step."""
        self._watching = watching
        self._record = record_of(engine.project, case)
        self._rungs: dict[str, Rung] = {}
        self._found: dict[tuple[str, bool], tuple[str, CaseResult]] = {}
        self._numbers: dict[str, int] = {}
        self._trees: dict[str, Tree] = {}

    def state(self, commit: str) -> Tree | None:
        """Return the tree that is run for a commit; None where it has no agent that can be run."""
        rung = self._rung(commit)
        return self.engine.project.tree if rung.same else rung.tree

    def _rung(self, commit: str) -> Rung:
        if commit not in self._rungs:
            self._rungs[commit] = self.states.revision(self._record, commit)
        return self._rungs[commit]

    def try_commits(self, commits: Sequence[str], *, again: bool = False) -> list[Tried]:
        """Return what the case says of each commit; what isn't known is run, side by side.

        ``again``: by a second, fresh run of the case's own policy.
        """
        before = dict(self._found)
        trees = {commit: tree for commit in commits if (tree := self.state(commit))}
        states: dict[str, tuple[str, Tree]] = {}
        for commit, tree in trees.items():
            states.setdefault(tree.oid, (commit, tree))
        self._run(states, again=again)
        tried: list[Tried] = []
        for commit in commits:
            tree = trees.get(commit)
            if tree is None:
                tried.append(Tried(commit, self._untestable(commit), again=again))
                continue
            first, result = self._found[tree.oid, again]
            known = (tree.oid, again) in before or first != commit
            tried.append(Tried(commit, result, first if known else "", again))
        return tried

    def _untestable(self, commit: str) -> CaseResult:
        reason = self._rung(commit).reason
        if reason.startswith(NO_AGENT):
            reason = f"no agent here{reason.removeprefix(NO_AGENT)}"
        return CaseResult(self.case.id, self.agent.name, model.STALE, reason=reason)

    # Running ---------------------------------------------------------------------------

    def _run(self, states: dict[str, tuple[str, Tree]], *, again: bool) -> None:
        open_ones: dict[Series, tuple[str, Tree]] = {}
        for oid, (commit, tree) in states.items():
            if (oid, again) in self._found:
                continue
            answer = self._answer(tree, again=again)
            if answer is None:
                open_ones[self._series(tree, again=again)] = (commit, tree)
            else:
                self.known_trials += answer.graded_count
                self._keep_found(commit, tree, answer, again=again)
        if open_ones:
            with self._watching(len(open_ones)):
                self.engine.run_series(list(open_ones), self.engine.may_start, self._keep)
        for series, (commit, tree) in open_ones.items():
            result = self.engine.judged(series, Selected(self.case))
            self._keep_found(commit, tree, result, again=again)

    def _keep_found(self, commit: str, tree: Tree, result: CaseResult, *, again: bool) -> None:
        self._found[tree.oid, again] = (commit, result)
        self._numbers[tree.oid] = self._numbers.get(tree.oid, 0) + result.graded_count

    def _key(self, tree: Tree, *, again: bool) -> str:
        key = self.engine.receipt_key(self.case, tree)
        return f"again:{key}" if again else key

    def _answer(self, tree: Tree, *, again: bool) -> CaseResult | None:
        """Return what a receipt says of a state, where one stands for a run of it."""
        if self.engine.limits.no_cache:
            return None
        key = self._key(tree, again=again)
        found = self.engine.project.store.find_receipt(key, self._reads(tree).hold)
        if found is None or found.verdict not in ANSWERING:
            return None
        fresh = is_fresh(found.date, self.engine.max_age(self.case))
        if not fresh or Ground(self.engine.project.at(tree)).find_broken(self.case):
            return None
        return result_of(found, Selected(self.case))

    def _reads(self, tree: Tree) -> Reads:
        return Reads(self.engine.project, tree)

    def _series(self, tree: Tree, *, again: bool) -> Series:
        """Return the trials of a state, those that an interrupted run left behind among them."""
        stage = self.engine.lend(self.agent, tree)
        check_given(self.case, tree)  # What can't be laid is said before anything is paid for.
        self._trees[self._key(tree, again=again)] = tree
        series = Series(
            self.case,
            stage,
            by_policy(self.case, deterministic=self.deterministic),
            self._key(tree, again=again),
            # Trials of other states have the same numbers, and none is one of the case as it is.
            side=f"bisect {tree.oid}",
            first_number=1 + self._numbers.get(tree.oid, 0),
        )
        if not self.engine.limits.no_cache:
            self.engine.take_over(series)
            self.known_trials += series.started
        return series

    def _keep(self, series: Series) -> None:
        result = self.engine.judged(series, Selected(self.case))
        if not is_open(series, result):
            self.engine.keep(series.key, result, self.case, self._reads(self._trees[series.key]))

    def close(self) -> None:
        """Remove the scratch git directory."""
        self.scratch.close()
