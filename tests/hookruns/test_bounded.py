"""A function that has so many seconds: real processes, real signals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

PROGRAM = """\
import os, re, subprocess, sys, time
from guard.hookruns.bounded import run_bounded
from guard.hookruns.main import run_hook

def work(set_limit):
    {body}

sys.exit(run_hook(lambda: run_bounded(lambda limit: run_hook(lambda: work(limit)), {seconds})))
"""
#: Its own: another worker may look for the same at that moment.
LONG = f"98765.{os.getpid()}"


def start(body: str, seconds: float = 30) -> subprocess.Popen[str]:
    program = PROGRAM.format(body=body.replace("\n", "\n    "), seconds=seconds)
    argv = [sys.executable, "-P", "-c", program]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(body: str, seconds: float = 30) -> tuple[int, str, str]:
    process = start(body, seconds)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def sleepers() -> list[int]:
    """Return the processes that sleep for so long: nobody else asks for that."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True).stdout
    return [int(pid) for pid in re.findall(rf"(?m)^\s*(\d+) sleep {LONG}$", listed)]


def wait_for(condition: Callable[[], bool]) -> bool:
    for _ in range(400):
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_gives_what_it_returned_and_said(code: int) -> None:
    assert run(f"print('done')\nreturn {code}") == (code, "done\n", "")


def test_a_git_that_hangs_is_killed_with_what_it_started() -> None:
    before = sleepers()
    body = f"subprocess.run(['sh', '-c', 'sleep {LONG}; true'])\nreturn 0"
    code, _, said = run(body, 0.5)
    assert (code, said) == (3, "guard: refused: it could not be established within 0.5 s\n")
    assert sleepers() == before


def test_what_never_gives_python_a_turn_is_killed() -> None:
    started = time.monotonic()
    code, _, said = run("re.match('(a+)+$', 'a' * 60 + 'b')\nreturn 0", 0.5)
    assert (code, said) == (3, "guard: refused: it could not be established within 0.5 s\n")
    assert time.monotonic() - started < 20


def test_what_ignores_every_signal_is_killed() -> None:
    body = "import signal\nfor n in (1, 2, 14, 15): signal.signal(n, signal.SIG_IGN)\n"
    assert run(f"{body}time.sleep(60)\nreturn 0", 0.5)[0] == 3


def test_limit_may_be_learned_later() -> None:
    assert run("set_limit(0.5)\ntime.sleep(60)\nreturn 0")[2].endswith("within 0.5 s\n")
    assert run("set_limit(30)\ntime.sleep(1.5)\nreturn 0", 1)[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="others don't bound what is mapped")
def test_what_takes_all_the_memory_is_no_pass() -> None:
    code, _, said = run("return len(b'x' * (3 << 30)) * 0")
    assert code == 3
    assert "no memory left" in said
    assert run("return len(b'x' * (30 << 20)) * 0")[0] == 0


def test_killed_by_the_system_is_no_pass() -> None:
    code, _, said = run("os.kill(os.getpid(), 9)\nreturn 0")
    assert (code, said) == (
        3,
        "guard: refused: it could not be established: signal 9 ended guard\n",
    )


def test_what_raises_is_no_pass() -> None:
    assert run("raise ValueError")[0] == 4


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_ended_from_outside_it_leaves_nothing_running(number: int) -> None:
    before = sleepers()
    process = start(f"subprocess.run(['sleep', '{LONG}'])\nreturn 0")
    assert wait_for(lambda: len(sleepers()) > len(before))
    os.kill(process.pid, number)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert wait_for(lambda: sleepers() == before)


def test_nobody_watching_it_ends_all_the_same() -> None:
    body = "from guard.hookruns import bounded\nbounded.UNWATCHED = 0.1\n"
    process = start(f"{body}set_limit(0.2)\nprint(os.getpid(), flush=True)\ntime.sleep(60)")
    assert process.stdout
    child = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=30)
    listed = ("ps", "-o", "stat=", "-p", str(child))
    # Where nobody waits for it, its name stays; nothing of it runs.
    assert wait_for(lambda: subprocess.run(listed, capture_output=True).stdout[:1] in (b"", b"Z"))
