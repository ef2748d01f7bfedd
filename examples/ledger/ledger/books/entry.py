"""A journal entry: what is posted, once and for ever."""

from __future__ import annotations

from datetime import date

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError


class Line(BaseModel):
    """One account, debited or credited."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    account: str
    debit: NonNegativeInt = 0
    credit: NonNegativeInt = 0


class Entry(BaseModel):
    """Lines that belong together. It parses any shape; `ledger.books.rules` judges the content."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(min_length=1)
    """Idempotency key: whoever repeats a request repeats its key, and nothing is posted twice."""
    date: date
    memo: str
    lines: tuple[Line, ...]
    prepared_by: str = Field(min_length=1)
    approved_by: str | None = None
    document: str | None = None
    """The reference that stands on the paper it came from."""

    @property
    def period(self) -> str:
        """The month it belongs to, such as 2026-03."""
        return self.date.isoformat()[:7]

    @property
    def debits(self) -> int:
        return sum(line.debit for line in self.lines)

    @property
    def credits(self) -> int:
        return sum(line.credit for line in self.lines)


def complaints(rule: str, error: ValidationError) -> list[dict[str, str]]:
    """Return what is wrong with a document's shape, a line each, under the name of a rule."""
    return [
        {"rule": rule, "reason": f"{'.'.join(map(str, one['loc']))}: {one['msg']}"}
        for one in error.errors()
    ]
