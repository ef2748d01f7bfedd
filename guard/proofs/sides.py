"""What one side of a proof shows: its trials, read in order, and how many more it takes.

The broken side is judged by the fails-before gate, the fixed one by the case's own policy. The
first trials that decide are the ones that count: more of them, where asked for, change nothing.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from typing import Final

from guard import model
from guard.model import ORPHANS_KEY, TIMEOUT_KEY, Case
from guard.results import TrialResult
from guard.running.gates import (
    FAILS_BEFORE_CAP,
    decide_agreeing,
    decide_policy,
    fails_before,
    planned_trials,
    trials_to_decision,
)
from guard.running.series import MoreTrials
from guard.verdict import GRADED, Judgement, judge_case, outcomes_of, sort_trials
from guard.wording.reasons import trial_reason

#: How often a trial that ended in ERROR is drawn again, on one side.
MOST_REDRAWS: Final = 2
#: The score key of how the target's program ended.
EXIT_KEY: Final = "exit_code"
#: What a shell adds to the number of the signal that ended the program it ran.
BY_SIGNAL: Final = 128
#: Not decided yet.
OPEN: Final = Judgement("")

#: Judges the trials of a side, in order; `OPEN` asks for more.
Judge = Callable[[Sequence[TrialResult]], Judgement]
#: Whether a failing trial failed for the recorded reason.
Hit = Callable[[TrialResult], bool]


def hits(fails_on: Sequence[str]) -> Hit:
    """Return the test of a failing trial against the recorded keys.

    A time-out counts where it is recorded, and so does a program that ended as it must not: what
    it never came to say is no answer. Where no key is recorded yet, any score of an evaluator
    counts.
    """

    def test(trial: TrialResult) -> bool:
        failing = {key for key in trial.failing if key not in trial.excused}
        if TIMEOUT_KEY in failing and TIMEOUT_KEY not in fails_on:
            return False
        if not fails_on:
            return bool(failing - {TIMEOUT_KEY, ORPHANS_KEY})
        if EXIT_KEY in failing and EXIT_KEY not in fails_on:
            return False
        return failing.issuperset(fails_on)

    return test


def common_keys(trials: Sequence[TrialResult]) -> tuple[str, ...]:
    """Return the keys that failed in every failing trial: what a new record says it fails on."""
    failing = [t.failing for t in trials if t.verdict == model.FAIL]
    if not failing:
        return ()
    shared = set(failing[0]).intersection(*failing[1:]) - {TIMEOUT_KEY, ORPHANS_KEY}
    return tuple(sorted(shared))


def before_judge(hit: Hit, *, deterministic: bool) -> Judge:
    """Return the judge of the broken side: FAIL is red, PASS green, WRONG_REASON red elsewhere."""

    def judge(graded: Sequence[TrialResult]) -> Judgement:
        failed = [trial.verdict == model.FAIL for trial in graded]
        decision = _fails_before(failed, deterministic=deterministic)
        if decision is None:
            return OPEN
        if decision == "INCONCLUSIVE":
            return Judgement(model.INCONCLUSIVE, _say_disagreeing(failed))
        if decision == "GREEN":
            return Judgement(model.PASS)
        wrong = [t for t in graded if t.verdict == model.FAIL and not hit(t)]
        if not wrong:
            return Judgement(model.FAIL)
        if deterministic and len(wrong) < len(graded):
            return Judgement(model.INCONCLUSIVE, "its trials fail for different reasons")
        return Judgement(model.WRONG_REASON, trial_reason(wrong[0]))

    first = _first_decision(judge, deterministic=deterministic)
    return lambda trials: first(tuple(map(_as_ended, trials)))


def _as_ended(trial: TrialResult) -> TrialResult:
    """Return a trial whose program was killed as one that broke, where a shell hid the signal."""
    number = (trial.observation.exit_status or 0) - BY_SIGNAL
    if EXIT_KEY not in trial.failing or number not in signal.valid_signals():
        return trial
    said = f"a program of the target was ended by signal {number} (exit {BY_SIGNAL + number})"
    return trial._replace(verdict=model.ERROR, reason=said)


def _say_disagreeing(failed: Sequence[bool]) -> str:
    passed = f"{failed.count(False)} of {len(failed)} trials passed"
    return f"{passed}: the target is declared deterministic, and its trials disagree"


def after_judge(case: Case, *, deterministic: bool) -> Judge:
    """Return the judge of the fixed side: the case's own policy."""

    def judge(graded: Sequence[TrialResult]) -> Judgement:
        if decide_policy(case.policy, outcomes_of(graded), deterministic=deterministic) is None:
            return OPEN
        return judge_case(case, graded, case.policy, deterministic=deterministic)

    return _first_decision(judge, deterministic=deterministic)


def _first_decision(judge: Judge, *, deterministic: bool) -> Judge:
    """Judge the shortest run of trials that decides; what can't be graded decides too."""

    def first(trials: Sequence[TrialResult]) -> Judgement:
        graded: list[TrialResult] = []
        errors = 0
        for trial in sort_trials(trials, deterministic=deterministic):
            if trial.verdict in GRADED:
                graded.append(trial)
                found = judge(graded)
                if found != OPEN:
                    return found
                continue
            errors += trial.verdict == model.ERROR
            if trial.verdict != model.ERROR or errors > MOST_REDRAWS:
                return Judgement(trial.verdict, trial_reason(trial))
        return OPEN

    return first


def before_more(judge: Judge, *, deterministic: bool, least: int = 0) -> MoreTrials:
    """Return how many more trials the broken side takes, ``least`` of them in any case."""
    most = 2 if deterministic else FAILS_BEFORE_CAP

    def needed(outcomes: Sequence[bool]) -> int:
        def undecided(seen: Sequence[bool]) -> bool:
            failed = [not passed for passed in seen]
            return _fails_before(failed, deterministic=deterministic) is None

        return trials_to_decision(undecided, outcomes, most - len(outcomes))

    more = _more(judge, needed, least)
    return lambda trials, jobs: more(tuple(map(_as_ended, trials)), jobs)


def after_more(case: Case, judge: Judge, *, deterministic: bool, least: int = 0) -> MoreTrials:
    """Return how many more trials the fixed side takes, ``least`` of them in any case."""
    policy = case.policy
    most = planned_trials(policy, deterministic=deterministic)

    def needed(outcomes: Sequence[bool]) -> int:
        def undecided(seen: Sequence[bool]) -> bool:
            return decide_policy(policy, seen, deterministic=deterministic) is None

        if policy.gate is None and policy.trials is not None:
            return most - len(outcomes)
        return trials_to_decision(undecided, outcomes, most - len(outcomes))

    return _more(judge, needed, least)


def _more(judge: Judge, needed: Callable[[Sequence[bool]], int], least: int) -> MoreTrials:
    def more(trials: Sequence[TrialResult], jobs: int) -> int:
        found = judge(trials)
        outcomes = outcomes_of(trials)
        if found == OPEN:
            return min(jobs, max(needed(outcomes), least - len(outcomes)))
        if found.verdict in (*GRADED, model.XPASS, model.INCONCLUSIVE, model.WRONG_REASON):
            # Asked for, and shown beside those that decided; what can't be graded ends them.
            clean = len(outcomes) == len(trials)
            return max(0, min(jobs, least - len(outcomes))) if clean else 0
        return 0

    return more


def _fails_before(failed: Sequence[bool], *, deterministic: bool) -> str | None:
    if not deterministic:
        return fails_before(failed)
    decision = decide_agreeing(failed)
    return {"PASS": "RED", "FAIL": "GREEN"}.get(decision, decision) if decision else None
