"""Run a function for so long and no longer, whatever it waits for.

In a child process: neither a git that hangs nor a regular expression that never ends hears of
a deadline. At its end the child is killed with all that it started.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import NoReturn

from guard.errors import ExitCode, UnreadableError
from guard.plugin.exits import real_exit

#: Tells the watching process that the function has more, or fewer, seconds than was said.
SetLimit = Callable[[float], None]
#: Seconds after which a child ends that nobody watches any more.
UNWATCHED = 5.0
#: Bytes that the function, and each process that it starts, may hold for themselves.
MEMORY = 1 << 30


def run_bounded(function: Callable[[SetLimit], int], seconds: float, memory: int = MEMORY) -> int:
    """Return what a function returns within so many seconds; it is told how to change them.

    Raises `UnreadableError` where it takes longer, or is killed. A signal that ends the caller
    has to raise (`guard.hookruns.main` sees to that), or the child is left to its own end.
    """
    started = time.monotonic()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError as error:
        raise UnreadableError(f"no process could be started: {error.strerror}") from error
    if not child:
        os.close(reading)
        _bound_memory(memory)
        _be_the_child(function, writing, seconds)
    os.close(writing)
    with open(reading, "rb", buffering=0) as told:
        return _watch(child, told.fileno(), started, seconds)


def _be_the_child(function: Callable[[SetLimit], int], writing: int, seconds: float) -> NoReturn:
    code = int(ExitCode.BUG)
    try:
        os.setpgid(0, 0)
        _end_unwatched(seconds)

        def set_limit(limit: float) -> None:
            _end_unwatched(limit)
            os.write(writing, b"%r\n" % limit)

        code = function(set_limit)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    finally:
        real_exit(code)


def _bound_memory(most: int) -> None:
    """Have a huge file end in an error here, and not in some other process of the server."""
    import resource

    try:
        # Not RLIMIT_AS: git maps packs that are larger than any memory.
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    except (OSError, ValueError):
        return


def _end_unwatched(seconds: float) -> None:
    # No handler: the kernel ends it, also where Python is busy elsewhere.
    signal.setitimer(signal.ITIMER_REAL, seconds + UNWATCHED)


def _watch(child: int, told: int, started: float, seconds: float) -> int:
    try:
        limit = _wait(told, started, seconds)
    except BaseException:
        _kill(child)
        raise
    if limit is not None:
        _kill(child)
        raise UnreadableError(f"it could not be established within {limit:g} s")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        raise UnreadableError(f"it could not be established: signal {-code} ended guard")
    return code


def _wait(told: int, started: float, limit: float) -> float | None:
    """Wait for the child's end; return the seconds that it had, where they are over before."""
    while True:
        left = started + limit - time.monotonic()
        if left <= 0 or not select.select([told], [], [], left)[0]:
            return limit
        lines = os.read(told, 4096).split()
        if not lines:
            return None
        limit = float(lines[-1])


def _kill(child: int) -> None:
    """Kill the child and its process group; it may not have got as far as to make one."""
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except OSError:
            continue
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        return
