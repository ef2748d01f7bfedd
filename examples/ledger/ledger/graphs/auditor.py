"""The auditor: each family of checks looks at the whole ledger, side by side; none writes."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ledger.audit import FAMILIES
from ledger.books.journal import open_journal, read_journal


class Request(TypedDict, total=False):
    """What it is asked: which families, or all of them."""

    families: list[str]


class State(Request, total=False):
    """What it answers."""

    up_to: int
    found: Annotated[list[dict[str, Any]], operator.add]
    findings: list[dict[str, Any]]
    n_findings: int


class Task(TypedDict):
    """One family's share of the work."""

    family: str
    up_to: int


def open_audit(state: State) -> dict[str, Any]:
    """Fix the last entry that is looked at: the books stay open while an audit runs."""
    unknown = sorted(set(state.get("families", [])) - FAMILIES.keys())
    if unknown:
        raise ValueError(f"no such family: {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    ledger = read_journal(open_journal())
    return {"up_to": ledger[-1].number if ledger else 0}


def share_out(state: State) -> list[Send]:
    families = state.get("families") or list(FAMILIES)
    return [Send("examine", Task(family=family, up_to=state["up_to"])) for family in families]


def examine(state: Task) -> dict[str, Any]:
    """Let one family look."""
    find = FAMILIES[state["family"]]
    ledger = read_journal(open_journal(), state["up_to"])
    return {"found": [finding._asdict() for finding in find(ledger)]}


def report(state: State) -> dict[str, Any]:
    """Put the findings in order: which family was faster is nobody's concern."""
    findings = sorted(state["found"], key=lambda one: (one["entry"], one["family"]))
    return {"findings": findings, "n_findings": len(findings)}


builder = StateGraph(State, input_schema=Request)
builder.add_node("open", open_audit)
builder.add_node("examine", examine, input_schema=Task)
builder.add_node("report", report)
builder.add_edge(START, "open")
builder.add_conditional_edges("open", share_out, ["examine"])
builder.add_edge("examine", "report")
builder.add_edge("report", END)

graph = builder.compile(name="auditor")
