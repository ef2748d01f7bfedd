"""The posting rules: what an entry must be before it may enter the ledger.

A rule looks at the entry and at where the books stand, and says what is wrong in words, or None.
All of them are asked, so that whoever mends an entry mends it once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ledger.books.entry import Entry
from ledger.policy import needs_approval


class Standing(NamedTuple):
    """Where the books stand at the moment of posting."""

    accounts: frozenset[str]
    open_periods: frozenset[str]


class Refusal(NamedTuple):
    """A broken rule."""

    rule: str
    reason: str


Rule = Callable[[Entry, Standing], str | None]


def has_two_sides(entry: Entry, standing: Standing) -> str | None:
    if len(entry.lines) < 2:
        return f"{len(entry.lines)} line: money comes from somewhere and goes somewhere"
    return None


def moves_money_once(entry: Entry, standing: Standing) -> str | None:
    for line in entry.lines:
        if bool(line.debit) == bool(line.credit):
            return f"{line.account} is {'both' if line.debit else 'neither'} debited and credited"
    return None


def balances(entry: Entry, standing: Standing) -> str | None:
    if entry.debits != entry.credits:
        return f"debits of {entry.debits} and credits of {entry.credits} differ"
    return None


def names_known_accounts(entry: Entry, standing: Standing) -> str | None:
    unknown = sorted({line.account for line in entry.lines} - standing.accounts)
    return f"no such account: {', '.join(unknown)}" if unknown else None


def falls_in_an_open_period(entry: Entry, standing: Standing) -> str | None:
    return None if entry.period in standing.open_periods else f"{entry.period} is not open"


def is_approved_by_another(entry: Entry, standing: Standing) -> str | None:
    if not needs_approval(entry.debits):
        return None
    if entry.approved_by is None:
        return f"{entry.debits} is above the limit, and nobody approved it"
    if entry.approved_by == entry.prepared_by:
        return f"{entry.prepared_by} prepared it and can't approve it"
    return None


RULES: Mapping[str, Rule] = {
    "two-sides": has_two_sides,
    "one-side-a-line": moves_money_once,
    "balance": balances,
    "accounts": names_known_accounts,
    "open-period": falls_in_an_open_period,
    "approval": is_approved_by_another,
}


def judge(entry: Entry, standing: Standing) -> list[Refusal]:
    """Return every rule that the entry breaks."""
    said = {name: rule(entry, standing) for name, rule in RULES.items()}
    return [Refusal(name, reason) for name, reason in said.items() if reason is not None]
