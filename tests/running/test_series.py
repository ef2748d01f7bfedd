"""Trials of one case: how many are started, and in which order they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from guard.model import Case, Policy
from guard.results import TrialResult
from guard.running.series import Series, by_policy, most_trials
from guard.trials.stage import Stage

#: A series hands its stage on and never looks at it.
NO_STAGE = cast("Stage", None)
DEFAULT = Policy()


def case_of(policy: Policy) -> Case:
    return Case("one", "clerk", "evals/one.md", policy=policy)


def series_of(policy: Policy = DEFAULT, *, deterministic: bool = False) -> Series:
    case = case_of(policy)
    return Series(case, NO_STAGE, by_policy(case, deterministic=deterministic))


def trial(number: int, verdict: str = "PASS") -> TrialResult:
    return TrialResult("one", number, verdict)


def numbers(series: Series) -> list[int]:
    return [result.number for result in series.results]


def fill(series: Series, slots: int) -> list[int]:
    """Start trials as the loop does; return their numbers."""
    started: list[int] = []
    while series.wants(slots - series.running) > 0:
        started.append(series.start())
    return started


def run_all(series: Series, verdicts: Sequence[str], slots: int) -> int:
    """Run a series to its end, the latest started trial ending first; return how many it took."""
    running: list[int] = []
    while True:
        running += fill(series, slots)
        if not running:
            return series.started
        number = running.pop()
        series.add(trial(number, verdicts[number - 1]))


def test_fixed_trials_are_all_planned_from_the_start() -> None:
    series = series_of(Policy(trials=5))
    assert fill(series, 8) == [1, 2, 3, 4, 5]
    assert series.wants(8) == 0


def test_slots_bound_what_is_started() -> None:
    series = series_of(Policy(trials=5))
    assert fill(series, 2) == [1, 2]
    series.add(trial(1))
    assert fill(series, 2) == [3]
    assert series.wants(0) == 0


def test_a_gate_starts_only_what_it_needs_whatever_comes() -> None:
    series = series_of(Policy(gate="standard"))
    assert fill(series, 8) == [1, 2]
    series.add(trial(1))
    assert fill(series, 8) == [3]  # two failures would decide
    series.add(trial(2))
    assert fill(series, 8) == [4]
    for number in (3, 4):
        series.add(trial(number))
    assert fill(series, 8) == []


@pytest.mark.parametrize("slots", [1, 2, 3, 8])
@pytest.mark.parametrize(
    ("policy", "verdicts", "taken"),
    [
        (Policy(gate="standard"), "PPPP", 4),
        (Policy(gate="standard"), "FF", 2),
        (Policy(gate="quick"), "FPPPP", 5),
        (Policy(trials=4, min_pass_rate=0.5), "FPFP", 4),
        (Policy(), "PPPP", 4),
    ],
)
def test_the_same_trials_take_the_same_number_whatever_the_slots(
    policy: Policy, verdicts: str, taken: int, slots: int
) -> None:
    names = {"P": "PASS", "F": "FAIL"}
    assert run_all(series_of(policy), [names[letter] for letter in verdicts], slots) == taken


def test_outcomes_are_read_by_number_and_not_by_completion() -> None:
    series = series_of(Policy(trials=3))
    fill(series, 3)
    series.add(trial(3, "FAIL"))
    assert numbers(series) == []
    assert series.running == 2
    series.add(trial(1))
    assert numbers(series) == [1]
    series.add(trial(2))
    assert numbers(series) == [1, 2, 3]


@pytest.mark.parametrize("verdict", ["ERROR", "SKIP", "BLOCKED", "STALE", "TAINTED", "UNGRADED"])
def test_a_trial_that_cannot_be_graded_ends_the_series(verdict: str) -> None:
    series = series_of(Policy(trials=5))
    fill(series, 1)
    series.add(trial(1, verdict))
    assert series.wants(8) == 0


def test_an_excused_failure_does_not_end_it() -> None:
    series = series_of(Policy(trials=2))
    fill(series, 1)
    series.add(trial(1, "XFAIL"))
    assert series.wants(8) == 1


def test_deterministic_targets_get_two_trials() -> None:
    series = series_of(deterministic=True)
    assert fill(series, 8) == [1, 2]
    assert most_trials(case_of(Policy()), deterministic=True) == 2
    assert most_trials(case_of(Policy()), deterministic=False) == 15
    assert most_trials(case_of(Policy(trials=7)), deterministic=True) == 7


def test_what_is_stopped_wants_nothing() -> None:
    series = series_of(Policy(trials=5))
    series.stopped = True
    assert series.wants(8) == 0


def test_trials_in_flight_at_a_kill_leave_their_numbers_free() -> None:
    series = series_of(Policy(trials=4))
    series.take_over([trial(1), trial(3)])
    assert series.started == 2
    assert series.running == 0
    assert fill(series, 1) == [2]
    series.add(trial(2))
    assert fill(series, 1) == [4]
    series.add(trial(4))
    assert numbers(series) == [1, 2, 3, 4]
    assert series.wants(8) == 0


def test_what_was_taken_over_may_settle_it() -> None:
    series = series_of(Policy(gate="standard"))
    series.take_over([trial(number) for number in (1, 2, 3, 4)])
    assert series.wants(8) == 0
    assert len(series.results) == 4


def test_a_repeated_series_is_fresh_and_counts_on() -> None:
    first = series_of(Policy(gate="standard"))
    fill(first, 2)
    for number in (1, 2):
        first.add(trial(number, "FAIL"))
    second = first.repeated()
    assert numbers(second) == []
    assert fill(second, 8) == [3, 4]
    second.add(trial(3, "FAIL"))
    second.add(trial(4, "FAIL"))
    assert numbers(second) == [3, 4]
    assert second.wants(8) == 0
