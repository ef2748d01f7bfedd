"""The chain: each entry is sealed with the seal before it, so that no past entry can change."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from ledger.books.entry import Entry

#: What the first entry is chained to.
GENESIS: Final = "0" * 64


def seal(entry: Entry, before: str) -> str:
    """Return the seal of an entry that follows the one sealed ``before``."""
    body = json.dumps(entry.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{before}\n{body}".encode()).hexdigest()
