"""One SQLite file that many hooks use at once, and that no one depends on.

WAL, and ``BEGIN IMMEDIATE`` for every write: a deferred transaction that reads and then writes
is told "locked" at once, whatever the time-out. Whatever is wrong with the
file, guard runs on without it and says so once. sqlite3 is imported when the file is opened.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from guard.storage.mounts import network_filesystem

if TYPE_CHECKING:
    import sqlite3

#: Seconds that a writer waits for the others.
BUSY_SECONDS: Final = 10.0

Work = Callable[["sqlite3.Connection"], None]


class Database:
    """The file, opened at its first use; a mere read never makes it."""

    def __init__(
        self, path: str, steps: Sequence[Sequence[str]], warn: Callable[[str], None]
    ) -> None:
        """``steps``: the statements that make each version of the file out of the one before."""
        self.path = path
        self.problem = ""
        """Why it isn't used, or not written to; empty where all is well."""
        self._steps = steps
        self._version = len(steps)
        self._found = 0
        """Version of the open file: one that is only read stays as old as it is."""
        self._warn = warn
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._off = False
        self._writable = True

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows; none where there is no file or it can't be read."""
        with self._lock:
            db = self._open(creating=False)
            if db is None:
                return []
            import sqlite3

            try:
                return db.execute(query, values).fetchall()
            except sqlite3.Error as exc:
                if self._found == self._version or "no such table" not in str(exc):
                    self._give_up(exc)
                return []

    def write(self, work: Work) -> bool:
        """Run ``work`` in one transaction; say whether it was kept."""
        with self._lock:
            db = self._open(creating=True)
            if db is None or not self._writable:
                return False
            import sqlite3

            try:
                db.execute("BEGIN IMMEDIATE")
                work(db)
                db.execute("COMMIT")
                return True
            except sqlite3.Error as exc:
                self._fail_write(exc)
                return False
            finally:
                if self._db is not None and self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file; it is opened again where it is used again."""
        with self._lock:
            if self._db is not None:
                self._db.close()
            self._db = None

    def __del__(self) -> None:
        self.close()

    def _open(self, creating: bool) -> sqlite3.Connection | None:
        if self._off or (self._db is not None and not (creating and self._is_older())):
            return self._db
        if not creating and not os.path.exists(self.path):
            return None
        folder = os.path.dirname(self.path)
        network = network_filesystem(folder, creating and not os.path.exists(self.path))
        if network:
            self._turn_off(f"lies on a network file system ({network})")
            return None
        try:
            import sqlite3
        except ImportError:
            self._turn_off("needs Python's sqlite3 module, which this Python was built without")
            return None
        try:
            return self._open_file(folder, creating)
        except OSError as exc:
            self._writable = False
            self._say(f"can't be written ({exc.strerror}): nothing is kept")
        except sqlite3.Error as exc:
            self._give_up(exc)
        return None

    def _is_older(self) -> bool:
        return self._found < self._version and self._writable

    def _open_file(self, folder: str, creating: bool) -> sqlite3.Connection | None:
        if self._db is not None:
            self._upgrade(self._db)
            return self._db
        if creating and not os.path.exists(self.path):
            os.makedirs(folder, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(13, "Permission denied")
        db, found = self._connect()
        if found > self._version:
            db.close()
            self._turn_off("was written by a newer guard: upgrade this one")
            return None
        if not (found or creating):  # being made by another process just now, or left half made
            db.close()
            return None
        self._db, self._found = db, found
        if creating and self._is_older():
            self._upgrade(db)
        return db

    def _connect(self) -> tuple[sqlite3.Connection, int]:
        """Connect and read the schema's version; read-only where nothing can be written."""
        import sqlite3

        db = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            return self._prepared(db)
        except sqlite3.OperationalError:
            db.close()
            if os.access(os.path.dirname(self.path), os.W_OK) and os.access(self.path, os.W_OK):
                raise
        # WAL can't be read where its index can't be made; immutable needs none.
        from urllib.parse import quote

        self._writable = False
        self._say("is read-only: nothing new is kept")
        uri = f"file:{quote(os.fsencode(self.path))}?mode=ro&immutable=1"
        return self._prepared(
            sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        )

    def _prepared(self, db: sqlite3.Connection) -> tuple[sqlite3.Connection, int]:
        db.execute("PRAGMA synchronous = NORMAL")
        return db, int(db.execute("PRAGMA user_version").fetchone()[0])

    def _upgrade(self, db: sqlite3.Connection) -> None:
        """Make the tables that are missing, unless another process has been quicker."""
        if not self._found:
            self._use_wal(db)
        db.execute("BEGIN IMMEDIATE")
        found = int(db.execute("PRAGMA user_version").fetchone()[0])
        if found < self._version:
            for statement in chain.from_iterable(self._steps[found:]):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {self._version}")
        db.execute("COMMIT")
        self._found = self._version

    def _use_wal(self, db: sqlite3.Connection) -> None:
        """Switch to WAL; SQLite doesn't wait here, so that two who start together must."""
        import sqlite3
        import time

        for _ in range(int(BUSY_SECONDS / 0.02)):
            try:
                db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as exc:
                if "locked" not in str(exc):
                    raise
                time.sleep(0.02)

    def _fail_write(self, exc: sqlite3.Error) -> None:
        said = str(exc)
        if "locked" in said or "busy" in said:
            self._say("is in use by other processes: a result was not kept")
        elif "readonly" in said or "full" in said or "unable to open" in said:
            self._writable = False
            self._say(f"can't be written ({said}): nothing new is kept")
        else:
            self._give_up(exc)

    def _give_up(self, exc: sqlite3.Error) -> None:
        from guard.output import shell_path

        mend = f"; it is safe to delete: rm {shell_path(self.path)}*"
        self._turn_off(f"can't be used ({exc}){'' if 'locked' in str(exc) else mend}")

    def _turn_off(self, problem: str) -> None:
        self._off = True
        if self._db is not None:
            self._db.close()
        self._db = None
        self._say(f"{problem}; running without receipts")

    def _say(self, problem: str) -> None:
        if self.problem:
            return
        from guard.output import printable

        self.problem = f"the store {printable(self.path)} {problem}"
        self._warn(self.problem)
