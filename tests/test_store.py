from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import pytest

from guard.drift.versions import Held, Versions
from guard.model import FAIL, NOT_TESTED, PASS
from guard.results import (
    CaseResult,
    Fingerprint,
    Observation,
    ProofResult,
    Report,
    TrialResult,
)
from guard.storage import mounts
from guard.storage import schema as store_schema
from guard.storage.records import Receipt
from guard.store import Store

RECEIPT = Receipt("sha256:key", "taxi", "expense", "PASS", 4, 4, "2026-07-12T10:00:00Z")


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, warnings: list[str]) -> Iterator[Store]:
    opened = Store.open(str(tmp_path), warnings.append)
    yield opened
    opened.close()
    if os.path.exists(file_of(tmp_path)) and not warnings:
        with sqlite3.connect(file_of(tmp_path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()


def file_of(common_dir: Path) -> str:
    return str(common_dir / "guard" / "store.sqlite3")


def trial(
    number: int, seconds: float = 1.0, verdict: str = PASS, case: str = "taxi"
) -> TrialResult:
    seen = Observation(seconds=seconds, cost_usd=seconds / 100)
    return TrialResult(case, number, verdict, observation=seen)


def read_everything(store: Store) -> None:
    assert store.get_parsed("case-1", "b1") is None
    assert store.get_parsed_many("case-1", ["b1", "b2"]) == {}
    assert store.get_trials("taxi") == ()
    assert store.resumable_trials("taxi", "k") == ()
    assert store.find_receipt("sha256:key") is None
    assert store.get_receipt("sha256:digest") is None
    assert store.find_red("sha256:key") is None
    assert store.all_receipts() == []
    assert store.last_verdicts() == {}
    assert store.last_held() == {}
    assert store.get_runs() == []
    assert store.median_seconds("expense", "taxi") is None
    assert store.get_raw("x") is None


def write_everything(store: Store) -> None:
    store.put_parsed("case-1", {"b1": {"id": "taxi"}})
    store.put_trial("run1", "expense", trial(1))
    store.put_receipt(RECEIPT)
    store.put_red(RECEIPT)
    store.put_run(Report("run", "run1"))


def test_reading_makes_no_file(store: Store, tmp_path: Path, warnings: list[str]) -> None:
    read_everything(store)
    assert list(tmp_path.iterdir()) == []
    assert warnings == []


def test_reading_does_not_import_sqlite(tmp_path: Path) -> None:
    code = (
        "import sys; from guard.store import Store; s = Store.open(sys.argv[1]);"
        "s.get_parsed('k', 'b'); sys.exit('sqlite3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0


# -- what is kept ---------------------------------------------------------------------------------


def test_parsed_values_by_kind_and_blob(store: Store) -> None:
    many = {f"b{n}": [n, None, "ü\udcff"] for n in range(1200)}
    store.put_parsed("case-1", many)
    assert store.get_parsed_many("case-1", [*many, "absent"]) == many
    assert store.get_parsed("case-1", "b7") == [7, None, "ü\udcff"]
    assert store.get_parsed("case-2", "b7") is None
    store.put_parsed("case-1", {"b7": "new"})
    assert store.get_parsed("case-1", "b7") == "new"


def test_values_of_another_guard_version_are_not_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_parsed("case-1", {"b1": 1})
    monkeypatch.setattr("guard.store.__version__", "0.0.1")
    assert store.get_parsed("case-1", "b1") is None


def test_trials_of_a_run_or_of_the_latest(store: Store) -> None:
    store.put_trial("run1", "expense", trial(2))
    store.put_trial("run1", "expense", trial(1, verdict=FAIL))
    store.put_trial("run2", "expense", trial(1, 9.0))
    store.put_trial("run3", "expense", trial(1, case="other"))
    store.put_trial("run3", "expense", trial(1, 7.0), side="before")
    assert [t.number for t in store.get_trials("taxi", "run1")] == [1, 2]
    assert store.get_trials("taxi", "run1")[0].verdict == FAIL
    assert store.get_trials("taxi")[0].observation.seconds == 9.0
    assert store.get_trials("taxi", side="before")[0].observation.seconds == 7.0
    assert store.get_trials("unknown") == ()


def test_a_trial_is_found_by_its_id_unless_it_ran_on_a_broken_state(store: Store) -> None:
    kept, broken = "0123456789abcdef", "fedcba9876543210"
    store.put_trial("run1", "expense", trial(1)._replace(trial_id=kept))
    store.put_trial("run1", "expense", trial(1)._replace(trial_id=broken), side="before")
    assert [t.trial_id for t in store.find_trials(kept)] == [kept]
    assert store.find_trials(broken) == store.find_trials(kept[:-1]) == ()


def test_an_interrupted_run_is_found_by_its_key(store: Store) -> None:
    store.put_trial("run1", "expense", trial(1), key="k1")
    store.put_trial("run1", "expense", trial(2), key="k1")
    store.put_trial("run2", "expense", trial(1), key="k2")
    assert [t.number for t in store.resumable_trials("taxi", "k1")] == [1, 2]
    assert store.resumable_trials("taxi", "k3") == ()
    assert store.resumable_trials("taxi", "") == ()


def test_what_a_run_takes_over_is_found_as_its_own(store: Store) -> None:
    """Of one side alone: other sides have trials of the same numbers and key."""
    for side in ("", "bisect 1"):
        store.put_trial("run1", "expense", trial(1), key="k", side=side)
    store.adopt_trials("run2", "taxi", "k", side="bisect 1")
    store.put_trial("run2", "expense", trial(2), key="k", side="bisect 1")
    taken = store.resumable_trials("taxi", "k", side="bisect 1")
    assert [t.number for t in taken] == [1, 2]
    assert [t.number for t in store.get_trials("taxi", "run1")] == [1]
    assert store.get_trials("taxi", "run1", side="bisect 1") == ()


def test_receipts_by_key_and_by_digest(store: Store) -> None:
    first = store.put_receipt(RECEIPT)
    second = store.put_receipt(RECEIPT._replace(trials=5, passed=5))
    assert first.startswith("sha256:")
    found = store.find_receipt("sha256:key")
    assert found is not None
    assert (found.passed, found.digest) == (5, second)
    assert store.get_receipt(first) == RECEIPT._replace(digest=first)
    assert [r.digest for r in store.all_receipts()] == [first, second]
    assert store.find_red("sha256:key") is None


def test_reds_are_kept_apart_and_found_by_digest(store: Store) -> None:
    digest = store.put_red(RECEIPT._replace(verdict=FAIL, passed=0))
    found = store.find_red("sha256:key")
    assert found is not None
    assert found.verdict == FAIL
    assert store.find_receipt("sha256:key") is None
    assert store.get_receipt(digest) == found


def test_a_receipt_that_was_altered_is_void_and_said_once(
    store: Store, tmp_path: Path, warnings: list[str]
) -> None:
    older = store.put_receipt(RECEIPT._replace(date="2026-07-01T00:00:00Z"))
    store.put_receipt(RECEIPT)
    with sqlite3.connect(file_of(tmp_path)) as db:
        db.execute(
            "UPDATE receipts SET body = replace(body, '\"passed\":4', '\"passed\":9') WHERE id=2"
        )
    db.close()
    for _ in range(2):
        found = store.find_receipt("sha256:key")
        assert found is not None
        assert found.digest == older
    assert warnings == ["a receipt of taxi doesn't fit its own digest: void, not used"]


def test_a_receipt_moved_to_another_key_is_not_found(store: Store, tmp_path: Path) -> None:
    store.put_receipt(RECEIPT)
    with sqlite3.connect(file_of(tmp_path)) as db:
        db.execute("UPDATE receipts SET key = 'sha256:other'")
    db.close()
    assert store.find_receipt("sha256:other") is None


def test_runs_and_last_verdicts(store: Store) -> None:
    cases = (CaseResult("taxi", "expense", FAIL), CaseResult("bad\udcff", "expense", PASS))
    proofs = (ProofResult("eur", "expense", "taxi", "PROVEN"),)
    store.put_run(Report("run", "r1", cases=cases, regressions=proofs, exit_code=1))
    later = (CaseResult("taxi", "expense", PASS), CaseResult("new", "expense", NOT_TESTED))
    store.put_run(Report("ci", "r2", cases=later))
    assert store.last_verdicts() == {"taxi": PASS, "bad\udcff": PASS}
    runs = store.get_runs()
    assert [(run["run_id"], run["command"], run["exit_code"]) for run in runs] == [
        ("r2", "ci", 0),
        ("r1", "run", 1),
    ]
    assert runs[1]["regressions"] == {"eur": "PROVEN"}


def test_medians_are_of_the_case_or_of_the_agent(store: Store) -> None:
    for number, seconds in enumerate([10.0, 30.0, 20.0], start=1):
        store.put_trial("run1", "expense", trial(number, seconds))
    store.put_trial("run1", "expense", trial(4, 0.0, verdict="ERROR"))
    store.put_trial("run1", "expense", trial(1, 100.0, case="other"))
    assert store.median_seconds("expense", "taxi") == 20.0
    assert store.median_cost("expense", "taxi") == 0.2
    assert store.median_seconds("expense") == 25.0
    assert store.median_seconds("expense", "unknown") is None
    assert store.median_seconds("stranger") is None


def test_a_cost_that_is_not_told_is_unknown_not_zero(store: Store) -> None:
    untold = trial(1)._replace(observation=Observation(seconds=1.0))
    store.put_trial("run1", "expense", untold)
    assert store.median_cost("expense", "taxi") is None
    assert store.median_seconds("expense", "taxi") == 1.0


def test_names_that_are_no_utf8(store: Store) -> None:
    odd = trial(1)._replace(case="bad\udcff")
    store.put_trial("run1", "agent\udcfe", odd)
    store.put_receipt(RECEIPT._replace(case="bad\udcff"))
    assert store.get_trials("bad\udcff") == (odd,)
    assert store.median_seconds("agent\udcfe", "bad\udcff") == 1.0
    found = store.find_receipt("sha256:key")
    assert found is not None
    assert found.case == "bad\udcff"


def test_raw_output(store: Store, tmp_path: Path) -> None:
    path = store.put_raw("run1/taxi", b"raw")
    assert Path(path).parent == tmp_path / "guard" / "raw"
    assert store.get_raw("run1/taxi") == b"raw"


def test_tables_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(store_schema.KEPT_ROWS, "runs", 5)
    monkeypatch.setitem(store_schema.KEPT_ROWS, "parsed", 10)
    for number in range(20):
        store.put_run(Report("run", f"r{number}"))
    store.put_parsed("case-1", {f"b{n}": n for n in range(30)})
    assert [run["run_id"] for run in store.get_runs()] == ["r19", "r18", "r17", "r16", "r15"]
    assert len(store.get_parsed_many("case-1", [f"b{n}" for n in range(30)])) == 10


def test_trial_records_are_bounded_by_size(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "t.sqlite3")
    for statement in chain.from_iterable(store_schema.STEPS):
        db.execute(statement)
    db.executemany(
        "INSERT INTO trials (run, case_id, side, number, size) VALUES ('r', 'c', '', ?, 100)",
        [(n,) for n in range(10)],
    )
    store_schema.bound_trials(db, limit=1000)
    assert db.execute("SELECT COUNT(*) FROM trials").fetchone() == (10,)
    store_schema.bound_trials(db, limit=900)
    assert [n for (n,) in db.execute("SELECT number FROM trials")] == [4, 5, 6, 7, 8, 9]
    db.close()


# -- when the file can't be used ------------------------------------------------------------------


def test_a_corrupt_file_is_said_once_and_run_without(
    store: Store, tmp_path: Path, warnings: list[str]
) -> None:
    os.mkdir(tmp_path / "guard")
    Path(file_of(tmp_path)).write_bytes(b"this is no database" * 500)
    read_everything(store)
    write_everything(store)
    read_everything(store)
    assert len(warnings) == 1
    assert "file is not a database" in warnings[0]
    assert "running without receipts" in warnings[0]
    assert f"rm {file_of(tmp_path)}*" in warnings[0]


def test_a_file_that_breaks_in_the_middle(
    store: Store, tmp_path: Path, warnings: list[str]
) -> None:
    write_everything(store)
    store.put_parsed("case-1", {f"b{n}": "x" * 1000 for n in range(200)})
    store.close()
    size = os.path.getsize(file_of(tmp_path))
    with open(file_of(tmp_path), "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    assert store.get_parsed_many("case-1", [f"b{n}" for n in range(200)]) == {}
    store.put_receipt(RECEIPT)
    assert len(warnings) == 1
    assert store.problem == warnings[0]


def test_a_newer_schema_is_left_alone(store: Store, tmp_path: Path, warnings: list[str]) -> None:
    store.put_receipt(RECEIPT)
    store.close()
    with sqlite3.connect(file_of(tmp_path)) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = Path(file_of(tmp_path)).read_bytes()
    newer = Store.open(str(tmp_path), warnings.append)
    read_everything(newer)
    write_everything(newer)
    newer.close()
    assert len(warnings) == 1
    assert "newer guard" in warnings[0]
    assert Path(file_of(tmp_path)).read_bytes() == before


@pytest.fixture
def of_version_1(tmp_path: Path) -> str:
    """A store that the first version made, with a receipt in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("guard.store.STEPS", store_schema.STEPS[:1])
        first = Store.open(str(tmp_path), lambda text: None)
        first.put_receipt(RECEIPT)
        first.close()
    return file_of(tmp_path)


def version_of(path: str) -> int:
    with sqlite3.connect(path) as db:
        found = int(db.execute("PRAGMA user_version").fetchone()[0])
    db.close()
    return found


def test_a_store_of_an_older_version_is_read_as_it_is_and_upgraded_by_a_write(
    store: Store, of_version_1: str, warnings: list[str]
) -> None:
    assert store.find_receipt(RECEIPT.key) is not None
    assert store.last_held() == {}
    assert version_of(of_version_1) == 1
    store.put_run(Report("run", "r1", cases=(held_case(),)))
    assert version_of(of_version_1) == store_schema.VERSION
    assert store.find_receipt(RECEIPT.key) is not None
    assert store.last_held()["taxi"].versions.models == ("m-1",)
    assert warnings == []


def test_an_older_store_that_cannot_be_written_still_answers(
    of_version_1: str, tmp_path: Path, warnings: list[str]
) -> None:
    folder = os.path.dirname(of_version_1)
    os.chmod(of_version_1, 0o444)
    os.chmod(folder, 0o555)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        store = Store.open(str(tmp_path), warnings.append)
        assert store.find_receipt(RECEIPT.key) is not None
        assert store.last_held() == {}
        store.put_run(Report("run", "r1", cases=(held_case(),)))
        assert store.find_receipt(RECEIPT.key) is not None
        store.close()
    finally:
        os.chmod(folder, 0o755)
    assert len(warnings) == 1


def test_two_processes_upgrade_an_older_store_once(of_version_1: str, tmp_path: Path) -> None:
    first, second = (Store.open(str(tmp_path), lambda text: None) for _ in range(2))
    assert first.last_held() == second.last_held() == {}
    first.put_run(Report("run", "r1", cases=(held_case(),)))
    second.put_run(Report("run", "r2", cases=(held_case("m-2"),)))
    assert first.last_held()["taxi"].versions.models == ("m-2",)
    assert [run["run_id"] for run in second.get_runs()] == ["r2", "r1"]
    first.close()
    second.close()


def held_case(model: str = "m-1", verdict: str = PASS) -> CaseResult:
    seen = Observation(model=model, program="brew 1.0", seconds=1.0)
    asked = Fingerprint("brew 1.0", "m")
    made = TrialResult("taxi", 1, verdict, observation=seen, asked=asked)
    return CaseResult("taxi", "expense", verdict, (made,))


def test_a_case_that_held_leaves_what_it_ran_by(store: Store) -> None:
    store.put_run(Report("run", "r1", finished="2026-07-12T10:00:00Z", cases=(held_case(),)))
    store.put_run(Report("run", "r2", cases=(held_case("m-2", FAIL),)))
    answered = held_case("m-3")._replace(reused="2026-07-12T10:00:00Z")
    store.put_run(Report("run", "r3", cases=(answered,)))
    held = Held(
        Versions(Fingerprint("brew 1.0", "m"), ("brew 1.0",), ("m-1",)), "2026-07-12T10:00:00Z"
    )
    assert store.last_held() == {"taxi": held}
    driven = [run["driven_by"] for run in store.get_runs()]
    assert driven[0] == {}  # a receipt answered
    assert driven[1]["expense"]["models"] == ["m-2"]


def test_the_fixed_side_of_a_proof_held_too(store: Store) -> None:
    proof = ProofResult("taxi", "expense", "taxi", "PROVEN", after_result=held_case())
    store.put_run(Report("verify", "r1", regressions=(proof,)))
    assert list(store.last_held()) == ["taxi"]


def test_a_network_file_system_is_not_trusted(
    store: Store, tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = tmp_path / "mounts"
    listing.write_text(f"server:/x {tmp_path} nfs4 rw 0 0\n", encoding="utf-8")
    monkeypatch.setattr(mounts, "MOUNTS", str(listing))
    read_everything(store)
    assert warnings == []
    write_everything(store)
    read_everything(store)
    assert len(warnings) == 1
    assert "network file system (nfs4)" in warnings[0]
    assert not os.path.exists(file_of(tmp_path))


def test_a_file_in_the_way_of_the_folder(store: Store, tmp_path: Path, warnings: list[str]) -> None:
    (tmp_path / "guard").write_text("", encoding="utf-8")
    write_everything(store)
    read_everything(store)
    assert len(warnings) == 1
    assert "nothing is kept" in warnings[0]


def test_an_empty_file_is_taken_over(store: Store, tmp_path: Path, warnings: list[str]) -> None:
    """A writer killed before it made the tables leaves one."""
    os.mkdir(tmp_path / "guard")
    Path(file_of(tmp_path)).touch()
    read_everything(store)
    assert store.put_receipt(RECEIPT)
    assert store.find_receipt("sha256:key")
    assert warnings == []


#: Opens the store of argv[1], reads a receipt, tries to write one; prints what it finds.
READ_ONLY = """
import hashlib, os, sqlite3, sys, urllib.parse
import guard.output
from guard.storage.records import Receipt
from guard.store import Store
if os.geteuid() == 0:  # everything is imported by now: nobody may not be able to
    os.setuid(65534)
said = []
store = Store.open(sys.argv[1], said.append)
found = store.find_receipt("sha256:key")
kept = store.put_receipt(Receipt("k2", "c", "a", "PASS", 1, 1, "d"))
store.put_parsed("case-1", {"b": 1})
print(found and found.case, repr(kept), len(said), *said)
"""


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that another user can reach (pytest's own is closed to all but its owner)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in [folder, folder / "guard"]:
        if path.exists():
            path.chmod(0o755)
    shutil.rmtree(folder)


def run_without_write_permission(common_dir: Path) -> str:
    """Run READ_ONLY on a folder nobody may write to; root may, so it becomes somebody else."""
    for path in [*common_dir.rglob("*"), common_dir]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(common_dir)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_read_only_folder_is_read_and_not_written(shared_folder: Path) -> None:
    store = Store.open(str(shared_folder))
    store.put_receipt(RECEIPT)
    store.close()
    said = run_without_write_permission(shared_folder)
    assert said.startswith("taxi '' 1 the store ")
    assert "read-only" in said


def test_a_read_only_folder_without_a_store(shared_folder: Path) -> None:
    said = run_without_write_permission(shared_folder)
    assert said.startswith("None '' 1 the store ")
    assert "Permission denied" in said
    assert list(shared_folder.iterdir()) == []


# -- many processes at once -----------------------------------------------------------------------

#: Writes argv[3] receipts and trials as writer argv[2], reading in between; prints what was kept.
WRITER = """
import sys
from guard.results import Observation, TrialResult
from guard.storage.records import Receipt
from guard.store import Store
store, name, count = Store.open(sys.argv[1]), sys.argv[2], int(sys.argv[3])
kept = 0
for n in range(count):
    store.find_receipt(f"{name}-{n - 1}")
    kept += bool(store.put_receipt(Receipt(f"{name}-{n}", name, "a", "PASS", 1, 1, "d")))
    kept += store.put_trial(name, "a", TrialResult(name, n, "PASS", observation=Observation()))
    store.put_parsed("case-1", {f"{name}-{n}": n})
    print(n, flush=True)
print("kept", kept)
store.close()
"""


def start_writer(common_dir: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(common_dir), name, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_six_writers_at_once_lose_nothing(store: Store, tmp_path: Path) -> None:
    each = 25
    writers = [start_writer(tmp_path, f"w{n}", each) for n in range(6)]
    for writer in writers:
        out, err = writer.communicate()
        assert writer.returncode == 0, err
        assert err == ""
        assert out.splitlines()[-1] == f"kept {2 * each}"
    assert len(store.all_receipts()) == 6 * each
    for n in range(6):
        assert len(store.get_trials(f"w{n}")) == each
    assert store.get_parsed_many("case-1", [f"w3-{n}" for n in range(each)])


def test_a_writer_that_is_killed_leaves_a_sound_store(store: Store, tmp_path: Path) -> None:
    writer = start_writer(tmp_path, "victim", 100_000)
    assert writer.stdout
    last = [int(writer.stdout.readline()) for _ in range(20)][-1]
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.communicate()
    assert store.find_receipt(f"victim-{last}") is not None
    assert store.put_receipt(RECEIPT)
    assert store.problem == ""


def test_a_lock_held_too_long_is_said_and_the_store_goes_on(
    store: Store, tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_receipt(RECEIPT)
    store.close()
    monkeypatch.setattr("guard.storage.database.BUSY_SECONDS", 0.1)
    other = sqlite3.connect(file_of(tmp_path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    assert store.put_receipt(RECEIPT._replace(key="sha256:late")) == ""
    assert time.monotonic() - started < 10
    assert store.find_receipt("sha256:key") is not None
    other.execute("ROLLBACK")
    other.close()
    assert store.put_receipt(RECEIPT._replace(key="sha256:late"))
    assert len(warnings) == 1
    assert "in use by other processes" in warnings[0]


def test_threads_share_one_store(store: Store) -> None:
    def keep(number: int) -> bool:
        return store.put_trial("run", "a", trial(number))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(keep, range(1, 41)))
    assert len(store.get_trials("taxi")) == 40


def test_an_error_inside_a_write_leaves_the_store_usable(store: Store) -> None:
    with pytest.raises(TypeError):
        store.put_parsed("case-1", {"b1": object()})
    store.put_parsed("case-1", {"b1": 1})
    assert store.get_parsed("case-1", "b1") == 1
