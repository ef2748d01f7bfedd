from __future__ import annotations

import os
import signal
import threading

import pytest

from guard.trials import stopping
from guard.trials.stopping import SIGNALS, stopped_by_signals


class Stopped:
    """Something that runs programs, and counts how often it was stopped."""

    def __init__(self) -> None:
        self.count = 0

    def stop(self) -> None:
        self.count += 1


def interrupt_myself(number: int) -> None:
    with stopped_by_signals():
        stopping.check()
        try:
            os.kill(os.getpid(), number)
            threading.Event().wait(10)
        finally:
            with pytest.raises(KeyboardInterrupt):
                stopping.check()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_stops_everything_that_is_watched(number: signal.Signals) -> None:
    watched, forgotten = Stopped(), Stopped()
    for item in (watched, forgotten):
        stopping.watch(item)
    stopping.forget(forgotten)
    before = [signal.getsignal(each) for each in SIGNALS]
    with pytest.raises(KeyboardInterrupt):
        interrupt_myself(number)
    stopping.forget(watched)
    assert (watched.count, forgotten.count) == (1, 0)
    assert [signal.getsignal(each) for each in SIGNALS] == before
    stopping.check()


def test_what_starts_while_everything_is_stopped_is_stopped_too() -> None:
    late = Stopped()
    with stopped_by_signals():
        stopping.stop_everything()
        stopping.watch(late)
    stopping.forget(late)
    assert late.count == 1
    stopping.watch(late)
    stopping.forget(late)
    assert late.count == 1


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_stops_again_and_interrupts_nothing(number: signal.Signals) -> None:
    watched = Stopped()
    stopping.watch(watched)
    with stopped_by_signals():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        signal.raise_signal(number)
    stopping.forget(watched)
    assert watched.count == 2
    with stopped_by_signals(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def test_on_another_thread_signals_are_left_alone() -> None:
    seen: list[object] = []

    def work() -> None:
        with stopped_by_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
