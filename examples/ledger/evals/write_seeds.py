"""Write the ledgers that cases begin with: `python evals/write_seeds.py`, after the seal changed.

Each is sealed as the bookkeeper would have sealed it, so that a finding is the seed's and not an
accident of how it was typed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from ledger.books.chain import GENESIS, seal  # noqa: E402  # found by the line above
from ledger.books.entry import Entry  # noqa: E402
from ledger.drafting import Event, draft  # noqa: E402

PAPIR: dict[str, Any] = {
    "party": "Norsk Papir & Kontor AS",
    "document": "NPK-20417",
    "net": 11_704_00,
}
PAID: dict[str, Any] = {
    **PAPIR,
    "kind": "payment",
    "net": 14_630_00,
    "vat": "none",
    "prepared_by": "cy",
}
TAXI: dict[str, Any] = {
    "party": "Bergen Taxi SA",
    "document": "88213-5",
    "net": 402_68,
    "vat": "none",
}


def book(key: str, day: int, approved_by: str | None = None, **event: Any) -> Entry:
    stated = {"kind": "purchase", "prepared_by": "ana", "date": f"2026-03-{day:02}", **event}
    entry = draft(Event.model_validate({"key": key, **stated}))
    return entry.model_copy(update={"approved_by": approved_by})


SOUND = [
    book("paper-1", 9, "bo", **PAPIR),
    book("taxi-1", 17, kind="expense", **TAXI),
    book("pay-1", 30, "bo", **PAID),
]
SEEDS = {
    "sound": SOUND,
    "one-taxi": SOUND[1:2],
    "paid-twice": [*SOUND, book("pay-2", 31, "bo", **PAID)],
    "paid-twice-respelled": [*SOUND, book("pay-2", 31, "bo", **{**PAID, "document": "npk 20417"})],
    "past-the-gate": [
        *SOUND,
        book("desk-1", 20, party="Balanse AS", document="B-118", net=24_000_00),
        book("chair-1", 21, "ana", party="Balanse AS", document="B-119", net=900_00),
    ],
}


def write_sql(entries: list[Entry]) -> str:
    """Return statements that lay a whole ledger."""
    written: list[str] = []
    before = GENESIS
    for number, entry in enumerate(entries, 1):
        before = seal(entry, before)
        head = (number, *entry.model_dump(mode="json", exclude={"lines"}).values(), before)
        written.append(f"insert into entries values ({', '.join(map(quote, head))});")
        for position, line in enumerate(entry.lines, 1):
            body = (number, position, *line.model_dump().values())
            written.append(f"insert into lines values ({', '.join(map(quote, body))});")
    return "\n".join(written) + "\n"


def quote(value: Any) -> str:
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


if __name__ == "__main__":
    for name, entries in SEEDS.items():
        (HERE / "seeds" / f"{name}.sql").write_text(write_sql(entries), encoding="utf-8")
