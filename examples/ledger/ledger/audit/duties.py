"""Segregation of duties: nobody approves what they prepared, however small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.audit.finding import Finding
from ledger.books.journal import Posted


def find_self_approved(ledger: Iterable[Posted]) -> Iterator[Finding]:
    for number, entry, _ in ledger:
        if entry.approved_by == entry.prepared_by:
            yield Finding("duties", number, f"{entry.prepared_by} prepared and approved it")
