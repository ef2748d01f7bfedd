"""Behaviour proof: a retained regression fails on its broken state and passes on the fixed one.

The case, its evaluators and what they depend on come from the tree under test on both sides;
only the agent's own paths are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from guard.closing import Closing
from guard.engine import Engine
from guard.errors import GuardError
from guard.model import PROVEN, TIMEOUT_KEY, Case
from guard.output import warn
from guard.proofs.attempt import Attempt
from guard.proofs.broken_state import BrokenStates
from guard.proofs.by_command import CommandHalf
from guard.proofs.evidence import BEFORE, Half
from guard.proofs.filed import Filed
from guard.proofs.origin import History, commits_before
from guard.proofs.own_text import find_own_text_alone
from guard.proofs.scratch import Scratch
from guard.proofs.sides import after_judge, after_more, before_judge, before_more, hits
from guard.regressions import Record
from guard.results import ProofResult, TrialResult
from guard.running.expectations import ReadersOf
from guard.running.series import Series
from guard.tree import Tree

if TYPE_CHECKING:
    from guard.proofs.graders import Graders


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
        self.announce: Callable[[Engine, Sequence[Half]], None] | None = None
        """Told what is about to be run, before anything is."""
        self.filed = Filed(self.project, self.histories)
        self.readers: ReadersOf = {}
        self.broken: dict[str, Half] = {}
        """Record → the broken side that decided."""
        self._uncontrolled: dict[str, str] = {}
        self._graders: Graders | None = None
        self._told_timeout = False

    def prove(self, records: Iterable[Record], *, draft: bool = False) -> list[ProofResult]:
        """Return the verdict on each record, in the same order.

        A ``draft`` names no keys yet: any score of an evaluator turns it red.
        """
        attempts = [Attempt(self, record, draft=draft) for record in records]
        self._read_ahead(attempts)
        for attempt in attempts:
            attempt.begin()
        while under_way := [attempt for attempt in attempts if attempt.result is None]:
            self._run(under_way)
            for attempt in under_way:
                attempt.advance()
        self.filed.keep()
        return [attempt.result for attempt in attempts if attempt.result is not None]

    def _read_ahead(self, attempts: Iterable[Attempt]) -> None:
        """Read all that may answer in few queries: one for each would take longer than reading."""
        store = self.project.store
        if not self.fresh:
            store.read_ahead("red", self.filed.read(attempt.filed_name for attempt in attempts))
            store.read_ahead("receipt", [attempt.after_key for attempt in attempts])

    def _run(self, attempts: Iterable[Attempt]) -> None:
        """Run what the sides of these records still take, side by side."""
        owners: dict[Series, tuple[Attempt, Half]] = {}
        for attempt in attempts:
            owners.update((half.start(), (attempt, half)) for half in attempt.open_halves())

        if owners and self.announce is not None:
            self.announce(self.engine, [half for _, half in owners.values()])
            self.announce = None

        def keep(series: Series) -> None:
            attempt, half = owners[series]
            attempt.keep(half)

        self.engine.run_series(list(owners), self.engine.may_start, keep)

    @property
    def fresh(self) -> bool:
        """Whether nothing that is kept may answer a side."""
        return self.live or self.engine.limits.no_cache

    def rejects_still(self, record: Record) -> bool:
        """Tell whether today's checks reject what a record's broken side did, as far as kept."""
        from guard.proofs.graders import HOLDS, NOT_ASKED, NOT_KEPT, Graders

        if self._graders is None:
            self._graders = Graders(self.project, lambda case: True)
        try:
            told = self._graders.judge(record)
        except GuardError:
            return False
        return told is None or told.verdict in (HOLDS, NOT_ASKED, NOT_KEPT)

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

    def note_wording(self, case: Case, keys: Collection[str]) -> None:
        """Note a proof that rests on the agent's own text alone: nobody saw what it does."""
        why = find_own_text_alone(self.project, case, keys)
        if why:
            said = f"what {case.agent} does about {case.id}: it tests wording, for {why}"
            self._uncontrolled[f"wording of {case.id}"] = said

    def half(self, case: Case, tree: Tree, side: str, fails_on: Sequence[str] = ()) -> Half:
        """Return one side of a proof, with what is kept of it."""
        half = self.empty_half(case, tree, side, fails_on)
        if not self.fresh:
            half.recall()
        return half

    def empty_half(
        self,
        case: Case,
        tree: Tree | Callable[[], Tree],
        side: str,
        fails_on: Sequence[str] = (),
        key: str = "",
    ) -> Half:
        """Return one side of a proof, with nothing of what is kept of it."""
        deterministic = self.engine.is_deterministic(self.project.agents[case.agent])
        least = self.engine.limits.trials or 0
        if side == BEFORE:
            judge = before_judge(hits(fails_on), deterministic=deterministic)
            more = before_more(judge, deterministic=deterministic, least=least)
        else:
            judge = after_judge(case, deterministic=deterministic)
            more = after_more(case, judge, deterministic=deterministic, least=least)
        return Half(self.engine, case, tree, side, judge, more, key)

    def command_half(self, case: Case, before: Mapping[str, Any]) -> Half:
        """Return the broken side of a record whose command stands for it."""
        half = CommandHalf(self.engine, case, before, self.engine.limits.trials or 0)
        if not self.fresh:
            half.recall()
        return half

    def bounded(self, case: Case, record: Record) -> Case:
        """Return the case with the time that the command line gives a trial.

        Where a record fails by a time-out, the case says which: an option must not prove it.
        """
        timeout = self.engine.limits.timeout
        if timeout is None or timeout == case.policy.timeout:
            return case
        if TIMEOUT_KEY in record.fails_on:
            self._tell_kept_timeout(case, timeout)
            return case
        return case._replace(policy=case.policy._replace(timeout=timeout))

    def _tell_kept_timeout(self, case: Case, timeout: float) -> None:
        if not self._told_timeout:
            own = f"{case.id} fails by a time-out, which is its own {case.policy.timeout:g} s"
            warn(f"{own}: --timeout {timeout:g} isn't used for what is recorded so")
        self._told_timeout = True

    def close(self) -> None:
        """Remove the scratch git directory, and what the checks were asked in."""
        self.scratch.close()
        if self._graders is not None:
            self._graders.close()
