"""A fresh, migrated database for each test that asks for one."""

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
def template(server: URL) -> Iterator[str]:
    """Migrate one database; each test's own is a clone of it, made in milliseconds."""
    name = f"ledger_{uuid4().hex[:12]}"
    run_on_server(server, f"create database {name}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", as_text(server.set(database=name)))
        open_journal.cache_clear()
        command.upgrade(Config(ROOT / "alembic.ini"), "head")
        open_journal().dispose()
    yield name
    run_on_server(server, f"drop database {name}")


def as_text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


@pytest.fixture
def journal(server: URL, template: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The journal of a new ledger, which every graph of the test uses too."""
    name = f"{template}_{uuid4().hex[:8]}"
    run_on_server(server, f"create database {name} template {template}")
    monkeypatch.setenv("DATABASE_URL", as_text(server.set(database=name)))
    open_journal.cache_clear()
    engine = open_journal()
    yield engine
    engine.dispose()
    open_journal.cache_clear()
    run_on_server(server, f"drop database {name} with (force)")
