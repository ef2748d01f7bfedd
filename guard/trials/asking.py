"""Asks evaluators on a thread of their own, in time: they are code that isn't guard's.

One that loops for ever is left behind on its thread, which holds up neither the run nor an
interrupt; whatever is raised on that thread, also KeyboardInterrupt, is its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from guard.errors import TargetError
from guard.plugin.exits import note_heard
from guard.trials import stopping

if TYPE_CHECKING:
    from guard.plugin.api import Evaluator

T = TypeVar("T")

#: Seconds that an evaluator has at least: what a quick case left behind may be slow to grade.
LEAST: Final = 10.0


class Asking(Generic[T]):
    """Puts questions to evaluators, one after another; used once.

    Each has the time of its case; checkers have a bound of their own, and don't count.
    """

    def __init__(self, seconds: float, *, apart: bool) -> None:
        """``apart``: on a thread of their own; where all are guard's own there is no need."""
        self.apart = apart
        self.anything: tuple[type[BaseException], ...] = (Exception, SystemExit)
        """What an evaluator may raise: on its own thread also what else is an interrupt."""
        if apart:
            self.anything = (BaseException,)
        self.seconds = max(seconds, LEAST)
        self.asked: Evaluator | None = None
        self.closed = False
        self._since: float | None = time.monotonic()
        self._found: T | None = None
        self._error: BaseException | None = None
        self._done = threading.Event()

    @property
    def overdue(self) -> str:
        """What to say where one isn't done in time."""
        name = self.asked.name if self.asked else ""
        return f"evaluator {name} was not done within {self.seconds:g} s"

    def ask(self, evaluator: Evaluator) -> None:
        """Give an evaluator its time. Raises `TargetError` where nobody waits any more."""
        if self.closed:
            raise TargetError("the time is over")
        self.asked = evaluator
        self._since = time.monotonic()

    def run(self, function: Callable[[], T]) -> T | None:
        """Return what the function returns, None where an evaluator isn't done in time.

        Raises what the function does, and KeyboardInterrupt where guard is being stopped.
        """
        if not self.apart:
            return function()
        inside = copy_context()
        stopping.watch(self)
        try:
            with stopping.stopped_by_signals():
                thread = threading.Thread(
                    target=inside.run, args=(self._call, function), daemon=True, name="evaluators"
                )
                thread.start()
                is_done = self._wait()
        finally:
            stopping.forget(self)
            self.closed = True
        stopping.check()
        if is_done and self._error is not None:
            raise self._error
        return self._found if is_done else None

    def stop(self) -> None:
        """Wait no longer: guard is being stopped."""
        self._done.set()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let no time pass. Raises `TargetError` where nobody waits any more."""
        if self.closed:
            raise TargetError("the evaluator's time is over")
        self._since = None
        try:
            yield
        finally:
            self._since = time.monotonic()

    def _wait(self) -> bool:
        while not self._done.wait(min(max(self._left(), 0), stopping.LOOK_SECONDS)):
            if self._left() <= 0:
                return False
        return True

    def _left(self) -> float:
        since = self._since
        return stopping.LOOK_SECONDS if since is None else since + self.seconds - time.monotonic()

    def _call(self, function: Callable[[], T]) -> None:
        note_heard()
        _current.set(self)
        try:
            self._found = function()
        except BaseException as error:  # raised again where it is waited for
            self._error = error
        finally:
            self._done.set()


_current: ContextVar[Asking[Any] | None] = ContextVar("asking", default=None)


@contextmanager
def clock_stopped() -> Generator[None]:
    """Let what has a bound of its own cost the evaluator that asks for it no time."""
    asking = _current.get()
    if asking is None:
        yield
        return
    with asking.paused():
        yield
