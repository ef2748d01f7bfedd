"""One trial's database: copied from the migrated one, filled, looked at, dropped."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from guard.plugin import Ground, Provided, TargetError
from guard_postgres.connections import connect, failed, told
from guard_postgres.faults import Faults
from guard_postgres.given import Given, given_of
from guard_postgres.rows import MOST, queries_of
from guard_postgres.servers import Server, current_server
from guard_postgres.sweeping import drop_database
from guard_postgres.templates import create_database, template_for
from guard_postgres.values import plain

if TYPE_CHECKING:
    from psycopg import Connection

#: Milliseconds that a statement of ours may take, and may wait for a lock.
STATEMENT: Final = "20000"
LOCK: Final = "10000"
#: Characters that the rows of one query may have, as JSON.
LIMIT: Final = 1 << 17


@contextmanager
def provide_database(path: str, ground: Ground) -> Generator[Provided]:
    """Set up a migrated database for one trial, and drop it after. Raises `TargetError`."""
    server = current_server()
    given = given_of(ground.given, ground.read)
    database = Database(server, _copy(server, path, ground))
    try:
        database.fill(given)
        login = server.login
        yield Provided(login.variables(database.name), login.secrets, database.observe)
    finally:
        database.drop()


def _copy(server: Server, path: str, ground: Ground) -> str:
    """Copy the migrated database; return the name of the copy."""
    import psycopg

    name = server.new_name()
    try:
        try:
            _copy_as(server, name, path, ground)
        except psycopg.errors.InvalidCatalogName:
            # Another guard swept it, for it had others to keep.
            server.templates.clear()
            _copy_as(server, name, path, ground)
    except psycopg.Error as error:
        raise failed("the PostgreSQL server fails", error, server.admin) from error
    return name


def _copy_as(server: Server, name: str, path: str, ground: Ground) -> None:
    template = template_for(server, path, ground)
    with server.connect() as connection:
        create_database(server, connection, name, template)


class Database:
    """A database of one trial."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self._faults = Faults((), server.login, self._connect)

    def _connect(self, **settings: str) -> Connection[tuple[Any, ...]]:
        settings = {"statement_timeout": STATEMENT, "lock_timeout": LOCK, **settings}
        return connect(self.server.login, self.name, self.server.token, **settings)

    def fill(self, given: Given) -> None:
        """Run the seeds, and begin with what goes wrong. Raises `TargetError`."""
        import psycopg

        login = self.server.login
        if given.seeds:
            with self._connect() as connection:
                for number, text in enumerate(given.seeds):
                    try:
                        connection.execute(text.encode())
                    except psycopg.Error as error:
                        raise failed(f"seed[{number}] fails", error, login) from error
        self._faults = Faults(given.faults, login, self._connect)
        self._faults.begin()

    def observe(self, expected: Mapping[str, Any]) -> Any:
        """Return what the queries of a case give now. Raises `TargetError`."""
        import psycopg

        self._faults.end()
        try:
            with self._connect(default_transaction_read_only="on") as connection:
                # Else there is nothing to say, and still it is known that the server is there.
                queries = queries_of(expected)
                connection.read_only, connection.autocommit = True, False
                answers = [self._ask(connection, query) for query in queries]
        except psycopg.OperationalError as error:
            said = "the PostgreSQL server was gone before the trial ended"
            raise failed(said, error, self.server.login) from error
        return {"rows": answers} if queries else None

    def _ask(self, connection: Connection[tuple[Any, ...]], query: str) -> dict[str, Any]:
        """Return the rows that a query gives. One that writes, or isn't one query, fails."""
        import psycopg

        try:
            # Prepared, for only then the server takes one statement alone.
            cursor = connection.execute(query.encode(), prepare=True)
            columns = [column.name for column in cursor.description or ()]
            rows = [plain(list(row)) for row in cursor.fetchmany(MOST + 1)] if columns else []
        except psycopg.Error as error:
            if connection.broken:
                raise
            said = told(error, self.server.login)
            raise TargetError(f"the query of `rows` fails: {said}: {query}") from error
        if not columns:
            raise TargetError(f"the query of `rows` gives no rows: {query}")
        if len(json.dumps(rows)) > LIMIT:
            raise TargetError(f"the query of `rows` gives more than {LIMIT >> 10} KiB: {query}")
        more = {"more": True} if len(rows) > MOST else {}
        return {"query": query, "columns": columns, "rows": rows[:MOST], **more}

    def drop(self) -> None:
        """Drop it. A server that is gone took it along, or drops it when it is next asked."""
        import psycopg

        with suppress(TargetError):  # told by `observe`, or the trial never came to it
            self._faults.end()
        try:
            with self.server.connect() as connection:
                drop_database(connection, self.name)
        except psycopg.OperationalError as error:
            if self.server.is_alive:
                raise failed(f"{self.name} can't be dropped", error, self.server.admin) from error
