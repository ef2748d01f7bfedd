"""Whole runs: a program that books into a database, graded by what it really wrote."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from guard_postgres.servers import URL
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, config
from tests.plugins.postgres.conftest import databases_of
from tests.plugins.postgres.trees import LEDGER

BOOK = """\
import os, sys, time
import psycopg

with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as ledger:
    for word in sys.argv[1].split():
        if word == "leak":
            print(os.environ["DATABASE_URL"], os.environ["PGPASSWORD"])
        elif word == "wait":
            open(os.environ["HOME"] + "/../waiting", "w").close()
            print("waiting", flush=True)
            time.sleep(60)
        else:
            ledger.execute("insert into entries (account) values (%s)", (word,))
print("booked")
"""
AGENT: Mapping[str, Any] = {
    "paths": ["agent/**"],
    "workspace": "agent",
    "target": "command",
    "python": sys.executable,
    "options": {"argv": ["python", "book.py", "{utterance}"], "deterministic": True},
    "cases": ["evals/*.md"],
    "prerequisites": ["postgres:db/alembic.ini"],
    "trials": 1,
}
COUNT = "select count(*) from entries"


def counts(number: int) -> dict[str, Any]:
    return {"rows": [{"query": COUNT, "equals": number}]}


@pytest.fixture
def book(repo: ScratchRepo, guard: GuardCommand, url: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv(URL, url)
    repo.write({**LEDGER, **config({"clerk": AGENT}), "agent/book.py": BOOK})

    def write(*cases: Mapping[str, str]) -> GuardCommand:
        for each in cases:
            repo.write({**each})
        return guard

    return write


def test_what_an_agent_wrote_is_counted_and_never_read_from_its_answer(book: Any, url: str) -> None:
    seeded = {"postgres": {"seed": ["insert into entries (account) values ('old')"]}}
    guard = book(
        case("rent tea", counts(3), id="books", given=seeded),
        # It says that it booked, and a direct write is what was forbidden.
        case("rent", {**counts(0), "reply_contains": ["booked"]}, id="writes"),
        case("rent", {"rows": [{"query": "select * from nowhere", "equals": 1}]}, id="odd"),
    )
    guard("check").ends_in(0)
    report = guard.report("--json", "-", ends_in=1)
    found = {each["id"]: (each["verdict"], each["runs"][0]) for each in report["cases"]}
    assert {name: verdict for name, (verdict, _) in found.items()} == {
        "books": "PASS",
        "writes": "FAIL",
        "odd": "ERROR",
    }
    rows = {"query": COUNT, "columns": ["count"], "rows": [[3]]}
    assert found["books"][1]["services"] == {"postgres": {"rows": [rows]}}
    reasons = [run["execution_provenance"]["reason"] for _, run in found.values()]
    assert f"rows: {COUNT} gave 1, not 0" in reasons
    assert any('relation "nowhere" does not exist' in reason for reason in reasons)
    assert not databases_of(url)
    # A receipt stands for it until a migration changes.
    path = "db/migrations/versions/0001_step.py"
    guard.repo.commit("Start")
    guard.repo.write({path: LEDGER[path] + "# changed\n"})
    guard("affected").says("books", "depends")


def test_the_password_stands_nowhere(book: Any, repo: ScratchRepo, url: str) -> None:
    password = urlsplit(url).password
    assert password
    guard = book(case("leak", {"reply_contains": ["nothing of it"]}))
    outcome = guard("run", "--json", "report.json", "--html", "report.html", "--junit", "r.xml")
    outcome.ends_in(1).says_not(password)
    guard("show", "one").says("[redacted postgres]").says_not(password)
    files = [path for path in repo.root.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if password.encode() in path.read_bytes()] == []


def test_what_asks_for_no_database_can_not_count_rows(book: Any, repo: ScratchRepo) -> None:
    without = {key: value for key, value in AGENT.items() if key != "prerequisites"}
    guard = book(case("rent", counts(1)))
    repo.write(config({"clerk": without}))
    said = "expected.rows: asks for the prerequisite postgres:…, which neither the case nor its"
    guard("check").refuses("evals/one.md:4", said)


def test_without_a_server_a_case_is_skipped_and_never_passes(
    book: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, "postgresql://u:secret-word@127.0.0.1:1/d")
    guard = book(case("rent", counts(1)))
    outcome = guard("run").ends_in(0).says("SKIP", "no PostgreSQL server answers at 127.0.0.1:1")
    outcome.says_not("secret-word")
    guard("run", "--strict").ends_in(3)


def waiting_guard(guard: GuardCommand, url: str, before: set[str]) -> Any:
    """Start a guard; return it once its trial has a database and works in it."""
    process = guard.start("run", "--no-cache")
    until = time.monotonic() + 30
    while not (databases_of(url) - before) and time.monotonic() < until:
        time.sleep(0.05)
    assert databases_of(url) - before
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_database_goes_with_a_guard_that_is_stopped(
    book: Any, url: str, number: signal.Signals
) -> None:
    guard = book(case("rent", counts(1)))
    guard("run").ends_in(0)  # the template is there
    slow = book(case("wait", counts(0)))
    process = waiting_guard(slow, url, databases_of(url))
    time.sleep(0.3)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=30)
    if number == signal.SIGINT:
        assert process.returncode == 130, out + err
    else:
        assert databases_of(url)
        book(case("rent", counts(1)))
        guard("run", "--no-cache").ends_in(0)
    assert not databases_of(url)


@pytest.mark.slow
def test_a_proof_is_told_apart_by_rows(book: Any, repo: ScratchRepo) -> None:
    """What the queries gave is kept with a proof, and today's checks tell it apart."""
    repo.write({"agent/book.py": BOOK.replace("(word,)", "(word.upper(),)")})
    repo.commit("Start")
    expected = {"rows": [{"query": "select account from entries", "equals": "rent"}]}
    guard = book(case("rent", expected))
    guard("prove", "one").ends_in(3)
    repo.write({"agent/book.py": BOOK})
    guard("prove", "one").ends_in(0)
    kept = json.loads((Path(repo.root) / "regressions/one/rejected.json").read_text())
    assert kept["observation"]["services"]["postgres"]["rows"][0]["rows"] == [["RENT"]]
    guard("check").ends_in(0).says("1 record checked")
