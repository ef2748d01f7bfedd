"""Each family: it finds nothing in sound books, and what it is there for in others."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.audit import FAMILIES
from ledger.books.chain import GENESIS, seal
from ledger.books.entry import Entry, Line
from ledger.books.journal import Posted
from tests.samples import PAIR, make_entry

LARGE = (Line(account="6800", debit=10_000_01), Line(account="1900", credit=10_000_01))


def make_ledger(*entries: Entry) -> list[Posted]:
    ledger: list[Posted] = []
    before = GENESIS
    for number, entry in enumerate(entries, 1):
        before = seal(entry, before)
        ledger.append(Posted(number, entry, before))
    return ledger


def found(ledger: list[Posted]) -> list[tuple[str, int]]:
    return [(one.family, one.entry) for find in FAMILIES.values() for one in find(ledger)]


def test_sound_books_have_no_finding() -> None:
    assert found(make_ledger(make_entry(), make_entry(document=None))) == []


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("balance", {"lines": PAIR[:1]}),
        ("limits", {"lines": LARGE}),
        ("duties", {"approved_by": "ana"}),
    ],
)
def test_a_family_finds_what_it_is_there_for(family: str, changes: dict[str, Any]) -> None:
    ledger = make_ledger(make_entry(document="1"), make_entry(document="2", **changes))
    assert found(ledger) == [(family, 2)]


def test_a_paper_that_is_booked_twice_is_found() -> None:
    assert found(make_ledger(make_entry(key="a"), make_entry(key="b"))) == [("duplicates", 2)]


def test_an_invoice_and_its_payment_are_no_duplicate() -> None:
    ledger = make_ledger(make_entry(memo="purchase: A"), make_entry(memo="payment: A"))
    assert found(ledger) == []


def test_an_entry_that_was_touched_is_found_alone() -> None:
    ledger = make_ledger(*(make_entry(document=str(n)) for n in range(4)))
    ledger[1] = ledger[1]._replace(entry=make_entry(document="1", memo="touched"))
    assert found(ledger) == [("chain", 2)]


def test_an_entry_that_is_gone_is_found() -> None:
    ledger = make_ledger(*(make_entry(document=str(n)) for n in range(4)))
    del ledger[1]
    assert found(ledger) == [("chain", 3)]
