"""The journal on PostgreSQL: one writer at a time, nothing twice, nothing changed afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    Select,
    create_engine,
    func,
    insert,
    make_url,
    select,
)

from ledger.books import tables
from ledger.books.chain import GENESIS, seal
from ledger.books.entry import Entry, Line
from ledger.books.rules import Refusal, Standing, judge

#: The advisory lock that a writer holds. A number is only unique within a database: this one
#: spells "ledger".
WRITER: Final = int.from_bytes(b"ledger", "big")


class Posted(NamedTuple):
    """An entry in the ledger."""

    number: int
    entry: Entry
    seal: str


class Outcome(NamedTuple):
    """What came of a request to post."""

    posted: Posted | None = None
    repeated: bool = False
    """The same request was posted before; this time nothing was written."""
    refusals: tuple[Refusal, ...] = ()


@cache
def open_journal(url: str | None = None) -> Engine:
    """Connect to the database that DATABASE_URL names. Raises KeyError where none does."""
    # Other tools write the URL without a driver, or with their own.
    stated = make_url(url or os.environ["DATABASE_URL"])
    return create_engine(stated.set(drivername="postgresql+psycopg"))


def post(journal: Engine, entry: Entry) -> Outcome:
    """Post an entry, or say why not. Safe to repeat, and from many processes at once."""
    with journal.begin() as connection:
        # Held to the end of the transaction: the next writer sees this entry or none of it.
        connection.execute(select(func.pg_advisory_xact_lock(WRITER)))
        if known := _find(connection, entry.key):
            return _answer_again(known, entry)
        if refusals := judge(entry, _standing(connection)):
            return Outcome(refusals=tuple(refusals))
        return Outcome(_append(connection, entry))


def _find(connection: Connection, key: str) -> Posted | None:
    return next(_read(connection, _ROWS.where(tables.entries.c.key == key)), None)


def _answer_again(known: Posted, entry: Entry) -> Outcome:
    if known.entry == entry:
        return Outcome(known, repeated=True)
    said = f"{entry.key} is entry {known.number}, which says something else"
    return Outcome(refusals=(Refusal("key", said),))


def _standing(connection: Connection) -> Standing:
    is_open = tables.periods.c.status == "open"
    return Standing(
        accounts=frozenset(connection.scalars(select(tables.accounts.c.code))),
        open_periods=frozenset(connection.scalars(select(tables.periods.c.month).where(is_open))),
    )


def _append(connection: Connection, entry: Entry) -> Posted:
    newest = select(tables.entries.c.number, tables.entries.c.seal)
    last = connection.execute(newest.order_by(tables.entries.c.number.desc()).limit(1)).first()
    number, before = (last.number + 1, last.seal) if last else (1, GENESIS)
    posted = Posted(number, entry, seal(entry, before))
    head = entry.model_dump(exclude={"lines"})
    connection.execute(insert(tables.entries).values(number=number, seal=posted.seal, **head))
    body = [
        {"entry": number, "position": position, **line.model_dump()}
        for position, line in enumerate(entry.lines, 1)
    ]
    connection.execute(insert(tables.lines), body)
    return posted


def read_journal(journal: Engine, up_to: int | None = None) -> list[Posted]:
    """Return the entries in order, in a transaction that can't write."""
    rows = _ROWS if up_to is None else _ROWS.where(tables.entries.c.number <= up_to)
    with journal.connect().execution_options(postgresql_readonly=True) as connection:
        return list(_read(connection, rows))


_ROWS: Final[Select[Any]] = (
    select(tables.entries, tables.lines.c.account, tables.lines.c.debit, tables.lines.c.credit)
    .outerjoin(tables.lines)  # an entry that lost its lines is the auditor's to see
    .order_by(tables.entries.c.number, tables.lines.c.position)
)


def _read(connection: Connection, rows: Select[Any]) -> Iterator[Posted]:
    for number, found in groupby(connection.execute(rows), key=lambda row: row.number):
        yield _posted(number, list(found))


def _posted(number: int, rows: list[Row[Any]]) -> Posted:
    first = rows[0]
    lines = [
        Line(account=row.account, debit=row.debit, credit=row.credit)
        for row in rows
        if row.account is not None
    ]
    entry = Entry(
        key=first.key,
        date=first.date,
        memo=first.memo,
        lines=tuple(lines),
        prepared_by=first.prepared_by,
        approved_by=first.approved_by,
        document=first.document,
    )
    return Posted(number, entry, first.seal)
