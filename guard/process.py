"""Run a program to its end: output in full, a time-out that holds, nothing that can hang.

`run` sees one program through, whoever started it: a `Starter` is either a launcher
(`guard.trials.sandbox`) or guard itself (`guard.trials.children`). Output comes through pipes
that are read until the program ends, not until they close, so a daemon that holds one can't
hang the trial.
"""

from __future__ import annotations

import os
import select
import signal
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from guard.errors import TargetError
from guard.plugin.api import Finished
from guard.trials import stopping
from guard.trials.asking import clock_stopped

#: Bytes of one stream that are kept; a program that writes more is killed.
STREAM_CAP = 256 << 20
READ_BYTES = 1 << 18
#: What a pipe can hold after its writer has ended.
PIPE_BYTES = 1 << 20
#: After a time-out: the signals, and the seconds that each gets.
ESCALATION = ((signal.SIGTERM, 1.0), (signal.SIGKILL, 10.0))
CHECKER_TIMEOUT = 60.0
#: Seconds after which one that says nothing is asked for: its starter may have been stopped.
LOOK_SECONDS = 0.5


class Running(Protocol):
    """A program that was started."""

    @property
    def notice(self) -> int:
        """Descriptor that becomes readable when there is news of the program."""
        ...

    def ended(self) -> int | None:
        """Return the exit status, negative for a signal; None while it runs."""
        ...

    def signal_group(self, number: int) -> None:
        """Send a signal to the program's process group."""
        ...

    def close(self) -> None:
        """Let go of descriptors."""
        ...


class Starter(Protocol):
    """Starts programs, and knows what they left behind."""

    def start(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], stdio: Sequence[int]
    ) -> Running:
        """Start a program in a session of its own. Raises `TargetError` where it can't be."""
        ...

    def clean(self, grace: float) -> tuple[int, ...]:
        """Kill what was left behind; return the pids still alive after ``grace`` seconds."""
        ...


class Ended(NamedTuple):
    """How a program ended."""

    finished: Finished
    """Without exit status and signal where the time-out ended it."""
    timed_out: bool


def run(
    starter: Starter,
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    input: str | bytes | None = None,
) -> Ended:
    """Run a program to its end, ``timeout`` seconds at most.

    Raises `TargetError` where it can't be started, writes without end or can't be ended, and
    KeyboardInterrupt where guard itself is being stopped.
    """
    stopping.check()
    deadline = time.monotonic() + timeout
    out, err = _Stream(), _Stream()
    try:
        running = _start(starter, argv, cwd, env, (out, err), input)
        try:
            timed_out = _see_through(running, (out, err), deadline, argv[0])
            code = running.ended()
        finally:
            running.close()
        stopping.check()
        return Ended(_finished(code, timed_out, out.rest(), err.rest()), timed_out)
    finally:
        out.close()
        err.close()


def _finished(code: int | None, timed_out: bool, stdout: str, stderr: str) -> Finished:
    if timed_out or code is None:
        return Finished(None, stdout, stderr)
    if code < 0:
        return Finished(None, stdout, stderr, -code)
    return Finished(code, stdout, stderr)


def _start(
    starter: Starter,
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    streams: tuple[_Stream, _Stream],
    input: str | bytes | None,
) -> Running:
    if not argv:
        raise TargetError("an empty command can't be started")
    if any("\0" in part for part in (*argv, *env.values())):
        raise TargetError(f"{argv[0]} can't be started: a NUL byte in its arguments")
    stdin = _stdin(input)
    try:
        return starter.start(argv, cwd, env, (stdin, streams[0].write_end, streams[1].write_end))
    finally:
        os.close(stdin)
        for stream in streams:
            stream.close_write_end()


def _stdin(input: str | bytes | None) -> int:
    """Open what the program reads: a file, since feeding a pipe could dead-lock."""
    if input is None:
        return os.open(os.devnull, os.O_RDONLY)
    data = input if isinstance(input, bytes) else input.encode("utf-8", "surrogateescape")
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        file.seek(0)
        return os.dup(file.fileno())


def _see_through(
    running: Running, streams: tuple[_Stream, _Stream], deadline: float, name: str
) -> bool:
    """Read until the program ends; tell whether the time-out had to end it."""
    by_fd = {stream.read_end: stream for stream in streams}
    poller = select.poll()
    for fd in (*by_fd, running.notice):
        poller.register(fd, select.POLLIN)
    escalation = iter(ESCALATION)
    timed_out = False
    while True:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            timed_out = True
            deadline = time.monotonic() + _escalate(running, escalation, name)
            continue
        events = poller.poll(min(remaining, LOOK_SECONDS) * 1000)
        if not events and running.ended() is not None:
            return timed_out
        for fd, _ in events:
            if fd in by_fd:
                if not by_fd[fd].take():
                    poller.unregister(fd)
                elif by_fd[fd].size > STREAM_CAP:
                    running.signal_group(signal.SIGKILL)
                    raise TargetError(f"{name} wrote more than {STREAM_CAP >> 20} MiB of output")
            elif running.ended() is not None:
                return timed_out


def _escalate(running: Running, escalation: Iterator[tuple[int, float]], name: str) -> float:
    step = next(escalation, None)
    if step is None:
        raise TargetError(f"{name} can't be killed after its time-out")
    running.signal_group(step[0])
    return step[1]


class _Stream:
    """One stream of a program: a pipe, and what came through it."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self._parts: list[bytes] = []
        self.size = 0

    def take(self) -> bool:
        """Read what there is; False at the end."""
        try:
            part = os.read(self.read_end, READ_BYTES)
        except BlockingIOError:
            return True
        self._parts.append(part)
        self.size += len(part)
        return bool(part)

    def rest(self) -> str:
        """Read what the pipe still holds, and return everything as text."""
        enough = self.size + PIPE_BYTES
        before = -1
        while before < self.size < enough:
            before = self.size
            self.take()
        return b"".join(self._parts).decode("utf-8", "replace")

    def close_write_end(self) -> None:
        """Close our copy, so that the end of the program ends the stream."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    def close(self) -> None:
        """Close both ends."""
        self.close_write_end()
        os.close(self.read_end)


class CheckerPlace(NamedTuple):
    """Where checkers run: set by the engine while it grades a trial."""

    starter: Starter
    env: Mapping[str, str]


_place: ContextVar[CheckerPlace | None] = ContextVar("checker_place", default=None)


@contextmanager
def checkers_run_in(place: CheckerPlace) -> Generator[None]:
    """Let `run_checker` use the trial's environment and starter."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def run_checker(argv: Sequence[str], workspace: str, timeout: float = CHECKER_TIMEOUT) -> Finished:
    """Run a checker in the workspace, after the trial; what it leaves running is killed.

    In the environment of the trial that is being graded; outside of one (a replay) in an
    allow-listed environment with a HOME of its own. Neither exit status nor signal means
    that ``timeout`` seconds were not enough. Raises `TargetError` where it can't be started.
    """
    with clock_stopped():
        return _run_checker(argv, workspace, timeout)


def _run_checker(argv: Sequence[str], workspace: str, timeout: float) -> Finished:
    place = _place.get()
    if place is not None:
        return _run_in(place, argv, workspace, timeout)
    from guard.trials.environment import trial_environment
    from guard.trials.sandbox import open_sandbox

    with tempfile.TemporaryDirectory(prefix="guard-checker-") as folder:
        env = trial_environment(folder)
        for name in ("HOME", "TMPDIR"):
            os.mkdir(env[name])
        starter = open_sandbox(None).starter
        try:
            return _run_in(CheckerPlace(starter, env), argv, workspace, timeout)
        finally:
            starter.close()


def _run_in(place: CheckerPlace, argv: Sequence[str], workspace: str, timeout: float) -> Finished:
    try:
        return run(place.starter, argv, workspace, place.env, timeout).finished
    finally:
        place.starter.clean(0)
