"""One side of a proof under way: what is kept of it already, and the trials it still takes.

The broken side is kept apart from receipts of ordinary runs (`Store.put_red`): it is judged by
its own gate, so that what it shows may not stand for the case's own policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from guard import model
from guard.affected import Selected
from guard.engine import Engine
from guard.model import Case
from guard.proofs.sides import OPEN, Judge
from guard.results import CaseResult, Side, TrialResult
from guard.running.outcomes import case_result
from guard.running.reads import DATA
from guard.running.receipts import answers, make_receipt
from guard.running.series import MoreTrials, Series
from guard.storage.records import Receipt, trials_of
from guard.tree import Tree
from guard.verdict import GRADED, Judgement

#: The key of a red side but for the state that it was run on.
APART = "apart"
BEFORE = "before"
AFTER = "after"
KEPT = "kept:"


def kept_key(key: str) -> str:
    """Return the key under which a red side is kept for whatever the skill becomes."""
    return f"{KEPT}{key}"


def plain_key(key: str) -> str:
    """Return the key of the evidence itself."""
    return key.removeprefix(KEPT)


class Half:
    """One side of a proof: a case on a tree."""

    def __init__(
        self,
        engine: Engine,
        case: Case,
        tree: Tree | Callable[[], Tree],
        side: str,
        judge: Judge,
        more: MoreTrials,
        key: str = "",
    ) -> None:
        """``tree``: may be built where it is asked for, if its ``key`` is known."""
        self.engine = engine
        self.case = case
        self._tree = tree
        self.side = side
        self.judge = judge
        self.more = more
        self.key = key or engine.receipt_key(case, self.tree)
        self.state = ""
        """The rung that a kept broken side was run on."""
        self.kept: tuple[TrialResult, ...] = ()
        self.date = ""
        """When the kept trials were run, where nothing else was."""
        self.digest = ""
        """Of the receipt that holds this side."""
        self.data = ""
        """What the kept trials may have read, where nobody can tell what they did."""
        self.series: Series | None = None
        self._taken_over = 0
        self._is_resumed = False
        self._judged: tuple[tuple[TrialResult, ...], Judgement] | None = None

    @property
    def tree(self) -> Tree:
        """The tree that its trials run on."""
        if not isinstance(self._tree, Tree):
            self._tree = self._tree()
        return self._tree

    # What is kept ----------------------------------------------------------------------

    def recall(self) -> None:
        """Take the trials that earlier runs left for exactly this case on this tree."""
        for receipt in self._receipts():
            trials = trials_of(receipt)
            if self.judge(trials) != OPEN:
                self.take(receipt, trials)
                return
            # A run by another gate may have stopped sooner: its trials count, more are run.
            if len(trials) > len(self.kept):
                self.kept = _graded_start(trials)
                self.data = str(receipt.evidence.get(DATA, ""))
        interrupted = self._interrupted()
        if len(interrupted) > len(self.kept):
            self.kept, self._is_resumed = interrupted, True

    def take(self, receipt: Receipt, trials: tuple[TrialResult, ...] = ()) -> None:
        """Let a receipt answer this side; ``trials`` are those it holds, where known."""
        self.kept = trials or trials_of(receipt)
        self.date, self.digest = receipt.date, receipt.digest
        self.state = str(receipt.evidence.get("state", ""))
        self.data = str(receipt.evidence.get(DATA, ""))

    def forget(self) -> None:
        """Let nothing that is kept answer this side."""
        self.kept = ()
        self.date = self.digest = self.state = self.data = ""

    def _receipts(self) -> Iterator[Receipt]:
        store, agent = self.engine.project.store, self.engine.project.agents[self.case.agent]
        max_age = agent.max_age or self.engine.project.config.receipts["max_age"]
        fits = self.engine.answers.fits
        if self.side == AFTER:
            found = store.find_receipt(self.key, fits)
            if found is not None and answers(found, max_age):
                yield found
            return
        for found in (store.find_red(self.key, fits), store.find_receipt(self.key, fits)):
            # That it failed is evidence for as long as nothing it depends on changes.
            if found and (found.verdict == model.FAIL or answers(found, max_age)):
                yield found

    def _interrupted(self) -> tuple[TrialResult, ...]:
        """Return the trials of a run that was stopped before it came to a verdict here."""
        store = self.engine.project.store
        found = store.resumable_trials(self.case.id, self.key, side=self.side)
        # They go on from those that a receipt holds.
        numbered = {trial.number: trial for trial in (*found, *self.kept)}
        trials = tuple(numbered[number] for number in sorted(numbered))
        gap = next((n for n, trial in enumerate(trials) if trial.number != n + 1), len(trials))
        return _graded_start(trials[:gap]) if found and self.judge(trials[:gap]) == OPEN else ()

    # What is run -----------------------------------------------------------------------

    @property
    def trials(self) -> tuple[TrialResult, ...]:
        """All trials there are, kept and run, in order."""
        return self.series.results if self.series else self.kept

    @property
    def ran(self) -> bool:
        """Whether a trial was run now."""
        return self.series is not None and len(self.series.results) > self._taken_over

    @property
    def judgement(self) -> Judgement:
        """What the side shows so far."""
        trials = self.trials
        if self._judged is None or self._judged[0] is not trials:
            self._judged = trials, self.judge(trials)
        return self._judged[1]

    def is_open(self) -> bool:
        """Tell whether it takes another trial."""
        return self.more(self.trials, 1) > 0

    def start(self) -> Series:
        """Return the series that runs what is missing."""
        if self.series is None:
            stage = self.engine.lend(self.engine.project.agents[self.case.agent], self.tree)
            self.begin(Series(self.case, stage, self.more, self.key, side=self.side))
        assert self.series is not None
        return self.series

    def begin(self, series: Series) -> None:
        """Let a series run what the kept trials leave open."""
        self.series = series
        if self._is_resumed:
            # As one run's they are found again, also where this one is stopped in turn.
            store, run = self.engine.project.store, self.engine.run_id
            store.adopt_trials(run, self.case.id, series.key, side=self.side)
        series.take_over(self.kept)
        self._taken_over = series.started

    # What came of it -------------------------------------------------------------------

    def counts(self) -> Side | None:
        """Return how many trials passed; None where none was graded."""
        graded = [trial for trial in self.trials if trial.verdict in GRADED]
        if not graded:
            return None
        return Side(sum(trial.verdict != model.FAIL for trial in graded), len(graded))

    def result(self) -> CaseResult:
        """Return the side as the result of its case."""
        verdict, reason = self.judgement
        if verdict == model.WRONG_REASON:
            verdict = model.FAIL
        chosen = Selected(self.case)
        result = case_result(chosen, verdict or model.OWED, reason, self.trials, len(self.trials))
        return result._replace(receipt=self.digest, reused="" if self.ran else self.date)

    def decided(self) -> CaseResult:
        """Return the side by the trials that decided it: more that were asked for are no evidence.

        Whoever goes on until the numbers are better finds nothing of it in what is kept.
        """
        result, trials = self.result(), self.trials
        shortest = next(
            (n for n in range(1, len(trials)) if self.judge(trials[:n]) != OPEN), len(trials)
        )
        return result._replace(trials=result.trials[:shortest])

    def keep(self, *other_keys: str, **facts: str) -> None:
        """Keep what was run and decided; a broken side under further keys too."""
        if self.judgement == OPEN or not self.ran:
            return
        if self.side == AFTER:
            self.digest = self.engine.keep(self.key, self.decided(), self.case).receipt
        else:
            self.put_red(*other_keys, **facts)

    def put_red(self, *other_keys: str, **facts: str) -> None:
        """Keep a broken side, so that it is found by each of the keys.

        What ran against an endpoint that isn't the provider's own is no evidence for it.
        """
        project, result = self.engine.project, self.decided()
        if not project.target_of(project.agents[self.case.agent]).live:
            return
        known = self.engine.answers.facts(self.case, result)
        nothing = Tree(project.repo, project.repo.empty_tree)
        apart = self.engine.receipt_key(self.case, nothing)
        evidence = {
            "tree": self.tree.oid,
            "exact": self.key,
            APART: apart,
            **known,
            **facts,
        }
        keys = dict.fromkeys((*other_keys, self.key))
        # The first is the one that a later proof finds, and names.
        put = [project.store.put_red(make_receipt(key, result, evidence)) for key in keys]
        self.digest = put[0]


def _graded_start(trials: Sequence[TrialResult]) -> tuple[TrialResult, ...]:
    """Return the trials up to the first that could not be graded: that one is drawn anew."""
    return tuple(takewhile(lambda trial: trial.verdict in GRADED, trials))
