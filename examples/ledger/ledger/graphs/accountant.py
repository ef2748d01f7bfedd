"""The accountant: drafts the entry for an event, asks at the gate, and routes to the bookkeeper."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ledger.books.entry import Entry, complaints
from ledger.drafting import Event, draft
from ledger.graphs import bookkeeper
from ledger.policy import APPROVAL_LIMIT, needs_approval


class Request(TypedDict):
    """What it is asked: an `Event` as a JSON document."""

    event: dict[str, Any]


class State(Request, total=False):
    """What it answers: the last four are the bookkeeper's."""

    entry: dict[str, Any]
    status: Literal["posted", "repeated", "refused", "declined"]
    number: int | None
    seal: str | None
    refusals: list[dict[str, str]]


class Answer(BaseModel):
    """What is said at the gate."""

    model_config = ConfigDict(extra="forbid")

    approved: bool
    by: str = Field(min_length=1)


def draft_entry(state: State) -> dict[str, Any]:
    """Draft the entry, or refuse what is no event."""
    try:
        entry = draft(Event.model_validate(state["event"]))
    except ValidationError as error:
        return {"status": "refused", "refusals": complaints("event", error)}
    return {"entry": entry.model_dump(mode="json")}


def ask_approval(state: State) -> dict[str, Any]:
    """Stop until somebody other than the preparer has decided."""
    entry = Entry.model_validate(state["entry"])
    question = {
        "gate": "approval",
        "entry": entry.key,
        "total": entry.debits,
        "limit": APPROVAL_LIMIT,
        "prepared_by": entry.prepared_by,
        "note": "",
    }
    while True:
        answer = Answer.model_validate(interrupt(question))
        if not answer.approved:
            return {"status": "declined", "refusals": []}
        if answer.by != entry.prepared_by:
            approved = entry.model_copy(update={"approved_by": answer.by})
            return {"entry": approved.model_dump(mode="json")}
        question["note"] = f"{answer.by} prepared it: somebody else must approve it"


def route_draft(state: State) -> str:
    if state.get("status") == "refused":
        return END
    entry = Entry.model_validate(state["entry"])
    return "approval" if needs_approval(entry.debits) else "bookkeeper"


def route_decision(state: State) -> str:
    return END if state.get("status") == "declined" else "bookkeeper"


builder = StateGraph(State, input_schema=Request)
builder.add_node("draft", draft_entry)
builder.add_node("approval", ask_approval)
builder.add_node("bookkeeper", bookkeeper.graph)
builder.add_edge(START, "draft")
builder.add_conditional_edges("draft", route_draft, ["approval", "bookkeeper", END])
builder.add_conditional_edges("approval", route_decision, ["bookkeeper", END])
builder.add_edge("bookkeeper", END)

graph = builder.compile(name="accountant")
