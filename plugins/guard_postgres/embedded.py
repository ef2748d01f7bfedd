"""A server of this process's own: started for its first trial, gone with it, also after a kill.

It listens on the loopback alone, under a password that nobody else knows. A shell between guard
and the server waits for guard to end, however it does, stops the server and removes its data. What
even that leaves behind, the next run sweeps: a folder is locked as long as its guard lives.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from guard.plugin import TargetError
from guard_postgres.binaries import copy_programs, find_binaries, is_open, other_user
from guard_postgres.connections import Login, connect
from guard_postgres.server_folders import STOP, end_server, is_alive, make_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Seconds for a server to answer first.
START: Final = 30.0
ADMIN: Final = "guard_admin"
#: Whom trials are: no superuser, who may run programs and read files.
ROLE: Final = "guard"
#: Nothing of it outlives the process: what makes data durable only takes time.
SETTINGS: Final = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    # In its own folder: nothing is left elsewhere, however it ends.
    "dynamic_shared_memory_type": "mmap",
    "shared_buffers": "32MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
}
#: $1 the programs, $2 the folder; further words go to the server. EOF comes when guard is gone.
_KEEPER: Final = """\
programs=$1 folder=$2; shift 2
"$programs/postgres" -D "$folder/data" "$@" </dev/null >"$folder/log" 2>&1 &
server=$!
echo "$server"
read -r line
kill -QUIT "$server" 2>/dev/null
wait "$server"
rm -rf "$folder"
"""


class Embedded:
    """One running server."""

    def __init__(self) -> None:
        """Start it. Raises `TargetError`."""
        try:
            self._user = other_user()
        except LookupError as error:
            raise TargetError(str(error)) from error
        self._keeper: subprocess.Popen[str] | None = None
        self.folder = make_folder(self._user)
        self._lock = os.open(self.folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            self._programs = self._find_programs()
            self._start()
        except BaseException:
            self.stop()
            raise

    def _find_programs(self) -> str:
        """Return a folder of programs that the server's user can run."""
        found = list(find_binaries())
        if not found:
            raise TargetError("no PostgreSQL server is to be had any more")
        if self._user is None:
            return found[0]
        within_reach = [folder for folder in found if is_open(folder)]
        if within_reach:
            return within_reach[0]
        # An environment in root's home is closed to everyone else.
        return copy_programs(found[0], os.path.join(self.folder, "programs"))

    def _start(self) -> None:
        password = secrets.token_hex(16)
        self._make_data(password)
        # Another program may take the port before the server does.
        for _ in range(5):
            port = _free_port()
            self._keep(port)
            admin = Login("127.0.0.1", str(port), ADMIN, password)
            if self._answers(admin):
                self.admin = admin
                self.login = self._make_role(admin)
                return
            self._let_go(remove=False)
        raise TargetError(f"the PostgreSQL server doesn't start: {self._last_line()}")

    def _make_data(self, password: str) -> None:
        place = os.path.join(self.folder, "password")
        with open(os.open(place, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(password + "\n")
        self._hand_over(place)
        done = None
        for locale in ("C.UTF-8", "C"):  # the first isn't on every machine
            done = self._run(
                [
                    *(os.path.join(self._programs, "initdb"), "-D", f"{self.folder}/data"),
                    *("--no-sync", "--encoding=UTF8", f"--locale={locale}", "--wal-segsize=1"),
                    *("-U", ADMIN, "-A", "scram-sha-256", f"--pwfile={place}"),
                ]
            )
            if done.returncode == 0:
                os.unlink(place)
                return
        assert done is not None
        lines = done.stderr.strip().splitlines() or ["initdb failed"]
        raise TargetError(f"the PostgreSQL server has no data: {lines[-1]}")

    def _keep(self, port: int) -> None:
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        words = [self._programs, self.folder, "-p", str(port), *settings]
        self._keeper = self._popen(["sh", "-c", _KEEPER, "postgres", *words])
        assert self._keeper.stdout is not None
        self.pid = int(self._keeper.stdout.readline() or 0)

    def _answers(self, admin: Login) -> bool:
        import psycopg

        ends = time.monotonic() + START
        while time.monotonic() < ends and is_alive(self.pid):
            try:
                connect(admin, "postgres").close()
            except psycopg.OperationalError:
                time.sleep(0.01)
            else:
                return True
        return False

    def _make_role(self, admin: Login) -> Login:
        from psycopg import sql

        login = admin._replace(user=ROLE, password=secrets.token_hex(16))
        with connect(admin, "postgres") as connection:
            text = sql.SQL("create role {} login password {}")
            connection.execute(text.format(sql.Identifier(ROLE), sql.Literal(login.password)))
            # Trials have a database of their own, and nothing to do in this one.
            connection.execute("revoke connect on database postgres, template1 from public")
        return login

    def _last_line(self) -> str:
        try:
            with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
                lines = file.read().strip().splitlines()
        except OSError:
            lines = []
        return lines[-1] if lines else "it says nothing"

    def stop(self) -> None:
        """Stop it, and remove its data; may be called twice."""
        self._let_go()
        if self._lock >= 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1

    def _let_go(self, *, remove: bool = True) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        if not remove:
            # What it would remove is needed for the next attempt.
            keeper.kill()
            end_server(self.pid)
        with suppress(OSError):
            keeper.stdin.close()
        try:
            keeper.wait(STOP)
        except subprocess.TimeoutExpired:
            keeper.kill()
            end_server(self.pid)
            keeper.wait()
        keeper.stdout.close()

    def _hand_over(self, path: str) -> None:
        if self._user is not None:
            os.chown(path, self._user.pw_uid, self._user.pw_gid)

    def _run(self, argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            **self._as(),
        )

    def _popen(self, argv: Sequence[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            argv,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
            # Ctrl-C is guard's: the server is needed until trials are taken away.
            start_new_session=True,
            **self._as(),
        )

    def _as(self) -> dict[str, Any]:
        """Return how the server's programs are started: as whom, and without guard's variables."""
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}
        if self._user is None:
            return {"cwd": "/", "env": env}
        ids = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": ()}
        return {"cwd": "/", "env": env, **ids}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
