"""A line every so often, and none too many."""

from __future__ import annotations

import threading
import time

import pytest

from guard.hookruns.heartbeat import INTERVAL, heartbeat


def test_speaks_while_the_work_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    asked = threading.Semaphore(0)
    known: list[int] = []

    def describe() -> str:
        known.append(1)
        asked.release()
        return f"{len(known)} of 3 known"

    with heartbeat(describe, 0.01):
        assert asked.acquire(timeout=10)
        assert asked.acquire(timeout=10)
    assert capsys.readouterr().err.startswith("guard: 1 of 3 known\nguard: 2 of 3 known\n")


def test_work_that_is_done_at_once_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with heartbeat(lambda: "still there"):
        pass
    assert capsys.readouterr().err == ""


def test_ends_with_the_work_even_when_it_fails() -> None:
    began = time.monotonic()
    with pytest.raises(KeyError), heartbeat(lambda: "still there"):
        raise KeyError
    assert time.monotonic() - began < INTERVAL
    assert "heartbeat" not in [thread.name for thread in threading.enumerate()]


def test_a_server_that_waits_half_a_minute_hears_of_it() -> None:
    assert INTERVAL < 30
