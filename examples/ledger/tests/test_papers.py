"""What may be said about a paper: the bound on made-up proposals, and nothing about models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger.papers.amounts import amounts_of, to_cents
from ledger.papers.proposals import Proposal, Reading, ground

PAPER = (Path(__file__).parent.parent / "evals/papers/invoice-paper.txt").read_text(
    encoding="utf-8"
)


def read(**changes: Any) -> Reading:
    stated: dict[str, Any] = {
        "kind": "purchase",
        "party": "Norsk Papir & Kontor AS",
        "document": "NPK-20417",
        "date": "2026-03-09",
        "total": "14 630.00",
        "quote": "Total NOK            14 630.00",
    }
    return Reading(proposals=[Proposal.model_validate(stated | changes)])


def test_what_stands_on_the_paper_is_kept_in_cents() -> None:
    [kept], dropped = ground(read(), PAPER)
    assert (kept["total"], dropped) == (14_630_00, [])


@pytest.mark.parametrize(
    "made_up",
    [
        {"total": "14 360.00"},
        {"total": "4 630.00"},  # inside another amount
        {"total": "11 704.00"},  # on the paper, but not in the line that is quoted
        {"quote": "Total NOK 99.00", "total": "99.00"},
        {"party": "Norsk Papir AS"},
        {"document": "NPK-20418"},
    ],
)
def test_what_is_made_up_is_dropped_and_named(made_up: dict[str, str]) -> None:
    kept, [why] = ground(read(**made_up), PAPER)
    assert kept == []
    assert next(iter(made_up.values())) in why


@pytest.mark.parametrize(
    "printed", ["1 234,50", "1.234,50", "1,234.50", "1234.50", "1\u00a0234,50"]
)
def test_an_amount_is_read_however_it_is_printed(printed: str) -> None:
    assert to_cents(printed) == 1234_50
    assert to_cents(f"-{printed}") == -1234_50
    assert amounts_of(f"Total {printed} NOK") == [printed]


@pytest.mark.parametrize("other", ["12", "12.3", "2026-03-09", "12.345", "1.2.34"])
def test_what_has_no_two_decimals_is_no_amount(other: str) -> None:
    assert amounts_of(other) == []
