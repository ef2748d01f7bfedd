"""Connections to a server: who asks, as whom, and what is said where that fails."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from guard.plugin import TargetError

if TYPE_CHECKING:
    from psycopg import Connection

#: Seconds that a server has to answer.
CONNECT: Final = 5
#: What each process of guard calls its connections, beside its own token.
PREFIX: Final = "guard-"


class Login(NamedTuple):
    """One role at one server."""

    host: str
    """A name, an address, or the folder of a socket."""
    port: str
    user: str
    password: str
    further: tuple[tuple[str, str], ...] = ()
    """What else a URL says of a connection, such as ``sslmode``."""

    def variables(self, database: str) -> dict[str, str]:
        """Return the environment by which programs find a database."""
        found = {
            "DATABASE_URL": self.url(database),
            "PGHOST": self.host,
            "PGPORT": self.port,
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            "PGDATABASE": database,
        }
        found |= {f"PG{name.upper()}": value for name, value in self.further if name == "sslmode"}
        return found

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        secret = f":{quote(self.password, safe='')}" if self.password else ""
        in_folder = self.host.startswith("/")
        place = "" if in_folder else f"{_bracketed(self.host)}:{self.port}"
        params = [*self.further]
        if in_folder:
            params += [("host", self.host), ("port", self.port)]
        query = f"?{urlencode(params)}" if params else ""
        return f"postgresql://{quote(self.user, safe='')}{secret}@{place}/{quote(database)}{query}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The password, in each of the forms in which it may be met."""
        forms = (self.password, quote(self.password, safe=""))
        return tuple(dict.fromkeys(form for form in forms if form))

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.host}:{self.port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def connect(
    login: Login, database: str, token: str = "", **settings: str
) -> Connection[tuple[Any, ...]]:
    """Return a connection that commits each statement. Raises `psycopg.OperationalError`."""
    import psycopg

    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    further: dict[str, Any] = dict(login.further)
    if options:
        further["options"] = f"{further.get('options', '')} {options}".strip()
    return psycopg.connect(
        host=login.host,
        port=login.port,
        user=login.user,
        password=login.password,
        dbname=database,
        application_name=PREFIX + token,
        connect_timeout=CONNECT,
        autocommit=True,
        **further,
    )


def told(error: BaseException, login: Login) -> str:
    """Return what an error says, as one line without the password."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0] if lines else type(error).__name__
    # libpq names the server first, each time it tried; what it says of it comes last.
    said = said.rpartition(" failed: ")[2] if said.startswith("connection ") else said
    for secret in login.secrets:
        said = said.replace(secret, "…")
    return said


def failed(what: str, error: BaseException, login: Login) -> TargetError:
    """Return the error to raise where something of the case's doesn't run."""
    return TargetError(f"{what}: {told(error, login)}")


def new_token() -> str:
    """Return a name that no other process has."""
    return os.urandom(6).hex()
