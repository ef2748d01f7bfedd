"""The server that trials get their databases from: the one that a URL names, else one of our own.

A process of guard knows one server at a time. One that has gone away is found again, or started
anew, for the next trial.
"""

from __future__ import annotations

import atexit
import os
import threading
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from guard.plugin import TargetError
from guard_postgres.binaries import find_binaries
from guard_postgres.connections import Login, connect, new_token, told

if TYPE_CHECKING:
    from psycopg import Connection

    from guard_postgres.embedded import Embedded

URL: Final = "GUARD_POSTGRES_URL"
INSTALL: Final = "pip install 'regression-guard[postgres]'"
#: The oldest that is still looked after by those who make it.
OLDEST: Final = 140000


class Server:
    """A server, as this process uses it."""

    def __init__(
        self, login: Login, admin: Login, database: str, own: Embedded | None, token: str = ""
    ) -> None:
        """``login`` is whom trials are, ``admin`` who makes databases, while in ``database``."""
        self.login = login
        self.admin = admin
        self.database = database
        self.own = own
        self.url = ""
        """What it was found by; empty for one of our own."""
        self.token = token or new_token()
        self.templates: dict[str, str] = {}
        """Digest of migrations → the database that trials get copies of."""
        self.broken: dict[str, str] = {}
        """Digest of migrations → why they fail."""
        self.building = threading.Lock()
        self._count = 0
        self._lock = threading.Lock()
        # As long as it is open, others see that what carries the token is in use.
        self.presence = self.connect()
        self.version = self.presence.info.server_version

    def connect(self) -> Connection[tuple[Any, ...]]:
        """Return a connection of who makes databases. Raises `psycopg.OperationalError`."""
        return connect(self.admin, self.database, self.token)

    def new_name(self) -> str:
        """Return a name for a database, which tells whose it is."""
        with self._lock:
            self._count += 1
            return f"guard_{self.token}_{self._count}"

    @property
    def is_alive(self) -> bool:
        """Whether it still answers on the connection that was opened first."""
        import psycopg

        try:
            with self._lock:
                self.presence.execute("select 1")
        except psycopg.Error:
            return False
        return True

    def close(self) -> None:
        """Leave it; one of our own is stopped."""
        with suppress(Exception):
            self.presence.close()
        if self.own is not None:
            self.own.stop()


_current: Server | None = None
_lock = threading.Lock()
_owner = 0


def current_server() -> Server:
    """Return the server of this process, found or started where it is needed first.

    Raises `TargetError` where it is gone, or can't be started: whether there is one at all was
    asked before.
    """
    global _current, _owner
    with _lock:
        url = os.environ.get(URL, "")
        token = ""
        if _current is not None and _owner == os.getpid():
            same = _current.url == url
            if same and _current.is_alive:
                return _current
            # The databases of trials that run still carry it.
            token = _current.token if same else ""
            _current.close()
        _current = None
        _current = _open(url, token)
        if _owner != os.getpid():
            _owner = os.getpid()
            atexit.register(close_server)
        return _current


def close_server() -> None:
    """Leave the server of this process, if there is one."""
    global _current
    with _lock:
        if _current is not None and _owner == os.getpid():
            _current.close()
        _current = None


def _open(url: str, token: str) -> Server:
    import psycopg

    from guard_postgres.sweeping import sweep_databases

    if not url:
        return _open_own(token)
    login, database = login_of(url)
    try:
        server = Server(login, login, database, None, token)
        server.url = url
        sweep_databases(server)
    except psycopg.Error as error:
        raise TargetError(_unreachable(login, error)) from error
    return server


def _open_own(token: str) -> Server:
    import psycopg

    from guard_postgres.embedded import Embedded

    own = Embedded()
    try:
        return Server(own.login, own.admin, "postgres", own, token)
    except psycopg.Error as error:
        own.stop()
        raise TargetError(f"the PostgreSQL server is gone: {told(error, own.admin)}") from error


def login_of(url: str) -> tuple[Login, str]:
    """Return who a URL says we are, and the database. Raises `TargetError`."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        found = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except psycopg.Error:
        # What it says may hold the URL, and that the password.
        raise TargetError(f"{URL} is no URL of a PostgreSQL server") from None
    login = Login(
        host=found.pop("host", "") or "127.0.0.1",
        port=found.pop("port", "") or "5432",
        user=found.pop("user", "") or "postgres",
        password=found.pop("password", ""),
    )
    database = found.pop("dbname", "") or "postgres"
    return login._replace(further=tuple(found.items())), database


def _unreachable(login: Login, error: BaseException) -> str:
    return (
        f"no PostgreSQL server answers at {login.place}, which {URL} names ({told(error, login)})"
    )


def find_missing() -> str | None:
    """Return what this machine lacks for a database, in one line, or None."""
    if find_spec("psycopg") is None:
        return f"psycopg is not installed: {INSTALL}"
    url = os.environ.get(URL, "")
    if url:
        return _find_wrong(url)
    if next(find_binaries(), None) is None:
        return f"there is no PostgreSQL server on this machine: {INSTALL}, or set {URL}"
    return None


def _find_wrong(url: str) -> str | None:
    import psycopg

    try:
        login, database = login_of(url)
    except TargetError as error:
        return error.message
    try:
        with connect(login, database) as connection:
            version = connection.info.server_version
            found = connection.execute(
                "select rolcreatedb or rolsuper from pg_roles where rolname = current_user"
            ).fetchone()
    except psycopg.Error as error:
        return _unreachable(login, error)
    if version < OLDEST:
        return f"the PostgreSQL server at {login.place} is older than {OLDEST // 10000}"
    if not found or not found[0]:
        return (
            f"{login.user} may make no database at {login.place}: ALTER ROLE {login.user} CREATEDB"
        )
    return None
