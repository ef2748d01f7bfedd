"""The types of paper that the back office has a schema for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SCHEMAS: Final[Mapping[str, str]] = {
    "invoice": "asks us to pay later: a number, a due date, a total",
    "receipt": "says that something was paid on the spot: a till, a taxi, a ticket",
    "credit_note": "takes back all or part of an invoice that it names",
    "delivery_note": "lists what was delivered; asks for nothing",
}
