"""The proof of one record: which of its broken states decides, and what both sides show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from guard import model
from guard.errors import UnreadableError
from guard.model import Case
from guard.proofs.by_command import CAUGHT, say_proven
from guard.proofs.case import find_case, mend_unprotected, unstated_keys
from guard.proofs.evidence import AFTER, BEFORE, Half, kept_key, plain_key
from guard.proofs.rung import Rung
from guard.proofs.sides import OPEN
from guard.proofs.verdicts import UNDONE, decide, hint_of, say_undone, say_vacuous
from guard.regressions import Record
from guard.results import ProofResult, TrialResult
from guard.running.expectations import check_expectations
from guard.running.prerequisites import find_missing
from guard.storage.records import Receipt
from guard.tree import Tree
from guard.verdict import Judgement, shared_response
from guard.wording.intervals import one_sided_p
from guard.wording.reasons import trial_reason

if TYPE_CHECKING:
    from guard.proof import Prover

#: Kind of what is remembered of a broken side that stood in a proof.
JOINED: Final = "joined-1"
#: What a kept broken side says of the fixed one beside it: its key.
FIXED: Final = "fixed"


class Attempt:
    """The proof of one record under way: rung by rung, until one decides."""

    def __init__(self, prover: Prover, record: Record, *, draft: bool) -> None:
        self.prover = prover
        self.record = record
        self.draft = draft
        self.result: ProofResult | None = None
        self.rung = Rung("")
        self.stayed_green: list[Rung] = []
        self.passed_over: list[Rung] = []
        self.kept_key = ""
        """Under which the broken side is found again after the skill was edited."""
        self.before: Half | None = None
        self.after: Half | None = None
        self.case: Case | None = None
        self.buys_again = False
        """Whether what is kept of the broken side is of no use: its checks accept it by now."""
        self.after_key = ""
        self.filed_name = ""
        """By which the key of the broken side is remembered."""
        self._open_case()
        if self.result is None:
            self._try(self._name)

    def _open_case(self) -> None:
        if self.record.retired:
            reason = str((self.record.retirement or {}).get("reason", ""))
            self.result = self._result(Judgement(model.RETIRED, reason))
            return
        case, unprotected = find_case(self.prover.project, self.record)
        if case is None:
            found = self._result(Judgement(model.UNPROTECTED, unprotected))
            mend = mend_unprotected(self.prover.project, self.record)
            self.result = found._replace(hint=mend)
            return
        check_expectations(self.prover.project, [case], self.prover.readers)
        self.case = self.prover.bounded(case, self.record)

    def _name(self) -> None:
        assert self.case is not None
        self.after_key = self.prover.engine.receipt_key(self.case)
        self.filed_name = self.prover.filed.name(self.record, self.after_key)

    def begin(self) -> None:
        """Take what is kept, and open the sides that are to be run."""
        if self.result is None:
            self._try(self._begin)

    def _try(self, step: Callable[[], None]) -> None:
        try:
            step()
        except UnreadableError as error:
            found = self._result(Judgement(model.BLOCKED, error.message))
            self.result = found._replace(hint=error.hint)

    def _begin(self) -> None:
        self.rungs: Iterator[Rung] = self.prover.states.rungs(self.record)
        self._open_after()
        if not self._recall_filed():
            self._recall_kept()
        if self.before is None:
            self._next_rung()

    # Rungs -----------------------------------------------------------------------------

    def _recall_filed(self) -> bool:
        """Use the broken side that is kept, without building its state; tell whether it does."""
        assert self.case is not None
        prover, key = self.prover, self.prover.filed.find(self.filed_name)
        kept = self._find_red(key) if key and not prover.fresh else None
        if kept is None or not kept.evidence.get("state"):
            return False
        fails_on = self.record.fails_on
        half = prover.empty_half(self.case, self._pinned, BEFORE, fails_on, plain_key(key))
        half.take(kept)
        if half.judgement.verdict != model.FAIL or self._met_other_data(half):
            return False
        self.before, self.rung, self.kept_key = half, Rung(half.state), key
        return True

    def _find_red(self, key: str) -> Receipt | None:
        """Return the broken side that is kept, where what its trials read is the same today."""
        return self.prover.project.store.find_red(key, self.prover.engine.answers.fits)

    def _pinned(self) -> Tree:
        tree = self.prover.states.pinned(self.record).tree
        assert tree is not None
        return tree

    def _recall_kept(self) -> None:
        """Use the broken side that is kept: an edit of the skill doesn't buy it again."""
        assert self.case is not None
        pinned = self.prover.states.pinned(self.record)
        if pinned.tree is None or pinned.command:
            return
        key = self.prover.engine.receipt_key(self.case, pinned.filed or pinned.tree)
        half = self.prover.empty_half(self.case, pinned.tree, BEFORE, self.record.fails_on, key)
        self.kept_key = kept_key(half.key)
        if self.prover.fresh:
            return
        half.recall()
        kept = self._find_red(self.kept_key)
        if kept is not None:
            half.take(kept)
        stands = half.digest and not self._met_other_data(half)
        if half.judgement.verdict == model.FAIL and stands:
            if kept is not None and not self._is_rejected_still(kept):
                self.buys_again = True
                return
            self.prover.filed.put(self.filed_name, self.kept_key)
            state = half.state or self._first_state(pinned, pinned.tree)
            self.before, self.rung = half, pinned._replace(state=state)

    def _is_rejected_still(self, kept: Receipt) -> bool:
        """Tell whether what is kept stands although the agent was edited since it was run."""
        return kept.evidence.get(FIXED) == self.after_key or self.prover.rejects_still(self.record)

    def _first_state(self, pinned: Rung, tree: Tree) -> str:
        """Name a tree by the first rung that it is: right after a fix live and pinned are one."""
        first = next(self.rungs)
        self.rungs = chain([first], self.rungs)
        same = first.tree is not None and first.tree.oid == tree.oid
        return first.state if same else pinned.state

    def _next_rung(self) -> None:
        assert self.case is not None
        for rung in self.rungs:
            if rung.tree is None:
                self.passed_over.append(rung)
                continue
            self.rung = rung
            self.before = self._broken_side(rung, rung.tree)
            self._meet_the_same_data(self.before)
            return
        self.result = self._exhausted()

    def _broken_side(self, rung: Rung, tree: Tree) -> Half:
        assert self.case is not None
        if rung.command:
            return self.prover.command_half(self.case, rung.command)
        half = self.prover.empty_half(self.case, tree, BEFORE, self.record.fails_on)
        if not (self.prover.fresh or self.buys_again):
            half.recall()
        return half

    def _met_other_data(self, before: Half) -> bool:
        """Tell whether a kept broken side met other data than the fixed side does.

        It may have failed for that, and the fix be none. What was joined in a proof once stands:
        an edit of data doesn't buy the reds again.
        """
        assert self.after is not None
        if not (before.data and before.kept):
            return False
        other = before.data != (self.after.data or self._data_now())
        return other and not self._was_joined(before)

    def _meet_the_same_data(self, before: Half) -> None:
        """Let go of what is kept where the two sides would differ in more than the agent."""
        assert self.after is not None
        if self._met_other_data(before):
            before.forget()
        if self.after.data and not before.data and self.after.data != self._data_now():
            self.after.forget()

    def _data_now(self) -> str:
        assert self.case is not None
        return self.prover.engine.answers.data(self.case)

    def _was_joined(self, before: Half) -> bool:
        store, first = self.prover.project.store, before.kept[0].trial_id
        return store.get_parsed(JOINED, first) is not None

    def _note_joined(self) -> None:
        """Remember that a broken side was held against a fix that met the same data."""
        before, after = self.before, self.after
        if before and after and (before.ran or after.ran) and before.trials:
            self.prover.project.store.put_parsed(JOINED, {before.trials[0].trial_id: True})

    def _open_after(self) -> None:
        assert self.case is not None
        tree = self.prover.project.tree
        self.after = self.prover.empty_half(self.case, tree, AFTER, key=self.after_key)
        if not self.prover.fresh:
            self.after.recall()
        more = self.after.more

        def unless_vacuous(trials: Sequence[TrialResult], jobs: int) -> int:
            # Where the broken state passes, the fixed one has nothing to decide.
            green = self.before and self.before.judgement.verdict == model.PASS
            return 0 if green else more(trials, jobs)

        self.after.more = unless_vacuous

    # Running ---------------------------------------------------------------------------

    def open_halves(self) -> list[Half]:
        """Return the sides that take trials; without its prerequisites none does."""
        halves = [half for half in (self.before, self.after) if half and half.is_open()]
        if not halves or not self.prover.run:
            return []
        project, case = self.prover.project, halves[0].case
        agent, offered = project.agents[case.agent], project.plugins.prerequisites()
        missing = find_missing(agent, case, project.repo.root, offered)
        if missing:
            self.result = self._result(Judgement(model.SKIP, missing))
            return []
        return halves

    def keep(self, half: Half) -> None:
        """Keep a side as soon as it is decided."""
        red = half.side == BEFORE and half.judgement.verdict == model.FAIL
        keys = [self.kept_key] if red and self.kept_key else []
        half.keep(*keys, state=self.rung.state, **{FIXED: self.after_key})
        if keys and half.digest:
            self.prover.filed.put(self.filed_name, self.kept_key)

    def advance(self) -> None:
        """Decide, or go on to the next rung."""
        if self.result is not None:
            return
        assert self.before is not None
        assert self.after is not None
        before, after = self.before.judgement, self.after.judgement
        owed = Judgement(model.OWED, "not run, or a budget ended first")
        unneeded = Judgement(model.PASS) if before.verdict == model.PASS else owed
        found = self._answered_by_cache() or decide(
            owed if before == OPEN else before,
            unneeded if after == OPEN else after,
            (CAUGHT,) if self.rung.command else self.record.fails_on,
        )
        if found is None:
            self.stayed_green.append(self.rung)
            self._try(self._next_rung)
            return
        self.result = self._result(self._with_keys(found))

    def _answered_by_cache(self) -> Judgement | None:
        """Judge sides that share an answer: it is of one of them at most."""
        assert self.case is not None
        sides = [half.trials for half in (self.before, self.after) if half]
        deterministic = self.prover.engine.is_deterministic(
            self.prover.project.agents[self.case.agent]
        )
        shared = "" if deterministic else shared_response(*sides)
        said = f"both sides have the same response id ({shared}): a cache answered"
        return Judgement(model.INCONCLUSIVE, said) if shared else None

    def _with_keys(self, found: Judgement) -> Judgement:
        """Refuse a record that names no key: then no failure is the one recorded."""
        if self.rung.command and found.verdict == model.PROVEN:
            return found._replace(reason=say_proven(self.rung.command))
        if self.record.fails_on or self.draft or found.verdict != model.PROVEN:
            return found
        return Judgement(model.WRONG_REASON, "the record names no key that it fails on (fails_on)")

    def _exhausted(self) -> ProofResult:
        """Judge a record whose every rung stayed green or could not be built."""
        if not self.stayed_green:
            same = next((rung for rung in self.passed_over if rung.same), None)
            if same is None:
                return self._result(Judgement(model.STALE, self.passed_over[-1].reason))
            self.rung = same
            undone = say_undone(same.origin.commit) if same.is_undone and same.origin else ""
            return self._result(Judgement(model.DEGENERATE, undone or same.reason))
        assert self.before is not None
        unstated = self._unstated()
        if unstated:
            said = f"fails_on names {', '.join(unstated)}, which the case doesn't state"
            return self._result(Judgement(model.WRONG_REASON, f"{said}, and it passes before"))
        if not self.rung.touched:
            said = "the record came in with a commit that changes nothing of the agent"
            return self._result(Judgement(model.DEGENERATE, f"{said}, and it passes before that"))
        return self._result(Judgement(model.VACUOUS, self._say_vacuous(self.before)))

    def _say_vacuous(self, before: Half) -> str:
        after = self.after.counts() if self.after else None
        failing = [t for t in self.after.trials if t.verdict == model.FAIL] if self.after else []
        return say_vacuous(before.counts(), after, trial_reason(failing[0]) if failing else "")

    def _unstated(self) -> list[str]:
        assert self.case is not None
        agent = self.prover.project.agents[self.case.agent]
        halves = [half for half in (self.before, self.after) if half]
        return unstated_keys(
            self.record.fails_on,
            {**agent.always, **self.case.expected},
            self.prover.project.evaluators_of(agent),
            [trial for half in halves for trial in half.trials],
        )

    # The result ------------------------------------------------------------------------

    def _result(self, found: Judgement) -> ProofResult:
        before, after = self.before, self.after if self.before else None
        if found.verdict == model.PROVEN:
            self._note_joined()
            if self.case and not self.rung.command:
                self.prover.note_wording(self.case, self.record.fails_on)
        if before and not self.rung.command:
            self.prover.broken[self.record.id] = before
        failed = before.counts() if before else None
        passed = after.counts() if after else None
        name = self.case.id if self.case else self.record.id
        if self.case:
            target = self.prover.project.agents[self.case.agent].target
            halves = [half for half in (before, after) if half]
            if self.rung.command:
                halves = [after] if after else []
                self.prover.note_command(found.verdict)
            self.prover.note_control([t for half in halves for t in half.trials], target)
        return ProofResult(
            id=self.record.id,
            agent=self.record.agent,
            case=self.record.case,
            verdict=found.verdict,
            state=self.rung.state,
            before=failed,
            after=passed,
            p_value=one_sided_p(failed, passed) if failed and passed else None,
            reason=self._with_state(found),
            hint=hint_of(found.verdict, self.record.id, name, undone=self.rung.is_undone),
            before_result=before.result() if before and before.trials else None,
            after_result=after.result() if after and after.trials else None,
        )

    def _with_state(self, found: Judgement) -> str:
        """Say why a wider state than the live one decided, and which capsule is of no use."""
        said = self._with_live(found)
        capsule = self.prover.states.capsule_problem(self.record)
        known = not capsule or capsule in said or self.case is None
        return said if known else f"{said}; {capsule}"

    def _with_live(self, found: Judgement) -> str:
        live = next((r for r in self.passed_over if r.state == "live"), None)
        if live and live.is_undone and found.verdict == model.BROKEN_NOW:
            return f"{found.reason}; {UNDONE}"
        if live is None or live.same or found.verdict in (model.STALE, model.BLOCKED):
            return found.reason
        return f"{found.reason}; not by the live state: {live.reason}"
