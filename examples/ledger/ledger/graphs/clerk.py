"""The clerk: reads a paper, proposes what to book, and hands both on to people."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypedDict

from langgraph.graph import END, START, StateGraph

from ledger import storage
from ledger.model import make_model
from ledger.papers.proposals import Reading, ground

TASK: Final = """\
You read papers for a back office. Propose each booking that this paper asks for, and nothing that
it doesn't: a newsletter, a reminder of what was booked before, or a delivery note asks for none.
Copy; never calculate, complete or correct.

<paper>
{paper}
</paper>"""


class Request(TypedDict):
    """What it is asked: the path of a text file."""

    paper: str


class State(Request, total=False):
    """What it answers."""

    text: str
    reading: dict[str, Any]
    proposals: list[dict[str, Any]]
    dropped: list[str]
    n_proposals: int
    archived: str


def open_paper(state: State) -> dict[str, Any]:
    return {"text": Path(state["paper"]).read_text(encoding="utf-8")}


def read_paper(state: State) -> dict[str, Any]:
    """Ask the model. What isn't of the schema is an error here, never a proposal."""
    reader = make_model().with_structured_output(Reading)
    reading = Reading.model_validate(reader.invoke(TASK.format(paper=state["text"])))
    return {"reading": reading.model_dump(mode="json")}


def hold_to_the_paper(state: State) -> dict[str, Any]:
    """Drop what the model made up: code decides this, whatever the model says."""
    kept, dropped = ground(Reading.model_validate(state["reading"]), state["text"])
    return {"proposals": kept, "dropped": dropped, "n_proposals": len(kept)}


def hand_on(state: State) -> dict[str, Any]:
    """Archive the paper first: a proposal without its paper can't be reviewed."""
    name = Path(state["paper"]).name
    reference = storage.open_archive().keep(name, state["text"].encode())
    queue = storage.open_queue()
    for proposal in state["proposals"]:
        queue.put({"paper": reference, **proposal})
    return {"archived": reference}


builder = StateGraph(State, input_schema=Request)
builder.add_node("open", open_paper)
builder.add_node("read", read_paper)
builder.add_node("hold", hold_to_the_paper)
builder.add_node("hand_on", hand_on)
builder.add_edge(START, "open")
builder.add_edge("open", "read")
builder.add_edge("read", "hold")
builder.add_edge("hold", "hand_on")
builder.add_edge("hand_on", END)

graph = builder.compile(name="clerk")
