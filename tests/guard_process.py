"""Guard's command line in processes of their own, begun where its modules are imported already.

A start of Python that imports guard takes longer than most of what tests ask of it, some thousand
times. So each process is forked from one that has imported all of guard, and has run none of it.
What the interpreter itself reads at its start can't differ there: with another ``PYTHONPATH``,
locale or time zone it is a start like any other.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

PROGRAM = (sys.executable, "-P", "-m", "guard")
SERVER = Path(__file__).with_name("guard_server.py")
#: Variables that the interpreter, or the C library, reads once.
READ_AT_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_")
Done = subprocess.CompletedProcess[str]


def run_guard(
    arguments: Sequence[str], folder: Path, env: Mapping[str, str] = {}, timeout: float = 100
) -> Done:
    """Run guard in a folder to its end, with nothing on standard input."""
    argv, variables = [*PROGRAM, *arguments], {**os.environ, **env}
    if _start_variables(variables) != _start_variables(_server().env):
        return subprocess.run(
            argv,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env=variables,
            timeout=timeout,
            check=False,
        )
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _server().run(arguments, folder, variables, (out, err), timeout)
        return Done(argv, code, _text_in(out), _text_in(err))


def _start_variables(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(READ_AT_START)}


def _text_in(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape").replace("\r\n", "\n")


class _Server:
    """The process that has imported guard, and forks."""

    def __init__(self) -> None:
        self.env = dict(os.environ)
        self._socket, theirs = socket.socketpair()
        argv = [sys.executable, "-P", str(SERVER), str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(argv, pass_fds=[theirs.fileno()])
        self._replies = self._socket.makefile("r", encoding="utf-8")
        atexit.register(self._end)

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        streams: tuple[IO[bytes], IO[bytes]],
        timeout: float,
    ) -> int:
        """Run guard; return its exit code, negative where a signal ended it."""
        umask = os.umask(0)
        os.umask(umask)
        asked = [os.fspath(folder), list(arguments), dict(env), umask]
        message = json.dumps(asked).encode() + b"\n"
        fds = [stream.fileno() for stream in streams]
        sent = socket.send_fds(self._socket, [message], fds)
        self._socket.sendall(message[sent:])
        pid = int(self._replies.readline())
        self._socket.settimeout(timeout)
        try:
            return int(self._replies.readline())
        except TimeoutError as error:
            os.kill(pid, 9)
            raise subprocess.TimeoutExpired(arguments, timeout) from error
        finally:
            self._socket.settimeout(None)

    def _end(self) -> None:
        self._replies.close()
        self._socket.close()
        self._process.wait(10)


@cache
def _server() -> _Server:
    return _Server()
