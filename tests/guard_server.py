"""Imports guard, and forks a process for each call that `tests.guard_process` asks for."""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
from importlib import import_module

import guard
from guard.hookruns.caller import note_caller

#: Not modules of guard's own program: what starts it, and what the demo lays as files.
LEFT_OUT = ("guard.__main__", "guard.demo.files", "guard.testing")


def import_all() -> None:
    """Import every module of guard, and the plugins that come with it."""
    for found in pkgutil.walk_packages(guard.__path__, "guard."):
        if not found.name.startswith(LEFT_OUT):
            import_module(found.name)
    for name in ("guard_command", "guard_claude_code", "guard_hooks.run", "sqlite3", "rich.table"):
        import_module(name)


def serve(connection: socket.socket) -> None:
    """Answer each request with a process id, and then with its exit code, a line each."""
    while request := _receive(connection):
        message, fds = request
        pid = os.fork()
        if not pid:
            connection.close()
            _become_guard(json.loads(message), fds)
            return
        for fd in fds:
            os.close(fd)
        connection.sendall(b"%d\n" % pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(b"%d\n" % code)


def _receive(connection: socket.socket) -> tuple[bytes, list[int]] | None:
    message, fds, _, _ = socket.recv_fds(connection, 1 << 20, 2)
    while message and not message.endswith(b"\n"):
        message += connection.recv(1 << 20)
    return (message, fds) if message else None


def _become_guard(asked: tuple[str, list[str], dict[str, str], int], fds: list[int]) -> None:
    """Make of this process what `python -m guard` would be at its first line."""
    folder, arguments, env, umask = asked
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, standard in zip((nothing, *fds), range(3), strict=True):
        os.dup2(source, standard)
        os.close(source)
    os.chdir(folder)
    os.umask(umask)
    os.environ.clear()
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[1:] = arguments
    note_caller()


if __name__ == "__main__":
    import_all()
    gc.collect()
    gc.freeze()
    end = socket.socket(fileno=int(sys.argv[1]))
    parent = os.getpid()
    serve(end)
    if os.getpid() != parent:
        runpy.run_module("guard", run_name="__main__", alter_sys=True)
