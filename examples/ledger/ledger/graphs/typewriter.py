"""The typewriter: names the schema type of a paper, or proposes none."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypedDict

from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, Field

from ledger.model import make_model
from ledger.papers.amounts import amounts_of
from ledger.papers.schemas import SCHEMAS

TASK: Final = """\
Name the type of this paper, if it is clearly one of these; else leave it out.
{schemas}

<paper>
{paper}
</paper>"""


class Guess(BaseModel):
    """The type of a paper."""

    schema_type: str | None = Field(default=None, description="one of the names, or nothing")
    because: str = Field(default="", description="the line that shows it, word for word")


class Request(TypedDict):
    """What it is asked: the path of a text file."""

    paper: str


class State(Request, total=False):
    """What it answers."""

    text: str
    guess: dict[str, Any]
    schema_type: str | None
    n_proposals: int


def open_paper(state: State) -> dict[str, Any]:
    return {"text": Path(state["paper"]).read_text(encoding="utf-8")}


def screen(state: State) -> str:
    """Ask no model about mail that states no amount: most of it is advertising."""
    return "guess" if amounts_of(state["text"]) else "settle"


def guess_type(state: State) -> dict[str, Any]:
    """Ask the model."""
    schemas = "\n".join(f"- {name}: {what}" for name, what in SCHEMAS.items())
    task = TASK.format(schemas=schemas, paper=state["text"])
    guess = Guess.model_validate(make_model().with_structured_output(Guess).invoke(task))
    return {"guess": guess.model_dump()}


def settle(state: State) -> dict[str, Any]:
    """Propose a type that there is a schema for, on a line that stands on the paper; else none."""
    guess = Guess.model_validate(state.get("guess", {}))
    shown = guess.because.strip() in {line.strip() for line in state["text"].splitlines() if line}
    found = guess.schema_type if guess.schema_type in SCHEMAS and shown else None
    return {"schema_type": found, "n_proposals": int(found is not None)}


builder = StateGraph(State, input_schema=Request)
builder.add_node("open", open_paper)
builder.add_node("guess", guess_type)
builder.add_node("settle", settle)
builder.add_edge(START, "open")
builder.add_conditional_edges("open", screen, ["guess", "settle"])
builder.add_edge("guess", "settle")
builder.add_edge("settle", END)

graph = builder.compile(name="typewriter")
