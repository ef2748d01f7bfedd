"""Limits: nothing large went past the gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.audit.finding import Finding
from ledger.books.journal import Posted
from ledger.policy import APPROVAL_LIMIT, needs_approval


def find_unapproved(ledger: Iterable[Posted]) -> Iterator[Finding]:
    for number, entry, _ in ledger:
        if needs_approval(entry.debits) and entry.approved_by is None:
            said = f"{entry.debits} is above {APPROVAL_LIMIT}, and nobody approved it"
            yield Finding("limits", number, said)
