"""Balance: what one account gains another one gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.audit.finding import Finding
from ledger.books.journal import Posted


def find_unbalanced(ledger: Iterable[Posted]) -> Iterator[Finding]:
    for number, entry, _ in ledger:
        if entry.debits != entry.credits:
            said = f"debits of {entry.debits}, credits of {entry.credits}"
            yield Finding("balance", number, said)
