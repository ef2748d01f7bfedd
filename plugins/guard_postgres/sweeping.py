"""Databases that a killed guard left on a server: told by their names, dropped by the next one.

A database is named by the token of the process that made it, and so are that process's connections.
The server knows which are open: that holds for guards on several machines too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from guard_postgres.connections import PREFIX

if TYPE_CHECKING:
    from psycopg import Connection

    from guard_postgres.servers import Server

TEMPLATE: Final = "guard_template_"
#: Templates that are kept, those that were used last: each change of a schema makes one.
KEPT: Final = 8

_MINE: Final = """\
select datname from pg_database
where pg_get_userbyid(datdba) = current_user and datname ~ '^guard_[0-9a-f]{12}_[0-9]+$'"""
_OLD: Final = """\
select datname from pg_database
where pg_get_userbyid(datdba) = current_user and starts_with(datname, %s)
order by coalesce(shobj_description(oid, 'pg_database'), '') desc offset %s"""


def sweep_databases(server: Server) -> None:
    """Drop what processes that are gone left on a server, and templates of some time ago."""
    with server.connect() as connection:
        left = [str(name) for (name,) in connection.execute(_MINE)]
        # Asked second: whoever makes a database is connected before.
        active = connection.execute("select application_name from pg_stat_activity")
        present = {str(name) for (name,) in active}
        for name in left:
            if PREFIX + name.split("_")[1] not in present:
                drop_database(connection, name)
        for (name,) in connection.execute(_OLD, (TEMPLATE, KEPT)).fetchall():
            drop_database(connection, str(name))


def drop_database(connection: Connection[tuple[Any, ...]], name: str) -> None:
    """Drop a database, whoever is connected to it; one that is gone already is no error."""
    from psycopg import sql

    text = sql.SQL("drop database if exists {} with (force)")
    connection.execute(text.format(sql.Identifier(name)))
