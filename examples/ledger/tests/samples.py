"""Entries and events that are right, so that a test says only what is wrong with its own."""

from __future__ import annotations

from typing import Any

from ledger.books.entry import Entry, Line
from ledger.drafting import Event

PAIR = (Line(account="6800", debit=402_00), Line(account="1900", credit=402_00))


def make_entry(**changes: Any) -> Entry:
    stated: dict[str, Any] = {
        "key": "taxi-1",
        "date": "2026-03-17",
        "memo": "expense: Bergen Taxi",
        "lines": PAIR,
        "prepared_by": "ana",
        "document": "88213-5",
    }
    return Entry.model_validate(stated | changes)


def make_event(**changes: Any) -> Event:
    stated: dict[str, Any] = {
        "key": "paper-1",
        "kind": "purchase",
        "date": "2026-03-09",
        "net": 1000_00,
        "party": "Norsk Papir & Kontor AS",
        "document": "NPK-20417",
        "prepared_by": "ana",
    }
    return Event.model_validate(stated | changes)
