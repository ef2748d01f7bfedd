"""When a process started: the same each time it is asked, and empty where it can't be seen."""

from __future__ import annotations

import os
import subprocess
import sys

from guard.judging import started
from guard.judging.started import when_started


def test_a_process_has_started_once() -> None:
    assert when_started(os.getpid()) == when_started(os.getpid()) != ""


def test_a_process_that_ended_is_not_seen() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert when_started(ended.pid) == ""


def test_start_of_a_process_is_told_where_there_is_no_proc() -> None:
    """By ps, as on macOS: one word, the same each time."""
    told = started._asked_of_ps(os.getpid())  # pyright: ignore[reportPrivateUsage]
    assert told == started._asked_of_ps(os.getpid())  # pyright: ignore[reportPrivateUsage]
    assert told.count("-") == 4
    assert " " not in told
