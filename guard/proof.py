"""Behaviour proof: a retained regression fails on its broken state and passes on the fixed one.

The case, its evaluators and what they depend on come from the tree under test on both sides;
only the agent's own paths are as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from guard.closing import Closing
from guard.engine import Engine
from guard.model import PROVEN, Case
from guard.proofs.attempt import Attempt
from guard.proofs.broken_state import BrokenStates
from guard.proofs.by_command import CommandHalf
from guard.proofs.evidence import BEFORE, Half
from guard.proofs.origin import History, commits_before
from guard.proofs.scratch import Scratch
from guard.proofs.sides import after_judge, after_more, before_judge, before_more, hits
from guard.regressions import Record
from guard.results import ProofResult, TrialResult
from guard.running.series import Series
from guard.tree import Tree


class Prover(Closing):
    """Proves the records of an engine's project; a context manager."""

    def __init__(
        self,
        engine: Engine,
        before_revs: Sequence[str] = ("HEAD",),
        *,
        live: bool = False,
        run: bool = True,
    ) -> None:
        """Make ready; nothing is run yet.

        ``before_revs``: the commit under test; for an index or working tree what it follows
        (HEAD; when amending HEAD^1). ``live``: use nothing that is kept. ``run``: whether what
        nothing answers is run; it is PENDING else.
        """
        self.engine = engine
        self.project = engine.project
        self.live = live
        self.run = run
        repo, store = self.project.repo, self.project.store
        self.scratch = Scratch(repo)
        self.histories = [History(repo, store, rev) for rev in commits_before(repo, before_revs)]
        self.states = BrokenStates(self.project, self.histories, self.scratch)
        self.broken: dict[str, Tree] = {}
        """Record → the broken state that decided, as it was run."""
        self._uncontrolled: dict[str, str] = {}

    def prove(self, records: Iterable[Record], *, draft: bool = False) -> list[ProofResult]:
        """Return the verdict on each record, in the same order.

        A ``draft`` names no keys yet: any score of an evaluator turns it red.
        """
        attempts = [Attempt(self, record, draft=draft) for record in records]
        while under_way := [attempt for attempt in attempts if attempt.result is None]:
            self._run(under_way)
            for attempt in under_way:
                attempt.advance()
        return [attempt.result for attempt in attempts if attempt.result is not None]

    def _run(self, attempts: Iterable[Attempt]) -> None:
        """Run what the sides of these records still take, side by side."""
        owners: dict[Series, tuple[Attempt, Half]] = {}
        for attempt in attempts:
            owners.update((half.start(), (attempt, half)) for half in attempt.open_halves())

        def keep(series: Series) -> None:
            attempt, half = owners[series]
            attempt.keep(half)

        self.engine.run_series(list(owners), self.engine.may_start, keep)

    @property
    def fresh(self) -> bool:
        """Whether nothing that is kept may answer a side."""
        return self.live or self.engine.limits.no_cache

    @property
    def not_established(self) -> tuple[str, ...]:
        """What these proofs don't control, a sentence each."""
        return tuple(self._uncontrolled.values())

    def note_control(self, trials: Iterable[TrialResult], target: str) -> None:
        """Note a target that can't tell whether it loaded the files of its workspace."""
        if any(trial.observation.loaded is None for trial in trials):
            self._uncontrolled[target] = (
                f"which files a run loads is not controlled: target {target} can't tell"
            )

    def note_command(self, verdict: str) -> None:
        """Note a proof that rests on a command: nobody rebuilt what it runs against."""
        if verdict == PROVEN:
            said = "by its command alone a record is proven, without a rebuilt broken state"
            self._uncontrolled["a command"] = said

    def half(self, case: Case, tree: Tree, side: str, fails_on: Sequence[str] = ()) -> Half:
        """Return one side of a proof, with what is kept of it."""
        deterministic = self.engine.is_deterministic(self.project.agents[case.agent])
        least = self.engine.limits.trials or 0
        if side == BEFORE:
            judge = before_judge(hits(fails_on), deterministic=deterministic)
            more = before_more(judge, deterministic=deterministic, least=least)
        else:
            judge = after_judge(case, deterministic=deterministic)
            more = after_more(case, judge, deterministic=deterministic, least=least)
        half = Half(self.engine, case, tree, side, judge, more)
        if not self.fresh:
            half.recall()
        return half

    def command_half(self, case: Case, before: Mapping[str, Any]) -> Half:
        """Return the broken side of a record whose command stands for it."""
        half = CommandHalf(self.engine, case, before, self.engine.limits.trials or 0)
        if not self.fresh:
            half.recall()
        return half

    def bounded(self, case: Case) -> Case:
        """Return the case with the time that the command line gives a trial."""
        timeout = self.engine.limits.timeout
        if timeout is None:
            return case
        return case._replace(policy=case.policy._replace(timeout=timeout))

    def close(self) -> None:
        """Remove the scratch git directory."""
        self.scratch.close()
