"""Stop everything: Ctrl-C and SIGTERM kill what trials started, and leave no folder behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final, Protocol

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds that the main thread may wait at a time: a signal that comes just before it begins is
#: noted, and doesn't wake it.
LOOK_SECONDS: Final = 0.5


class Stoppable(Protocol):
    """Something that runs programs, and can be made to end them at once."""

    def stop(self) -> None:
        """Kill what it runs; called from any thread, also twice."""
        ...


# Reentrant: a signal handler may interrupt the thread that holds it.
_lock = threading.RLock()
_live: set[Stoppable] = set()
_stopping = False


def watch(item: Stoppable) -> None:
    """Have `stop_everything` stop this too, also where it has begun already."""
    with _lock:
        _live.add(item)
        if _stopping:
            item.stop()


def forget(item: Stoppable) -> None:
    """Undo `watch`."""
    with _lock:
        _live.discard(item)


def check() -> None:
    """Raise KeyboardInterrupt on a trial's thread when guard is being stopped."""
    if _stopping:
        raise KeyboardInterrupt


def stop_everything() -> None:
    """Kill all programs that run, and let no further one start."""
    global _stopping
    with _lock:
        _stopping = True
        for item in list(_live):
            item.stop()


@contextmanager
def stopped_by_signals() -> Generator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into `stop_everything` and KeyboardInterrupt.

    Around everything that waits for trials. Only the main thread may handle signals: on
    another one this does nothing.
    """
    global _stopping
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _on_signal) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _stopping = False


def _on_signal(number: int, frame: FrameType | None) -> None:
    # Git passes Ctrl-C on to a hook that got it from the terminal already: raised a second
    # time it breaks a lock which the first is letting go of.
    stopping_already = _stopping
    stop_everything()
    if not stopping_already:
        raise KeyboardInterrupt
