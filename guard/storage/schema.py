"""The store's tables, and how much of each is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3

_FIRST: Final = (
    """CREATE TABLE parsed (
         id INTEGER PRIMARY KEY, kind TEXT, version TEXT, blob TEXT, body TEXT,
         UNIQUE (kind, version, blob))""",
    """CREATE TABLE trials (
         id INTEGER PRIMARY KEY, run TEXT, case_id BLOB, side TEXT, number INTEGER, key TEXT,
         size INTEGER, body TEXT,
         UNIQUE (run, case_id, side, number))""",
    "CREATE INDEX trials_by_case ON trials (case_id, side)",
    "CREATE INDEX trials_by_size ON trials (size)",
    """CREATE TABLE receipts (
         id INTEGER PRIMARY KEY, kind TEXT, key TEXT, digest TEXT, case_id BLOB, body TEXT,
         UNIQUE (kind, digest))""",
    "CREATE INDEX receipts_by_key ON receipts (kind, key)",
    """CREATE TABLE runs (
         id INTEGER PRIMARY KEY, run TEXT UNIQUE, command TEXT, started TEXT, finished TEXT,
         exit_code INTEGER, body TEXT)""",
    """CREATE TABLE verdicts (
         case_id BLOB PRIMARY KEY, agent BLOB, verdict TEXT, run TEXT, date TEXT)""",
    """CREATE TABLE timings (
         id INTEGER PRIMARY KEY, agent BLOB, case_id BLOB, seconds REAL, cost_usd REAL)""",
    "CREATE INDEX timings_by_case ON timings (agent, case_id)",
)
#: By which versions each case held last.
_HELD: Final = (
    """CREATE TABLE held (
         case_id BLOB PRIMARY KEY, agent BLOB, run TEXT, date TEXT, body TEXT)""",
)
#: What makes each version of the file out of the one before: add a step, alter none.
STEPS: Final = (_FIRST, _HELD)
#: A store of an older version gets the steps that it lacks; one of a newer is left alone.
VERSION: Final = len(STEPS)
#: Rows kept of each table, the newest; verdicts and held are bounded by the number of cases.
KEPT_ROWS: Final = {"parsed": 50_000, "receipts": 20_000, "runs": 1_000, "timings": 20_000}
#: Characters of trial records kept in all.
KEPT_TRIALS: Final = 64 << 20


def bound_rows(db: sqlite3.Connection, table: str) -> None:
    """Delete the oldest rows; ids only grow, so that this looks at no row in between."""
    db.execute(
        f"DELETE FROM {table} WHERE id <= (SELECT MAX(id) FROM {table}) - ?", [KEPT_ROWS[table]]
    )


def bound_trials(db: sqlite3.Connection, limit: int = KEPT_TRIALS) -> None:
    """Delete the oldest trials once their records grow past the limit, and some more at once."""
    (total,) = db.execute("SELECT SUM(size) FROM trials").fetchone()
    if total > limit:
        db.execute(
            "DELETE FROM trials WHERE id IN (SELECT id FROM"
            " (SELECT id, SUM(size) OVER (ORDER BY id DESC) AS newer FROM trials) WHERE newer > ?)",
            [limit * 3 // 4],
        )
