"""The audit: families of checks, each blind to the others, all on the same entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ledger.audit.balance import find_unbalanced
from ledger.audit.chain import find_broken_seals
from ledger.audit.duplicates import find_duplicates
from ledger.audit.duties import find_self_approved
from ledger.audit.finding import Finding
from ledger.audit.limits import find_unapproved
from ledger.books.journal import Posted

__all__ = ["FAMILIES", "Finding"]

FAMILIES: Mapping[str, Callable[[Iterable[Posted]], Iterator[Finding]]] = {
    "balance": find_unbalanced,
    "chain": find_broken_seals,
    "duplicates": find_duplicates,
    "duties": find_self_approved,
    "limits": find_unapproved,
}
