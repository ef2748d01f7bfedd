from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.results import Side
from guard.wording import intervals


@pytest.mark.parametrize(
    ("trials", "low"), [(3, 0.44), (5, 0.57), (8, 0.68), (10, 0.72), (20, 0.84), (30, 0.89)]
)
def test_lower_bound_of_straight_passes_is_proofs(trials: int, low: float) -> None:
    assert round(intervals.wilson(trials, trials)[0], 2) == low
    assert intervals.wilson(trials, trials)[1] == 1.0


@pytest.mark.parametrize(
    ("passed", "trials", "low", "high"),
    [(1, 10, 0.0179, 0.4042), (15, 50, 0.1910, 0.4375), (0, 3, 0.0, 0.5615)],
)
def test_wilson_against_published_values(passed: int, trials: int, low: float, high: float) -> None:
    found = intervals.wilson(passed, trials)
    assert (round(found[0], 4), round(found[1], 4)) == (low, high)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate_and_mirrors(counts: tuple[int, int]) -> None:
    passed, trials = counts
    low, high = intervals.wilson(passed, trials)
    assert 0 <= low <= passed / trials <= high <= 1
    mirrored = intervals.wilson(trials - passed, trials)
    assert abs(low - (1 - mirrored[1])) < 1e-9


def test_without_trials_everything_is_possible() -> None:
    assert intervals.wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("before", "after", "p"),
    [
        ((0, 2), (2, 2), 0.167),
        ((0, 3), (3, 3), 0.050),
        ((0, 4), (4, 4), 0.014),
        ((0, 4), (3, 4), 0.071),
        ((1, 4), (4, 4), 0.071),
        ((0, 5), (5, 5), 0.004),
        ((1, 5), (4, 5), 0.103),
        ((1, 6), (5, 6), 0.040),
        ((0, 3), (10, 10), 0.003),
        ((3, 3), (0, 3), 1.0),
        ((0, 0), (3, 3), 1.0),
    ],
)
def test_fisher_is_proofs_table(before: tuple[int, int], after: tuple[int, int], p: float) -> None:
    assert round(intervals.one_sided_p(Side(*before), Side(*after)), 3) == p


def enumerate_p(before: Side, after: Side) -> Fraction:
    """Count the ways to deal the passes out at random that are as extreme."""
    trials = range(before.trials + after.trials)
    deals = list(combinations(trials, before.passed + after.passed))
    extreme = sum(sum(t >= before.trials for t in deal) >= after.passed for deal in deals)
    return Fraction(extreme, len(deals))


sides = st.integers(0, 5).flatmap(lambda n: st.builds(Side, st.integers(0, n), st.just(n)))


@given(sides, sides)
def test_fisher_against_enumeration(before: Side, after: Side) -> None:
    assert abs(intervals.one_sided_p(before, after) - enumerate_p(before, after)) < 1e-12


@pytest.mark.parametrize(
    ("rate", "passes"),
    [(0.5, 5), (0.6, 6), (0.7, 9), (0.8, 14), (0.9, 29), (0.95, 59), (0.99, 299)],
)
def test_straight_passes(rate: float, passes: int) -> None:
    assert intervals.straight_passes_for(rate) == passes


@pytest.mark.parametrize(
    ("passed", "trials", "said"),
    [
        (10, 10, "10 of 10 shows a true rate of at least 72 % (95 %)"),
        (0, 3, "0 of 3 shows a true rate of at most 57 % (95 %)"),
        (7, 10, "7 of 10 shows a true rate between 39 and 90 % (95 %)"),
        (0, 0, "no trial was graded: this shows nothing"),
    ],
)
def test_the_sentence(passed: int, trials: int, said: str) -> None:
    assert intervals.describe_rate(passed, trials) == said


@pytest.mark.parametrize(
    ("passed", "trials", "said"),
    [
        (4, 4, "it can't show 90 %: that takes 29 straight passes"),
        (29, 29, "it can't show 99 %: that takes 299 straight passes"),
        (299, 299, ""),
        (3, 4, ""),
        (0, 0, ""),
    ],
)
def test_the_price_of_more(passed: int, trials: int, said: str) -> None:
    assert intervals.describe_limit(passed, trials) == said


def test_import_does_not_load_statistics() -> None:
    code = "import sys, guard.wording.intervals; sys.exit('statistics' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
