"""Start programs from guard itself: where no launcher is to be had (macOS), and for replays.

What is left behind is found by the inherited tag and the session, so a daemon that drops its
environment and makes a session of its own is not seen here; the report says so.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

from guard.errors import TargetError
from guard.trials import stopping
from guard.trials.environment import TAG

KILLING_SECONDS = 5.0


class DirectStarter:
    """Starts programs as children of guard.

    With a ``tag`` it also cleans up what a target started by itself, not through
    ``run_program``, in the trial's environment.
    """

    usable = True

    def __init__(self, tag: str = "") -> None:
        self._sessions: set[int] = set()
        self._tags: set[str] = {tag} if tag else set()

    def start(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], stdio: Sequence[int]
    ) -> DirectProgram:
        """Start a program in a session of its own. Raises `TargetError` where it can't be."""
        try:
            # Never preexec_fn: it forbids vfork, and costs 20 ms in a large process.
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=stdio[0],
                stdout=stdio[1],
                stderr=stdio[2],
                start_new_session=True,
            )
        except OSError as error:
            raise TargetError(f"{argv[0]} can't be started: {error.strerror}") from error
        self.remember(process.pid, env)
        return DirectProgram(process)

    def remember(self, pid: int, env: Mapping[str, str]) -> None:
        """Note the session and the tag by which `clean` finds what a program left behind."""
        self._sessions.add(pid)
        self.remember_tag(env)

    def remember_tag(self, env: Mapping[str, str]) -> None:
        """Note the tag alone, where the session isn't known."""
        if TAG in env:
            self._tags.add(env[TAG])

    def forget_all(self) -> None:
        """Forget what was noted: nothing of it is left."""
        self._sessions.clear()
        self._tags.clear()

    def close(self) -> None:
        """Kill what is left."""
        if self._sessions or self._tags:
            self.clean(0)

    def clean(self, grace: float) -> tuple[int, ...]:
        """Kill what was left behind; return the pids still alive after ``grace`` seconds."""
        left = self._left_behind()
        deadline = time.monotonic() + grace
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = self._left_behind()
        self._kill_all(left)
        self.forget_all()
        return tuple(left)

    def _kill_all(self, left: list[int]) -> None:
        deadline = time.monotonic() + KILLING_SECONDS
        while left and time.monotonic() < deadline:
            for pid in left:
                _send(os.kill, pid, signal.SIGKILL)
            time.sleep(0.01)
            left = self._left_behind()

    def _left_behind(self) -> list[int]:
        import psutil

        found: list[int] = []
        for process in psutil.process_iter():
            try:
                if self._owns(process) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.pid)
            except (psutil.Error, OSError):
                continue
        return found

    def _owns(self, process: object) -> bool:
        import psutil

        assert isinstance(process, psutil.Process)
        if os.getsid(process.pid) in self._sessions:
            return True
        return bool(self._tags) and process.environ().get(TAG) in self._tags


class DirectProgram:
    """A running child of guard."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._code: int | None = None
        self._waiter: threading.Thread | None = None
        self.notice = self._open_notice()
        stopping.watch(self)

    def _open_notice(self) -> int:
        try:
            return os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):
            # No pidfd (macOS): a thread waits, and says so through a pipe.
            notice, told = os.pipe()
            self._waiter = threading.Thread(target=self._wait_and_tell, args=(told,), daemon=True)
            self._waiter.start()
            return notice

    def _wait_and_tell(self, told: int) -> None:
        self._process.wait()
        os.close(told)

    def ended(self) -> int | None:
        """Return the exit status, negative for a signal; None while it runs."""
        if self._code is None:
            self._code = self._process.poll()
        return self._code

    def signal_group(self, number: int) -> None:
        """Send a signal to the program's process group."""
        if self._code is None:
            _send(os.killpg, self._process.pid, number)

    def stop(self) -> None:
        """Kill the program."""
        self.signal_group(signal.SIGKILL)

    def close(self) -> None:
        """Let go of descriptors; a program that still runs is killed."""
        stopping.forget(self)
        if self.ended() is None:
            self.signal_group(signal.SIGKILL)
            self._process.wait()
        if self._waiter is not None:
            self._waiter.join()
        os.close(self.notice)


def _send(send: object, pid: int, number: int) -> None:
    assert callable(send)
    try:
        send(pid, number)
    except (ProcessLookupError, PermissionError):
        return
