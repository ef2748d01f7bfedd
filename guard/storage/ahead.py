"""Reads the receipts of many keys in few queries, before each is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from guard.storage.database import Database

#: Keys in one query; SQLite allows 999 values in its oldest versions.
CHUNK: Final = 500
#: (kind, key) → the bodies of its receipts, the newest first.
Bodies = dict[tuple[str, str], list[tuple[str]]]


def read_bodies(database: Database, kind: str, keys: Iterable[str]) -> Bodies:
    """Return the bodies of receipts of a kind; none for a key that has none."""
    wanted = [*dict.fromkeys(keys)]
    found: Bodies = {(kind, key): [] for key in wanted}
    for key, body in _rows(database, kind, wanted):
        found[kind, key].append((body,))
    return found


def _rows(database: Database, kind: str, keys: list[str]) -> Iterator[tuple[str, str]]:
    for start in range(0, len(keys), CHUNK):
        chunk = keys[start : start + CHUNK]
        marks = ",".join("?" * len(chunk))
        query = f"SELECT key, body FROM receipts WHERE kind = ? AND key IN ({marks})"
        yield from database.read(f"{query} ORDER BY id DESC", [kind, *chunk])
