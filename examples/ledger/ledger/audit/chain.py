"""Chain: each entry still reads as it was sealed, and none is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.audit.finding import Finding
from ledger.books.chain import GENESIS, seal
from ledger.books.journal import Posted


def find_broken_seals(ledger: Iterable[Posted]) -> Iterator[Finding]:
    before, expected = GENESIS, 1
    for number, entry, sealed in ledger:
        if number != expected:
            yield Finding("chain", number, f"follows {expected - 1}: what lay between is gone")
        elif sealed != seal(entry, before):
            yield Finding("chain", number, "isn't what was sealed")
        # From the seal as it stands: one entry that was touched is one finding, not all after it.
        before, expected = sealed, number + 1
