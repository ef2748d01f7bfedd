"""Each posting rule: it lets the sample through, and refuses what it is there for."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.books.entry import Line
from ledger.books.rules import RULES, Standing, judge
from tests.samples import PAIR, make_entry

STANDING = Standing(frozenset({"1900", "6800"}), frozenset({"2026-03"}))
LARGE = (Line(account="6800", debit=10_000_01), Line(account="1900", credit=10_000_01))

BROKEN: list[tuple[str, dict[str, Any]]] = [
    ("two-sides", {"lines": ()}),
    ("one-side-a-line", {"lines": (*PAIR, Line(account="1900"))}),
    ("one-side-a-line", {"lines": (*PAIR, Line(account="1900", debit=1, credit=1))}),
    ("balance", {"lines": (PAIR[0], Line(account="1900", credit=401_99))}),
    ("accounts", {"lines": (PAIR[0], Line(account="19O0", credit=402_00))}),
    ("open-period", {"date": "2026-02-28"}),
    ("approval", {"lines": LARGE}),
    ("approval", {"lines": LARGE, "approved_by": "ana"}),
]


def test_a_sound_entry_breaks_no_rule() -> None:
    assert judge(make_entry(), STANDING) == []
    assert judge(make_entry(lines=LARGE, approved_by="bo"), STANDING) == []


@pytest.mark.parametrize(("rule", "changes"), BROKEN)
def test_a_rule_refuses_what_it_is_there_for_and_alone(rule: str, changes: dict[str, Any]) -> None:
    assert [refusal.rule for refusal in judge(make_entry(**changes), STANDING)] == [rule]


def test_every_rule_is_shown_to_refuse_something() -> None:
    assert {rule for rule, _ in BROKEN} == set(RULES)


def test_the_limit_itself_needs_no_approval() -> None:
    at_limit = (Line(account="6800", debit=10_000_00), Line(account="1900", credit=10_000_00))
    assert judge(make_entry(lines=at_limit), STANDING) == []
