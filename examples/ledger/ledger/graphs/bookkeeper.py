"""The bookkeeper: takes an entry, posts it by the rules, and says what came of it."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from pydantic import ValidationError

from ledger.books.entry import Entry, complaints
from ledger.books.journal import open_journal, post


class Request(TypedDict):
    """What it is asked: an `Entry` as a JSON document."""

    entry: dict[str, Any]


class State(Request, total=False):
    """What it answers."""

    status: Literal["posted", "repeated", "refused"]
    number: int | None
    seal: str | None
    refusals: list[dict[str, str]]


def read_entry(state: State) -> dict[str, Any]:
    """Refuse what is no entry at all, before the books are opened."""
    try:
        entry = Entry.model_validate(state["entry"])
    except ValidationError as error:
        return {"status": "refused", "refusals": complaints("shape", error)}
    return {"entry": entry.model_dump(mode="json")}


def post_entry(state: State) -> dict[str, Any]:
    """Post the entry; the rules are asked while the ledger is locked."""
    outcome = post(open_journal(), Entry.model_validate(state["entry"]))
    if outcome.posted is None:
        said = [refusal._asdict() for refusal in outcome.refusals]
        return {"status": "refused", "refusals": said}
    return {
        "status": "repeated" if outcome.repeated else "posted",
        "number": outcome.posted.number,
        "seal": outcome.posted.seal,
        "refusals": [],
    }


def choose_next(state: State) -> str:
    return END if state.get("status") == "refused" else "post"


builder = StateGraph(State, input_schema=Request)
builder.add_node("read", read_entry)
builder.add_node("post", post_entry)
builder.add_edge(START, "read")
builder.add_conditional_edges("read", choose_next, ["post", END])
builder.add_edge("post", END)

graph = builder.compile(name="bookkeeper")
