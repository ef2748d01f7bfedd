"""From what happened in the business to the entry that says so in the books."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from ledger.books.entry import Entry, Line
from ledger.policy import VAT_RATES

Kind = Literal["sale", "purchase", "expense", "payment"]


class Event(BaseModel):
    """Something that happened, in the words of whoever reports it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(min_length=1)
    kind: Kind
    date: datetime.date
    net: PositiveInt
    """Cents, without VAT."""
    vat: Literal["standard", "food", "none"] = "standard"
    party: str
    document: str
    prepared_by: str = Field(min_length=1)

    @property
    def tax(self) -> int:
        """VAT in cents, half a cent rounded up."""
        return (self.net * VAT_RATES[self.vat] + 50) // 100

    @property
    def gross(self) -> int:
        return self.net + self.tax


def _draft_sale(event: Event) -> list[Line]:
    return [
        Line(account="1500", debit=event.gross),
        Line(account="3000", credit=event.net),
        Line(account="2700", credit=event.tax),
    ]


def _draft_purchase(event: Event) -> list[Line]:
    return [
        Line(account="4000", debit=event.net),
        Line(account="2710", debit=event.tax),
        Line(account="2400", credit=event.gross),
    ]


def _draft_expense(event: Event) -> list[Line]:
    return [
        Line(account="6800", debit=event.net),
        Line(account="2710", debit=event.tax),
        Line(account="2910", credit=event.gross),
    ]


def _draft_payment(event: Event) -> list[Line]:
    # VAT was booked with the invoice; a payment moves the whole amount.
    return [Line(account="2400", debit=event.gross), Line(account="1900", credit=event.gross)]


_DRAFTS: Mapping[Kind, Callable[[Event], list[Line]]] = {
    "sale": _draft_sale,
    "purchase": _draft_purchase,
    "expense": _draft_expense,
    "payment": _draft_payment,
}


def draft(event: Event) -> Entry:
    """Return the entry for an event; without VAT there is no line for it."""
    lines = [line for line in _DRAFTS[event.kind](event) if line.debit or line.credit]
    return Entry(
        key=event.key,
        date=event.date,
        memo=f"{event.kind}: {event.party}",
        lines=tuple(lines),
        prepared_by=event.prepared_by,
        document=event.document,
    )
