"""The migrated database that trials get copies of: made once for the same migrations and server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from guard.plugin import Ground, TargetError
from guard_postgres.connections import told
from guard_postgres.migrations import digest_of, migrate
from guard_postgres.sweeping import TEMPLATE, drop_database

if TYPE_CHECKING:
    from psycopg import Connection

    from guard_postgres.servers import Server


_MOMENT: Final = "YYYY-MM-DD HH24:MI:SS"


def template_for(server: Server, path: str, ground: Ground) -> str:
    """Return the name of the migrated database. Raises `TargetError` where a migration fails."""
    # Roles don't share: a database is no other role's to copy.
    digest = digest_of(path, ground, f"{server.login.user} {server.version}")
    with server.building:
        if digest in server.broken:
            raise TargetError(server.broken[digest])
        if digest not in server.templates:
            server.templates[digest] = _find_or_make(server, digest, path, ground)
        return server.templates[digest]


def _find_or_make(server: Server, digest: str, path: str, ground: Ground) -> str:
    name = TEMPLATE + digest[:24]
    with server.connect() as connection:
        if not _is_there(connection, name):
            make_template(server, connection, name, digest, path, ground)
        _note_use(connection, name)
    return name


def _is_there(connection: Connection[tuple[Any, ...]], name: str) -> bool:
    found = connection.execute("select 1 from pg_database where datname = %s", (name,))
    return found.fetchone() is not None


def make_template(
    server: Server,
    connection: Connection[tuple[Any, ...]],
    name: str,
    digest: str,
    path: str,
    ground: Ground,
) -> None:
    """Migrate a new database, and give it the template's name once all of it is there."""
    from psycopg import errors, sql

    new = server.new_name()
    create_database(server, connection, new)
    try:
        wrong = migrate(path, ground, server.login, new)
        if wrong:
            server.broken[digest] = wrong
            raise TargetError(wrong)
        # Nobody may be connected to what is copied.
        closing = sql.SQL("alter database {} with allow_connections false")
        connection.execute(closing.format(sql.Identifier(new)))
        connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s",
            (new,),
        )
        renaming = sql.SQL("alter database {} rename to {}")
        connection.execute(renaming.format(sql.Identifier(new), sql.Identifier(name)))
    except errors.DuplicateDatabase:
        drop_database(connection, new)  # another process was faster
    except BaseException:
        drop_database(connection, new)
        raise


def _note_use(connection: Connection[tuple[Any, ...]], name: str) -> None:
    """Write down when it was last used: what is not used for long is dropped."""
    from psycopg import errors, sql

    now = connection.execute("select to_char(now() at time zone 'UTC', %s)", (_MOMENT,)).fetchone()
    assert now is not None
    comment = sql.SQL("comment on database {} is {}")
    try:
        connection.execute(comment.format(sql.Identifier(name), sql.Literal(now[0])))
    except errors.Error as error:
        if "concurrently updated" not in str(error):
            raise


def create_database(
    server: Server, connection: Connection[tuple[Any, ...]], name: str, template: str = ""
) -> None:
    """Make a database of the trials' role, empty or a copy.

    Raises `psycopg.errors.InvalidCatalogName` where there is no such template any more.
    """
    import psycopg
    from psycopg import errors, sql

    parts: list[sql.Composable] = [sql.SQL("create database {}").format(sql.Identifier(name))]
    parts.append(sql.SQL("owner {}").format(sql.Identifier(server.login.user)))
    if template:
        parts.append(sql.SQL("template {}").format(sql.Identifier(template)))
        if server.own is not None and server.version >= 150000:
            # Quicker where nothing is written for good, and no other database waits for it.
            parts.append(sql.SQL("strategy file_copy"))
    try:
        connection.execute(sql.SQL(" ").join(parts))
    except errors.InvalidCatalogName:
        raise
    except psycopg.Error as error:
        raise TargetError(f"no database can be made: {told(error, server.admin)}") from error
