"""A line every so often while a hook works: git keeps its connection open, and people waiting.

Where git itself is gone (a client with buttons killed it alone) nobody waits any more: then the
hook is ended, and all that it runs with it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from guard import output
from guard.hookruns.caller import is_abandoned

#: Seconds between two lines. Servers and shells take half a minute of silence for an end.
INTERVAL: Final = 25.0
#: Seconds between two looks at whether git is still there.
LOOK: Final = 0.25


@contextmanager
def heartbeat(describe: Callable[[], str], interval: float = INTERVAL) -> Generator[None]:
    """Write what ``describe`` says to stderr every ``interval`` seconds, until left.

    Not on a terminal: `guard.wording.progress` has a bar there. Where git is gone, this process
    is sent the signal that ends it.
    """
    is_abandoned()  # Looks for git while it is there.
    speaks = sys.stderr is not None and not sys.stderr.isatty()
    ended = threading.Event()

    def beat() -> None:
        due = time.monotonic() + interval
        while not ended.wait(min(interval, LOOK)):
            if is_abandoned():
                os.kill(os.getpid(), signal.SIGTERM)
                return
            if speaks and time.monotonic() >= due:
                due = time.monotonic() + interval
                output.warn(describe())

    thread = threading.Thread(target=beat, daemon=True, name="heartbeat")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
