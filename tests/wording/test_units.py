from __future__ import annotations

from datetime import UTC, datetime

import pytest

from guard.wording import units


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (0.0, "$0.00"),
        (0.004, "less than $0.01"),
        (0.46, "$0.46"),
        (2.8, "$2.80"),
        (1234.5, "$1,234"),
    ],
)
def test_money(usd: float, said: str) -> None:
    assert units.money(usd) == said


def test_estimates_say_that_they_are_list_prices() -> None:
    assert units.list_price(2.8) == "about $2.80 at list price"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.34, "0.3 s"), (30.4, "30 s"), (119, "119 s"), (240, "4 min"), (9000, "2.5 h")],
)
def test_duration(seconds: float, said: str) -> None:
    assert units.duration(seconds) == said


def test_a_receipt_is_told_by_its_day_and_that_of_today_by_its_minute() -> None:
    said = units.answered_by("2026-07-12T10:00:00+00:00")
    assert said == "answered by a receipt of 2026-07-12"
    assert units.answered_by("2026-07-12") == said
    now = datetime.now(UTC).isoformat()
    told = units.answered_by(now)
    assert told.startswith(f"answered by a receipt of {now[:10]}")
    # The day may have ended since.
    today = datetime.now(UTC).date().isoformat() == now[:10]
    assert told.endswith(f" {now[11:16]} UTC") or not today


def test_count() -> None:
    assert units.count(1, "case") == "1 case"
    assert units.count(0, "case") == "0 cases"
    assert units.count(2, "failed try", "failed tries") == "2 failed tries"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
    ],
)
def test_names_are_listed_as_far_as_they_can_be_read(names: list[str], expected: str) -> None:
    assert units.listed(names) == expected


def test_names_are_bounded_and_printable() -> None:
    assert units.names(["a", "b"]) == "a, b"
    assert units.names(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 more"
    assert units.names(["a\nb"]) == "a\\nb"
