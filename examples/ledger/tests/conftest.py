"""An empty ledger, on a real server, for each test that asks for one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import URL, Engine, create_engine, make_url, text

from ledger.books.journal import open_journal

ROOT = Path(__file__).parent.parent
#: Only a migration or an owner with a purpose gets past the trigger.
EMPTY = (
    "alter table entries disable trigger append_only",
    "alter table lines disable trigger append_only",
    "truncate entries, lines",
    "alter table entries enable trigger append_only",
    "alter table lines enable trigger append_only",
)


@pytest.fixture(scope="session")
def server() -> URL:
    """The server that GUARD_POSTGRES_URL names; no test touches a database that lies there."""
    stated = os.environ.get("GUARD_POSTGRES_URL")
    if stated is None:
        pytest.skip("GUARD_POSTGRES_URL names no server")
    return make_url(stated).set(drivername="postgresql+psycopg")


def run_on_server(server: URL, *statements: str) -> None:
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


@pytest.fixture(scope="session")
def migrated(server: URL) -> Iterator[URL]:
    """A database of these tests' own, laid by the migrations."""
    url = server.set(database=f"ledger_{uuid4().hex[:12]}")
    run_on_server(server, f"create database {url.database}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", url.render_as_string(hide_password=False))
        open_journal.cache_clear()
        command.upgrade(Config(ROOT / "alembic.ini"), "head")
        open_journal().dispose()
    yield url
    run_on_server(server, f"drop database {url.database} with (force)")


@pytest.fixture
def journal(migrated: URL, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The journal of an empty ledger, which every graph of the test uses too."""
    monkeypatch.setenv("DATABASE_URL", migrated.render_as_string(hide_password=False))
    open_journal.cache_clear()
    engine = open_journal()
    with engine.begin() as connection:
        for statement in EMPTY:
            connection.execute(text(statement))
    yield engine
    engine.dispose()
    open_journal.cache_clear()
