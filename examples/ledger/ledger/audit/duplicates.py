"""Duplicates: a paper is booked once, whatever key it came with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.audit.finding import Finding
from ledger.books.entry import Entry
from ledger.books.journal import Posted


def find_duplicates(ledger: Iterable[Posted]) -> Iterator[Finding]:
    first: dict[tuple[str, str], int] = {}
    for number, entry, _ in ledger:
        if entry.document is None:
            continue
        seen = first.setdefault(_paper(entry, entry.document), number)
        if seen != number:
            yield Finding("duplicates", number, f"{entry.document} was booked as entry {seen}")


def _paper(entry: Entry, reference: str) -> tuple[str, str]:
    """Return what tells papers apart: an invoice and its payment share a reference, not a memo."""
    return entry.memo, reference
