"""A line every so often while a hook works: git keeps its connection open, and people waiting."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from guard import output

#: Seconds between two lines. Servers and shells take half a minute of silence for an end.
INTERVAL: Final = 25.0


@contextmanager
def heartbeat(describe: Callable[[], str], interval: float = INTERVAL) -> Generator[None]:
    """Write what ``describe`` says to stderr every ``interval`` seconds, until left.

    Not on a terminal: `guard.wording.progress` has a bar there.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        yield
        return
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(interval):
            output.warn(describe())

    thread = threading.Thread(target=beat, daemon=True, name="heartbeat")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
