"""What fits into the time and money there is; what won't is not started."""

from __future__ import annotations

import pytest

from guard.running.budget import Budget


def test_without_limits_everything_fits() -> None:
    budget = Budget()
    budget.spend(1e9)
    assert not budget.limited
    assert not budget.ended()
    assert budget.fits(None, None, paid=True)
    assert budget.fits(1e9, 1e9, paid=True)


@pytest.mark.parametrize(
    ("seconds", "cost", "paid", "fits"),
    [
        (10.0, 0.5, True, True),
        (60.0, 1.0, True, False),  # some of the 60 seconds are over
        (59.0, 1.0, True, True),
        (61.0, 0.5, True, False),
        (10.0, 1.1, True, False),
        (None, 0.5, True, False),
        (10.0, None, True, False),
        (None, None, True, False),
        (None, None, False, True),  # a free target that nobody has timed yet is tried
        (61.0, None, False, False),
    ],
)
def test_only_what_is_known_to_fit_is_started(
    seconds: float | None, cost: float | None, paid: bool, fits: bool
) -> None:
    assert Budget(60, 1.0).fits(seconds, cost, paid=paid) is fits


def test_a_limit_on_time_alone_asks_for_no_price() -> None:
    assert Budget(60).fits(10, None, paid=True)
    assert not Budget(60).fits(None, None, paid=True)


def test_a_limit_on_money_alone_asks_for_both() -> None:
    assert Budget(max_cost=1).fits(1e6, 0.5, paid=True)
    assert not Budget(max_cost=1).fits(1e6, None, paid=True)


def test_what_trials_cost_is_taken_off() -> None:
    budget = Budget(max_cost=1.0)
    budget.spend(None)
    budget.spend(0.75)
    assert budget.cost_left == 0.25
    assert budget.fits(1, 0.25, paid=True)
    assert not budget.fits(1, 0.3, paid=True)
    assert not budget.ended()
    budget.spend(0.3)
    assert budget.ended()


def test_no_money_at_all_still_lets_free_targets_run() -> None:
    budget = Budget(max_cost=0)
    assert not budget.ended()
    assert budget.fits(1, None, paid=False)
    assert not budget.fits(1, 0.01, paid=True)


def test_no_time_at_all_ends_at_once() -> None:
    budget = Budget(max_seconds=0)
    assert budget.ended()
    assert not budget.fits(None, None, paid=False)
