"""Which files of the tree a schema is made of, and who migrates."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from guard.plugin import TargetError
from guard_postgres import migrations
from guard_postgres.connections import Login
from guard_postgres.migrations import digest_of, layout_of, migration_globs
from guard_postgres.servers import Server
from tests.plugins.postgres.conftest import Databases, count
from tests.plugins.postgres.trees import INI


@pytest.mark.parametrize(
    ("path", "stated", "places"),
    [
        ("db/alembic.ini", "%(here)s/migrations", ("db/migrations",)),
        ("alembic.ini", "%(here)s/migrations", ("migrations",)),
        ("alembic.ini", "alembic", ("alembic",)),
        ("db/alembic.ini", "alembic/", ("db/alembic",)),
        ("db/alembic.ini", "db/alembic", ("db/alembic",)),
        ("db/alembic.ini", "shop.db:migrations", ("shop/db/migrations",)),
        ("db/alembic.ini", "../migrations", ("migrations",)),
    ],
)
def test_where_an_ini_has_its_migrations(path: str, stated: str, places: tuple[str, ...]) -> None:
    content = f"[alembic]\nscript_location = {stated}\n".encode()
    assert layout_of(path, content).places == places
    assert migration_globs(path, content) == [path, *(f"{place}/**" for place in places)]


def test_further_places_are_known() -> None:
    content = b"[alembic]\nscript_location = m\nversion_locations = %(here)s/a %(here)s/b\n"
    assert layout_of("db/alembic.ini", content).places == ("db/m", "db/a", "db/b")


def test_an_ini_that_says_nothing_is_watched_itself() -> None:
    for content in (None, b"", b"\xff", b"[alembic]\n"):
        assert migration_globs("alembic.ini", content) == ["alembic.ini"]
    with pytest.raises(TargetError, match=r"alembic.ini is no alembic.ini"):
        layout_of("alembic.ini", b"[alembic\n")


def test_what_changes_a_schema_changes_its_digest(databases: Databases) -> None:
    def digest() -> str:
        return digest_of("db/alembic.ini", databases.ground(), "me 15")

    seen = [digest()]
    for path, text in (
        ("db/migrations/versions/0002.py", "x"),
        ("db/migrations/seed.csv", "x"),
        ("shop/models.py", "x"),
        ("db/alembic.ini", INI + "# x\n"),
    ):
        databases.tree.files[path] = text
        seen.append(digest())
    assert len(set(seen)) == len(seen)
    databases.tree.files["README.md"] = "x"
    assert digest() == seen[-1]
    assert digest_of("db/alembic.ini", databases.ground(), "me 16") != seen[-1]


def test_migrations_written_for_the_root_run_there(databases: Databases, server: Server) -> None:
    stated = INI.replace("%(here)s/migrations", "db/migrations")
    databases.tree.files |= {"db/alembic.ini": stated, "shop/models.py": "NAME = 'x'\n"}
    databases.tree.files["db/migrations/env.py"] = (
        "from shop.models import NAME\n" + databases.tree.files["db/migrations/env.py"]
    )
    with databases() as provided:
        assert count(provided) == 0


def test_the_agents_own_python_migrates_where_it_can(
    databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\necho bare >>"{tmp_path}/log"\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    ground = databases.ground()._replace(python=(str(bare),))
    said = migrations.migrate("db/alembic.ini", ground, *nowhere())
    # The bare one has no Alembic, so guard's own was asked.
    assert (tmp_path / "log").read_text() == "bare\n"
    assert said.startswith("the migrations fail: OperationalError: ")
    monkeypatch.setattr(migrations, "find_spec", not_there)
    with pytest.raises(TargetError, match=r"alembic is in neither .* pip install"):
        migrations.migrate("db/alembic.ini", ground, *nowhere())
    absent = databases.ground()._replace(python=("/no/such/python",))
    with pytest.raises(TargetError, match="/no/such/python can't be started: No such file"):
        migrations.migrate("db/alembic.ini", absent, *nowhere())


def not_there(name: str) -> None:
    return None


def nowhere() -> tuple[Login, str]:
    return Login("127.0.0.1", "1", "somebody", "the-password"), "none"


def test_migrations_do_not_run_for_ever(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "LIMIT", 0.3)
    databases.tree.files["db/migrations/env.py"] = "import time\ntime.sleep(60)\n"
    said = migrations.migrate("db/alembic.ini", databases.ground(), *nowhere())
    assert said == "the migrations of db/alembic.ini took more than 0.3 s"
