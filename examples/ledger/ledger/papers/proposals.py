"""What a reader may propose about a paper, and the bound that keeps it from making things up."""

from __future__ import annotations

import datetime
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from ledger.papers.amounts import amounts_of, to_cents


class Proposal(BaseModel):
    """One booking that the paper asks for."""

    kind: Literal["purchase", "expense"] = Field(
        description="purchase: to be paid later; expense: an employee has paid it"
    )
    party: str = Field(description="who it is from, as printed")
    document: str = Field(description="the paper's own number, as printed")
    date: datetime.date = Field(description="the day of the paper")
    total: str = Field(description="the total with VAT, the digits as printed, no currency")
    quote: str = Field(description="the one line that states the total, word for word")


class Reading(BaseModel):
    """All that a paper asks to be booked; nothing, if it asks for nothing."""

    proposals: list[Proposal] = []


class Grounded(NamedTuple):
    """A reading, held against its paper."""

    kept: list[dict[str, Any]]
    dropped: list[str]
    """Why, for each that isn't kept."""


def ground(reading: Reading, paper: str) -> Grounded:
    """Keep the proposals of which every word that matters stands on the paper."""
    kept: list[dict[str, Any]] = []
    dropped: list[str] = []
    for proposal in reading.proposals:
        if made_up := _made_up(proposal, paper):
            dropped.append(f"not on the paper: {made_up}")
        else:
            kept.append(_settled(proposal))
    return Grounded(kept, dropped)


def _made_up(proposal: Proposal, paper: str) -> str | None:
    lines = {line.strip() for line in paper.splitlines()}
    if proposal.quote.strip() not in lines:
        return proposal.quote
    if proposal.total not in amounts_of(proposal.quote):
        return proposal.total
    return next((one for one in (proposal.party, proposal.document) if one not in paper), None)


def _settled(proposal: Proposal) -> dict[str, Any]:
    said = proposal.model_dump(mode="json")
    return {**said, "total": to_cents(proposal.total), "printed": proposal.total}
