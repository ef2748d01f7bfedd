"""One launcher process from guard's side: what is sent to it, and how long it is waited for.

A program of a trial can stop its parent (SIGSTOP), or give it other limits and mounts. So nothing
here waits without an end: who was stopped is made to go on, and who doesn't answer is
killed, with all that is below it. `is_changed` tells whether it is still what it was.
"""

from __future__ import annotations

import marshal
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

#: Not imported here: it brings ctypes along.
LAUNCHER: Final = os.path.join(os.path.dirname(__file__), "launcher.py")
#: As in the launcher.
LENGTH_BYTES: Final = 4
#: Seconds after which one that doesn't answer is looked at.
LOOK_SECONDS: Final = 0.5
#: Looks in which it may be found stopped: more often, and somebody does it on purpose.
MOST_WAKES: Final = 4
#: Seconds that it has to kill what is below it, and to end.
ENDING_SECONDS: Final = 7.0
KILLING_SECONDS: Final = 2.0
#: What guard itself mounts while a run goes on: see `guard.trials.overlay`.
OWN_MOUNT: Final = re.compile(rb"/run-\d+-[^/]+/(slot\d+/[0-9a-f]{16}|probe\d+/ws)$")
#: Lines of its status that programs inherit from it.
INHERITED: Final = (b"Umask:", b"Groups:", b"NoNewPrivs:", b"Seccomp:", b"Cpus_allowed:")
#: Words after the name in its stat file: niceness, priority and class of real-time scheduling.
SCHEDULING: Final = (16, 37, 38)


class LauncherProcess:
    """A launcher process, and our end of the socket to it."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                (sys.executable, "-I", "-S", LAUNCHER),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._control.setblocking(False)
        self._lock = threading.Lock()
        self._wakes = 0
        self._state: tuple[object, ...] = ()
        self.killed: set[int] = set()
        """What was below it when it was killed."""

    def send(self, message: tuple[Any, ...], fds: Sequence[int], seconds: float) -> int:
        """Send a message; return where its answer can be read. Raises OSError."""
        body = marshal.dumps(message)
        data = len(body).to_bytes(LENGTH_BYTES, "big") + body
        answer, answer_to = os.pipe()
        try:
            with self._lock:
                self._send_all(data, [*fds, answer_to], seconds)
        except OSError:
            os.close(answer)
            raise
        finally:
            os.close(answer_to)
        return answer

    def _send_all(self, data: bytes, fds: list[int], seconds: float) -> None:
        while data:
            if not self._wait_for(self._control.fileno(), select.POLLOUT, seconds):
                raise TimeoutError
            with suppress(BlockingIOError):
                data = data[socket.send_fds(self._control, [data], fds) :]
                fds = []

    def read_line(self, fd: int, seconds: float) -> str:
        """Read one line, and no byte of the next; nothing where none comes in time."""
        line = bytearray()
        while not line.endswith(b"\n"):
            byte = os.read(fd, 1) if self._wait_for(fd, select.POLLIN, seconds) else b""
            if not byte:
                return ""
            line += byte
        return line.decode("utf-8", "replace")

    def _wait_for(self, fd: int, event: int, seconds: float) -> bool:
        """Wait until something can be read or sent; where it can't in time, kill it."""
        deadline = time.monotonic() + seconds
        poller = select.poll()
        poller.register(fd, event)
        while True:
            remaining = max(deadline - time.monotonic(), 0)
            if poller.poll(min(remaining, LOOK_SECONDS) * 1000):
                return True
            if not remaining:
                self.kill()
            if not remaining or not self.wake():
                return False

    def wake(self) -> bool:
        """Have it go on where it was stopped; where that is in vain, kill it, and say so."""
        if _words_of(self._process.pid)[:1] not in ([b"T"], [b"t"]):
            return True
        self._wakes += 1
        if self._wakes <= MOST_WAKES:
            self._process.send_signal(signal.SIGCONT)
            return True
        self.kill()
        return False

    def kill(self) -> None:
        """Kill it, and first all that is below it: nobody else knows of that."""
        from guard.trials.launcher import descendants

        deadline = time.monotonic() + KILLING_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            below = descendants(self._process.pid)
            if not below:
                break
            self.killed.update(below)
            for pid in below:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(KILLING_SECONDS)

    def hang_up(self) -> None:
        """Have it kill all that is below it, and end."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Hang up, and wait until it is gone."""
        self.hang_up()
        self._control.close()
        deadline = time.monotonic() + ENDING_SECONDS
        while time.monotonic() < deadline and self.wake():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LOOK_SECONDS)
                return
        self.kill()
        self._process.wait()

    def note_state(self) -> None:
        """Note what it is like, for `is_changed`."""
        self._state = state_of(self._process.pid)

    def is_changed(self) -> bool:
        """Tell whether anything that its programs inherit was changed, or it was ever stopped."""
        return bool(self._wakes) or self._state != state_of(self._process.pid)


def state_of(pid: int) -> tuple[object, ...]:
    """Return all that the programs which a launcher starts get from it, and others can change."""
    mounts = _read(pid, "mountinfo").splitlines()
    words = _words_of(pid)
    status = _read(pid, "status").splitlines()
    return (
        [line for line in mounts if not OWN_MOUNT.search(line.split(b" ", 5)[4])],
        [words[place] for place in SCHEDULING if place < len(words)],
        [line for line in status if line.startswith(INHERITED)],
        *(_read(pid, name) for name in ("limits", "oom_score_adj", "cgroup")),
    )


def _words_of(pid: int) -> list[bytes]:
    """Return the words of a process's stat file after its name: the first is its state."""
    return _read(pid, "stat").rpartition(b") ")[2].split()


def _read(pid: int, name: str) -> bytes:
    """Read one of the files in which the kernel describes a process; nothing where it can't be."""
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
            return file.readall()
    except OSError:
        return b""
