"""The graphs that need no model, driven as they are served."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from sqlalchemy import Engine, text

from ledger.books.journal import post, read_journal
from ledger.graphs import accountant, auditor, bookkeeper, typewriter
from tests.samples import make_entry, make_event

TELL = {"configurable": {"thread_id": "one"}}


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The accountant with a memory, which the platform gives it where it is served."""
    monkeypatch.setattr(accountant.graph, "checkpointer", InMemorySaver())
    return accountant.graph


def test_the_bookkeeper_posts_and_repeats(journal: Engine) -> None:
    entry = make_entry().model_dump(mode="json")
    answers = [bookkeeper.graph.invoke({"entry": entry}) for _ in range(2)]
    assert [answer["status"] for answer in answers] == ["posted", "repeated"]
    assert [answer["number"] for answer in answers] == [1, 1]


def test_the_bookkeeper_opens_no_books_for_what_is_no_entry() -> None:
    answer = bookkeeper.graph.invoke({"entry": {"key": "x"}})
    assert answer["status"] == "refused"
    assert {one["rule"] for one in answer["refusals"]} == {"shape"}


def test_the_accountant_lets_small_amounts_through(journal: Engine, office: Any) -> None:
    event = make_event().model_dump(mode="json")
    assert office.invoke({"event": event}, TELL)["status"] == "posted"


def test_the_accountant_stops_at_the_gate_and_takes_no_self_approval(
    journal: Engine, office: Any
) -> None:
    event = make_event(net=20_000_00).model_dump(mode="json")
    [asked] = office.invoke({"event": event}, TELL)["__interrupt__"]
    assert (asked.value["total"], read_journal(journal)) == (25_000_00, [])
    [again] = office.invoke(Command(resume={"approved": True, "by": "ana"}), TELL)["__interrupt__"]
    assert again.value["note"] == "ana prepared it: somebody else must approve it"
    done = office.invoke(Command(resume={"approved": True, "by": "bo"}), TELL)
    [posted] = read_journal(journal)
    assert (done["number"], posted.entry.approved_by) == (1, "bo")


def test_what_is_declined_is_not_posted(journal: Engine, office: Any) -> None:
    office.invoke({"event": make_event(net=20_000_00).model_dump(mode="json")}, TELL)
    done = office.invoke(Command(resume={"approved": False, "by": "bo"}), TELL)
    assert (done["status"], read_journal(journal)) == ("declined", [])


def test_the_auditor_finds_what_was_changed_behind_the_ledger_s_back(journal: Engine) -> None:
    post(journal, make_entry())
    assert auditor.graph.invoke({})["findings"] == []
    with journal.begin() as connection:
        connection.execute(text("alter table entries disable trigger append_only"))
        connection.execute(text("update entries set memo = 'gift'"))
    answer = auditor.graph.invoke({"families": ["balance", "chain"]})
    assert [(one["family"], one["entry"]) for one in answer["findings"]] == [("chain", 1)]


def test_the_typewriter_asks_no_model_about_mail_without_an_amount(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    answer = typewriter.graph.invoke({"paper": "evals/papers/newsletter.txt"})
    assert (answer["schema_type"], answer["n_proposals"]) == (None, 0)
