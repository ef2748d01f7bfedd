"""The journal, on a real server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from ledger.audit import FAMILIES
from ledger.books.chain import GENESIS, seal
from ledger.books.journal import Outcome, post, read_journal
from tests.samples import make_entry


def test_entries_are_numbered_and_chained(journal: Engine) -> None:
    first, second = make_entry(), make_entry(key="taxi-2")
    post(journal, first)
    post(journal, second)
    seals = [seal(first, GENESIS), seal(second, seal(first, GENESIS))]
    assert read_journal(journal) == [(1, first, seals[0]), (2, second, seals[1])]


def test_what_is_repeated_is_posted_once(journal: Engine) -> None:
    once, again = post(journal, make_entry()), post(journal, make_entry())
    assert (once.repeated, again.repeated) == (False, True)
    assert once.posted == again.posted
    assert len(read_journal(journal)) == 1


def test_a_key_that_comes_back_with_another_content_is_refused(journal: Engine) -> None:
    post(journal, make_entry())
    [refusal] = post(journal, make_entry(memo="something else")).refusals
    assert refusal == ("key", "taxi-1 is entry 1, which says something else")


def test_a_refused_entry_leaves_nothing(journal: Engine) -> None:
    assert post(journal, make_entry(date="2026-01-31")).posted is None
    assert read_journal(journal) == []


def test_many_writers_at_once_make_one_chain(journal: Engine) -> None:
    # Four keys, each sent three times: what a queue that delivers at least once does.
    requests = [make_entry(key=f"taxi-{n % 4}") for n in range(12)]

    def send(number: int) -> Outcome:
        return post(journal, requests[number])

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(send, range(12)))
    assert [outcome.refusals for outcome in outcomes] == [()] * 12
    ledger = read_journal(journal)
    assert [number for number, _, _ in ledger] == [1, 2, 3, 4]
    assert list(FAMILIES["chain"](ledger)) == []


@pytest.mark.parametrize(
    "statement", ["update lines set debit = 1", "delete from entries", "truncate entries cascade"]
)
def test_the_database_itself_rewrites_nothing(journal: Engine, statement: str) -> None:
    post(journal, make_entry())
    with pytest.raises(DBAPIError, match="append-only"), journal.begin() as connection:
        connection.execute(text(statement))
