"""Guard's memory between runs, in the common git directory: safe to delete, bounded in size.

Parsed files by blob id, trials, receipts, the kept red sides of proofs, runs, and how long trials
take. Nothing here decides anything: a store that is absent, locked or corrupt costs time and
money, never a verdict.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from guard import __version__, model
from guard.storage.ahead import Bodies, read_bodies
from guard.storage.database import Database
from guard.storage.raw_files import RawFiles
from guard.storage.schema import STEPS, bound_rows, bound_trials

if TYPE_CHECKING:
    import sqlite3

    from guard.drift.versions import Held
    from guard.results import CaseResult, Report, TrialResult
    from guard.storage.records import Receipt

    Test = Callable[[Receipt], bool]

FOLDER: Final = "guard"
FILE: Final = "store.sqlite3"
#: Trials that a median looks back on.
TIMINGS: Final = 21
#: Values in one query; SQLite allows 999 in its oldest versions.
CHUNK: Final = 500


class Acceptance(Protocol):
    """Says which kept evidence may answer."""

    def __call__(self, receipt: Receipt) -> bool:
        """Tell whether a receipt may."""
        ...

    def trials(self, job: Any) -> bool:
        """Tell whether the trials of an interrupted run may, by the job that it was part of."""
        ...


class Store:
    """Open with `Store.open`; every method works whatever state the file is in."""

    def __init__(self, folder: str, warn: Callable[[str], None]) -> None:
        self.folder = folder
        """Guard's own folder in the common git directory; may not exist yet."""
        self._warn = warn
        self.made_by: Callable[[], Mapping[str, str]] = dict
        """Tells the job of CI that makes what is kept; nothing outside of any."""
        self.accepts: Acceptance | None = None
        """Which evidence may answer; None: all of it."""
        self._void: set[str] = set()
        self._ahead: Bodies = {}
        self._raw = RawFiles(os.path.join(folder, "raw"))
        self._database = Database(os.path.join(folder, FILE), STEPS, warn)

    @classmethod
    def open(cls, common_dir: str, warn: Callable[[str], None] | None = None) -> Store:
        """Return the store of a repository. Touches nothing until it is used.

        ``warn`` hears, once, why the store can't be used; by default standard error does.
        """
        return cls(os.path.join(common_dir, FOLDER), warn or _warn_on_stderr)

    @property
    def problem(self) -> str:
        """Why the store isn't used, or isn't written to; empty where all is well."""
        return self._database.problem

    def close(self) -> None:
        """Close the file; it is opened again where the store is used again."""
        self._database.close()

    # -- parsed files, by blob id ------------------------------------------------------------

    def get_parsed(self, kind: str, blob: str) -> Any:
        """Return what was parsed from a blob, or None; ``kind`` names format and version."""
        return self.get_parsed_many(kind, [blob]).get(blob)

    def get_parsed_many(self, kind: str, blobs: Iterable[str]) -> dict[str, Any]:
        """Return blob id → parsed value, of those that are known."""
        found: dict[str, Any] = {}
        wanted = list(blobs)
        for start in range(0, len(wanted), CHUNK):
            chunk = wanted[start : start + CHUNK]
            marks = ",".join("?" * len(chunk))
            rows = self._database.read(
                "SELECT blob, body FROM parsed WHERE kind = ? AND version = ?"
                f" AND blob IN ({marks})",
                [kind, __version__, *chunk],
            )
            # One call of the decoder for all: a call each would take longer than the decoding.
            values = json.loads("[" + ",".join(body for _, body in rows) + "]")
            found.update(zip((blob for blob, _ in rows), values, strict=True))
        return found

    def put_parsed(self, kind: str, parsed: Mapping[str, Any]) -> None:
        """Keep blob id → parsed value, all in one transaction. Values must be JSON."""
        rows = [(kind, __version__, blob, json.dumps(value)) for blob, value in parsed.items()]

        def work(db: sqlite3.Connection) -> None:
            db.executemany(
                "INSERT OR REPLACE INTO parsed (kind, version, blob, body) VALUES (?, ?, ?, ?)",
                rows,
            )
            bound_rows(db, "parsed")

        self._database.write(work)

    # -- trials ------------------------------------------------------------------------------

    def put_trial(
        self, run: str, agent: str, trial: TrialResult, *, side: str = "", key: str = ""
    ) -> bool:
        """Keep one trial of a run, as soon as it is graded; say whether it was kept.

        ``side`` is before or after in a proof; ``key`` is the receipt's key, by which an
        interrupted run is resumed.
        """
        from guard.storage.records import dump, trial_to_json

        job = self.made_by()
        body = dump({**trial_to_json(trial), **({"job": job} if job else {})})
        seen = trial.observation

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT OR REPLACE INTO trials (run, case_id, side, number, key, size, body)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [run, _name(trial.case), side, trial.number, key, len(body), body],
            )
            bound_trials(db)
            # A folder that was graded as it is took no time, and says nothing of a run's.
            if trial.verdict in (model.PASS, model.FAIL, model.XFAIL) and seen.seconds:
                db.execute(
                    "INSERT INTO timings (agent, case_id, seconds, cost_usd) VALUES (?, ?, ?, ?)",
                    [_name(agent), _name(trial.case), seen.seconds, trial.cost_usd],
                )
                bound_rows(db, "timings")

        return self._database.write(work)

    def get_trials(
        self, case: str, run: str | None = None, *, side: str = ""
    ) -> tuple[TrialResult, ...]:
        """Return a case's trials by number: of one run, or of the latest that has any."""
        if run is None:
            query = "SELECT run FROM trials WHERE case_id = ? AND side = ? ORDER BY id DESC LIMIT 1"
            rows = self._database.read(query, [_name(case), side])
            if not rows:
                return ()
            run = str(rows[0][0])
        return self._read_trials("run = ? AND case_id = ? AND side = ?", [run, _name(case), side])

    def find_trials(self, trial_id: str) -> tuple[TrialResult, ...]:
        """Return the trials of that id, less those on the broken side of a proof."""
        name = f'%"trial_id":"{trial_id}"%'
        return self._read_trials("side <> 'before' AND body LIKE ?", [name])

    def resumable_trials(self, case: str, key: str, *, side: str = "") -> tuple[TrialResult, ...]:
        """Return the trials that the latest run with that key left behind."""
        query = "SELECT run FROM trials WHERE case_id = ? AND side = ? AND key = ? ORDER BY id DESC"
        rows = self._database.read(f"{query} LIMIT 1", [_name(case), side, key])
        if not rows or not key:
            return ()
        return self._read_trials(
            "run = ? AND case_id = ? AND side = ? AND key = ?",
            [rows[0][0], _name(case), side, key],
            self.accepts,
        )

    def adopt_trials(self, run: str, case: str, key: str, *, side: str = "") -> None:
        """Make what the latest run with that key left behind part of a run that goes on with it.

        So it is found as one run's, also where that run is interrupted in turn.
        """
        of_case = "case_id = ? AND side = ? AND key = ?"
        latest = f"SELECT run FROM trials WHERE {of_case} ORDER BY id DESC LIMIT 1"
        values = [_name(case), side, key]

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                f"UPDATE OR REPLACE trials SET run = ? WHERE {of_case} AND run = ({latest})",
                [run, *values, *values],
            )

        self._database.write(work)

    def _read_trials(
        self, condition: str, values: list[Any], accepts: Acceptance | None = None
    ) -> tuple[TrialResult, ...]:
        from guard.storage.records import trial_from_json

        query = f"SELECT body FROM trials WHERE {condition} ORDER BY number"
        bodies = [json.loads(body) for (body,) in self._database.read(query, values)]
        if accepts and not all(accepts.trials(body.get("job")) for body in bodies):
            return ()
        return tuple(map(trial_from_json, bodies))

    # -- receipts, and the red sides of proofs -----------------------------------------------

    def put_receipt(self, receipt: Receipt) -> str:
        """Keep a receipt; return its digest, empty where it could not be kept."""
        return self._put_sealed("receipt", receipt)

    def find_receipt(self, key: str, fits: Test | None = None) -> Receipt | None:
        """Return the newest sound receipt for a key that is accepted here, and that fits."""
        return self._find_sealed("receipt", "key", key, fits)

    def get_receipt(self, digest: str) -> Receipt | None:
        """Return the receipt with that digest, as a record of regressions.json names it."""
        found = (self._find_sealed(kind, "digest", digest) for kind in ("receipt", "red"))
        return next(filter(None, found), None)

    def all_receipts(self, kind: str = "receipt") -> list[Receipt]:
        """Return every sound receipt of a kind, ``receipt`` or ``red``, the oldest first."""
        rows = self._database.read("SELECT body FROM receipts WHERE kind = ? ORDER BY id", [kind])
        return [receipt for (body,) in rows if (receipt := self._opened(body))]

    def put_red(self, red: Receipt) -> str:
        """Keep the red side of a proof: the evidence that a case failed on a broken state."""
        return self._put_sealed("red", red)

    def find_red(self, key: str, fits: Test | None = None) -> Receipt | None:
        """Return the newest sound red side for a key that is accepted here, and that fits."""
        return self._find_sealed("red", "key", key, fits)

    def read_ahead(self, kind: str, keys: Iterable[str]) -> None:
        """Read the receipts of many keys at once; each is used once, then looked up anew."""
        self._ahead.update(read_bodies(self._database, kind, keys))

    def put_imported(self, kind: str, receipt: Receipt) -> bool:
        """Keep what another machine made, as it is; say whether it was kept."""
        return self._put_row(kind, receipt)

    def _put_sealed(self, kind: str, receipt: Receipt) -> str:
        from guard.storage.records import made_in, seal

        sealed = seal(made_in(receipt, self.made_by()))
        return sealed.digest if self._put_row(kind, sealed) else ""

    def _put_row(self, kind: str, sealed: Receipt) -> bool:
        from guard.storage.records import receipt_to_json

        row = [kind, sealed.key, sealed.digest, _name(sealed.case), receipt_to_json(sealed)]

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT OR REPLACE INTO receipts (kind, key, digest, case_id, body)"
                " VALUES (?, ?, ?, ?, ?)",
                row,
            )
            bound_rows(db, "receipts")

        return self._database.write(work)

    def _find_sealed(
        self, kind: str, column: str, value: str, fits: Test | None = None
    ) -> Receipt | None:
        query = f"SELECT body FROM receipts WHERE kind = ? AND {column} = ? ORDER BY id DESC"
        ahead = self._ahead.pop((kind, value), None)
        for (body,) in self._database.read(query, [kind, value]) if ahead is None else ahead:
            receipt = self._opened(body)
            if receipt is None or value not in (receipt.key, receipt.digest):
                continue
            if (fits is None or fits(receipt)) and (self.accepts is None or self.accepts(receipt)):
                return receipt
        return None

    def _opened(self, body: str) -> Receipt | None:
        """Return the receipt if its digest fits; one that is void counts as absent, and is said."""
        from guard.storage.records import is_written_soundly, receipt_from_json

        receipt = receipt_from_json(body)
        if receipt is not None and is_written_soundly(receipt, body):
            return receipt
        name = receipt.case if receipt else "unknown"
        if name not in self._void:
            self._void.add(name)
            self._warn(f"a receipt of {name} doesn't fit its own digest: void, not used")
        return None

    # -- runs and verdicts -------------------------------------------------------------------

    def put_run(self, report: Report) -> None:
        """Keep a finished run, and each case's verdict as its last one."""
        from guard.storage.held import driven_by, held_rows

        verdicts = {case.case: case.verdict for case in report.cases}
        proofs = {proof.id: proof.verdict for proof in report.regressions}
        told = {"cases": verdicts, "regressions": proofs, "tree": report.tree}
        body = json.dumps({**told, "driven_by": driven_by(report)})
        run = [report.run_id, report.command, report.started, report.finished, report.exit_code]

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT OR REPLACE INTO runs (run, command, started, finished, exit_code, body)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [*run, body],
            )
            db.executemany(
                "INSERT OR REPLACE INTO verdicts (case_id, agent, verdict, run, date)"
                " VALUES (?, ?, ?, ?, ?)",
                [_verdict_row(c, report) for c in report.cases if c.verdict != model.NOT_TESTED],
            )
            db.executemany(
                "INSERT OR REPLACE INTO held (case_id, agent, run, date, body)"
                " VALUES (?, ?, ?, ?, ?)",
                [
                    [_name(case), _name(agent), report.run_id, report.finished, versions]
                    for case, agent, versions in held_rows(report)
                ],
            )
            bound_rows(db, "runs")

        self._database.write(work)

    def last_held(self) -> dict[str, Held]:
        """Return case id → by which versions it held when it was last run and did."""
        from guard.storage.held import held_from

        rows = self._database.read("SELECT case_id, date, body FROM held")
        return {_name_from(case): held_from(str(date), body) for case, date, body in rows}

    def get_runs(self, limit: int = 50) -> list[dict[str, Any]]:
        """Return the latest runs, the newest first."""
        names = ("run_id", "command", "started", "finished", "exit_code")
        rows = self._database.read(
            f"SELECT run, {', '.join(names[1:])}, body FROM runs ORDER BY id DESC LIMIT ?", [limit]
        )
        return [dict(zip(names, row[:-1], strict=True)) | json.loads(row[-1]) for row in rows]

    def last_verdicts(self) -> dict[str, str]:
        """Return case id → the verdict it got last."""
        rows = self._database.read("SELECT case_id, verdict FROM verdicts")
        return {_name_from(case): str(verdict) for case, verdict in rows}

    # -- what a trial takes ------------------------------------------------------------------

    def median_seconds(self, agent: str, case: str = "") -> float | None:
        """Return the median seconds of recent trials of a case, or of any of the agent's."""
        return self._median("seconds", agent, case)

    def median_cost(self, agent: str, case: str = "") -> float | None:
        """Return the median US dollars of recent trials; None where no target told."""
        return self._median("cost_usd", agent, case)

    def _median(self, column: str, agent: str, case: str) -> float | None:
        condition = "agent = ?" + (" AND case_id = ?" if case else "")
        rows = self._database.read(
            f"SELECT {column} FROM timings WHERE {condition} AND {column} IS NOT NULL"
            " ORDER BY id DESC LIMIT ?",
            [_name(agent), *([_name(case)] if case else []), TIMINGS],
        )
        values = sorted(float(value) for (value,) in rows)
        if not values:
            return None
        middle = len(values) // 2
        return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2

    # -- raw output --------------------------------------------------------------------------

    def put_raw(self, name: str, data: bytes) -> str:
        """Keep a client's raw output in a file; return its path, empty where it can't be kept."""
        return self._raw.put(name, data)

    def get_raw(self, name: str) -> bytes | None:
        """Return raw output, if it is still kept."""
        return self._raw.get(name)


def _warn_on_stderr(text: str) -> None:
    from guard.output import warn

    warn(text)


def _verdict_row(case: CaseResult, report: Report) -> list[Any]:
    agent = _name(case.agent)
    return [_name(case.case), agent, case.verdict, report.run_id, report.finished]


def _name(text: str) -> bytes:
    """Return a name as SQLite takes it: one from a path may hold bytes that are no UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def _name_from(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
