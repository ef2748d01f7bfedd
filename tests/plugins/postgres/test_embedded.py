"""A server of guard's own: for root and others, out of reach of trials, gone however guard ends."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from guard.plugin import TargetError
from guard_postgres import binaries, embedded, server_folders
from guard_postgres.binaries import find_binaries, is_open, other_user
from guard_postgres.connections import connect
from guard_postgres.embedded import Embedded
from guard_postgres.server_folders import sweep
from tests.staging import is_alive

ROOT = Path(__file__).parents[3]
#: A guard that uses its server until its standard input ends.
SCRIPT = """\
import sys
from guard_postgres.servers import current_server
server = current_server()
print(server.own.folder, server.own.pid, server.own.login.url("postgres"), flush=True)
sys.stdin.read()
"""
#: Imports what a guard needs while it may read it, then is root no more.
BECOME = """\
import os, psutil, psycopg, guard_postgres.embedded, guard_postgres.servers
import encodings.idna, encodings.ascii, psycopg.sql
os.setgroups(()), os.setgid({0.pw_gid}), os.setuid({0.pw_uid})
"""
is_root = os.geteuid() == 0


def ends(condition: Callable[[], bool]) -> bool:
    """Wait until something no longer holds; tell whether that came."""
    until = time.monotonic() + 20
    while condition() and time.monotonic() < until:
        time.sleep(0.02)
    return not condition()


@contextmanager
def guard_with_server(first: str = "") -> Generator[tuple[subprocess.Popen[str], str, int]]:
    """Start a guard with a server; yield its process, the server's folder and its process."""
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT), f"{ROOT}/plugins"]),
    }
    guard = subprocess.Popen(
        [sys.executable, "-P", "-c", first + SCRIPT],
        env=env,
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert guard.stdin is not None
    assert guard.stdout is not None
    try:
        folder, pid, _ = guard.stdout.readline().split()
        yield guard, folder, int(pid)
    finally:
        guard.stdin.close()
        guard.stdout.close()
        guard.wait(20)


def is_closed(path: str) -> bool:
    return False


def test_it_ends_with_its_guard() -> None:
    with guard_with_server() as (guard, folder, pid):
        assert is_alive(pid)
        assert os.path.isdir(folder)
    assert guard.returncode == 0
    assert not is_alive(pid)
    assert not os.path.exists(folder)


def test_it_ends_with_a_guard_that_is_killed() -> None:
    with guard_with_server() as (guard, folder, pid):
        guard.kill()
        assert ends(lambda: is_alive(pid))
        assert ends(lambda: os.path.exists(folder))


def test_root_and_others_have_one_alike(own_server: Embedded) -> None:
    owner = os.stat(f"{own_server.folder}/data").st_uid
    if not is_root:
        assert owner == os.geteuid()
        return
    # This one runs as somebody else; a guard that isn't root runs one as itself.
    assert owner != 0
    nobody = pwd.getpwnam("nobody")
    with guard_with_server(BECOME.format(nobody)) as (_, folder, pid):
        assert os.stat(folder).st_uid == nobody.pw_uid
        assert is_alive(pid)
    assert not is_alive(pid)


def test_what_even_its_keeper_left_is_swept_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_folders, "YOUNG", 0.0)
    left = Embedded()
    root, pid = os.path.dirname(left.folder), left.pid
    keeper = left._keeper  # pyright: ignore[reportPrivateUsage]
    assert keeper is not None
    sweep(root)
    assert is_alive(pid), "one that is in use was swept"
    keeper.kill()
    keeper.wait()
    os.close(left._lock)  # pyright: ignore[reportPrivateUsage]
    assert is_alive(pid)
    sweep(root)
    assert not is_alive(pid)
    assert not os.path.exists(left.folder)
    for pipe in (keeper.stdin, keeper.stdout):
        assert pipe is not None
        pipe.close()


def test_a_young_folder_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / "guard-postgres-new").mkdir()
    (tmp_path / "other").mkdir()
    sweep(str(tmp_path))
    assert len(os.listdir(tmp_path)) == 2


def test_trials_are_no_superusers_and_keep_out_of_other_databases(own_server: Embedded) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        connect(own_server.login, "postgres")
    with connect(own_server.admin, "postgres") as admin:
        admin.execute("create database ours owner guard")
        try:
            with (
                connect(own_server.login, "ours") as trial,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                trial.execute("copy (select 1) to program 'true'")
        finally:
            admin.execute("drop database ours with (force)")
    nobody = own_server.login._replace(password="")
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        connect(nobody, "postgres")


# What it needs ----------------------------------------------------------------------------


@pytest.mark.skipif(not is_root, reason="only root needs another user")
def test_programs_that_the_other_user_can_not_reach_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedded, "is_open", is_closed)
    server = Embedded()
    try:
        with open(f"/proc/{server.pid}/cmdline", "rb") as file:
            assert file.read().startswith(f"{server.folder}/programs/".encode())
    finally:
        server.stop()
    assert not os.path.exists(server.folder)


def test_as_root_somebody_else_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "_OTHERS", ("no-such-user",))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(LookupError, match="there is none of no-such-user"):
        other_user()
    with pytest.raises(TargetError, match="as root a server needs another user"):
        Embedded()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert other_user() is None


def test_one_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "SETTINGS", {"no_such_setting": "1"})
    before = set(os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else ())
    with pytest.raises(TargetError, match='unrecognized configuration parameter "no_such_setting"'):
        Embedded()
    assert set(os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else ()) <= before


def test_where_no_folder_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_folders, "ROOM", 1 << 60)
    with pytest.raises(TargetError, match=r"no folder has .* MiB for a PostgreSQL server: tried "):
        Embedded()


def test_programs_are_found_on_path_and_where_they_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def programs(version: str, *names: str) -> str:
        folder = tmp_path / version / "bin"
        folder.mkdir(parents=True)
        for name in names:
            shutil.copy("/bin/sh", folder / name)
        return str(folder)

    old, new = programs("9.6", "initdb", "postgres"), programs("15", "initdb", "postgres")
    programs("16", "postgres")
    on_path = programs("path", "initdb", "postgres")
    monkeypatch.setattr(binaries, "_PLACES", (f"{tmp_path}/[0-9]*/bin",))
    monkeypatch.setattr(binaries, "_PACKAGES", ())
    monkeypatch.setenv("PATH", on_path)
    assert list(find_binaries()) == [on_path, new, old]
    monkeypatch.setattr(binaries, "_PACKAGES", (("no_such_package", ("bin",)),))
    monkeypatch.setattr(binaries, "_PLACES", ())
    monkeypatch.setenv("PATH", "")
    assert list(find_binaries()) == []


def test_a_folder_is_open_where_all_above_it_are(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path("/tmp") or not os.access(folder, os.W_OK):
            break
        folder.chmod(0o755)
    assert is_open(str(tmp_path / "a/b")) == is_open(str(tmp_path))
    (tmp_path / "a").chmod(0o700)
    assert not is_open(str(tmp_path / "a/b"))
