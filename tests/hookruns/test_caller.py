"""A hook notices that the git it runs for is gone, though the shell between them still waits."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from guard.hookruns.caller import is_abandoned, note_caller

WAITING = """
import time
from guard.hookruns.heartbeat import heartbeat
from guard.hookruns.main import run_hook

def wait():
    with heartbeat(str):
        print("started", flush=True)
        time.sleep(TIME)
    return 0

print("ended in", run_hook(wait), flush=True)
"""


def start(*before: str, seconds: float = 30) -> subprocess.Popen[str]:
    program = WAITING.replace("TIME", str(seconds))
    call = [*before, sys.executable, "-P", "-c", program]
    found = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
    assert found.stdout is not None
    assert found.stdout.readline() == "started\n"
    return found


def ended(hook: subprocess.Popen[str]) -> str:
    assert hook.stdout is not None
    said = hook.stdout.read()
    hook.stdout.close()
    hook.wait()
    return said


def test_we_are_not_abandoned() -> None:
    note_caller()
    assert not is_abandoned()


@pytest.mark.parametrize(
    "before", [["sh", "-c", '"$@"; :', "-"], ["git", "-c", "alias.x=!sh -c '\"$@\"; :' -", "x"]]
)
def test_the_end_of_what_started_it_ends_the_hook(before: list[str]) -> None:
    hook = start(*before)
    hook.send_signal(signal.SIGKILL)
    assert ended(hook) == "ended in 130\n"


def test_a_hook_whose_git_waits_goes_on() -> None:
    hook = start("git", "-c", "alias.x=!sh -c '\"$@\"; :' -", "x", seconds=1)
    assert ended(hook) == "ended in 0\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_end_it_in_order(number: signal.Signals) -> None:
    hook = start()
    hook.send_signal(number)
    assert ended(hook) == "ended in 130\n"


def test_what_is_ignored_stays_ignored() -> None:
    hook = start("sh", "-c", 'trap "" HUP; exec "$@"', "-", seconds=1)
    hook.send_signal(signal.SIGHUP)
    assert ended(hook) == "ended in 0\n"
