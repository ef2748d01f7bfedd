"""A real PostgreSQL server for the tests of databases: started once, never skipped.

``GUARD_POSTGRES_URL`` names another one, as CI does.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from guard.plugin import Ground, Provided
from guard_postgres.connections import connect, new_token
from guard_postgres.databases import provide_database
from guard_postgres.embedded import Embedded
from guard_postgres.servers import URL, Server, close_server, current_server, login_of
from guard_postgres.sweeping import drop_database
from tests.plugins.postgres.trees import Tree

#: Read now: each test begins without the user's variables.
NAMED = os.environ.get(URL, "")


@pytest.fixture(scope="session")
def own_server() -> Iterator[Embedded]:
    """A server of the tests' own."""
    server = Embedded()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server that is there already, for a role of these tests' own.

    What that role owns nobody else makes: several of these run at once on one server.
    """
    if NAMED:
        admin, database = login_of(NAMED)
    else:
        server: Embedded = request.getfixturevalue("own_server")
        admin, database = server.admin, "postgres"
    login = admin._replace(user=f"guard_test_{new_token()}", password=secrets.token_hex(12))
    with connect(admin, database) as connection:
        connection.execute(
            f"create role {login.user} login createdb password '{login.password}'".encode()
        )
        connection.execute(f"grant connect on database {database} to {login.user}".encode())
    yield login.url(database)
    close_server()
    with connect(admin, database) as connection:
        owned = "select datname from pg_database where pg_get_userbyid(datdba) = %s"
        for (name,) in connection.execute(owned, (login.user,)).fetchall():
            drop_database(connection, str(name))
        connection.execute(f"drop owned by {login.user}; drop role {login.user}".encode())


@pytest.fixture
def server(url: str, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server as guard finds it."""
    monkeypatch.setenv(URL, url)
    return current_server()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """The files of a repository with a ledger in it."""
    return Tree(tmp_path)


class Databases:
    """Provides databases as the engine does."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    @contextmanager
    def __call__(self, given: Any = None, path: str = "db/alembic.ini") -> Generator[Provided]:
        with provide_database(path, self.ground(given)) as provided:
            yield provided

    def ground(self, given: Any = None) -> Ground:
        return Ground(
            agent="clerk",
            case="one",
            number=1,
            given=given,
            read=self.tree.read,
            files=self.tree.ids,
            lay=self.tree.lay,
            env={"PATH": os.environ["PATH"]},
            python=(),
        )


@pytest.fixture
def databases(server: Server, tree: Tree) -> Databases:
    return Databases(tree)


def open_database(provided: Provided) -> psycopg.Connection[tuple[Any, ...]]:
    """Connect as an agent does."""
    return psycopg.connect(provided.env["DATABASE_URL"], autocommit=True)


def count(provided: Provided, table: str = "entries") -> int:
    """Return how many rows a table has."""
    with open_database(provided) as connection:
        found = connection.execute(f"select count(*) from {table}".encode()).fetchone()
    assert found is not None
    return int(found[0])


def databases_of(url: str) -> set[str]:
    """Return the databases of a server that guard made for trials."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "select datname from pg_database where datname ~ '^guard_[0-9a-f]{12}_' "
            "and pg_get_userbyid(datdba) = current_user"
        )
        return {str(name) for (name,) in found}
