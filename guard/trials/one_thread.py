"""A thread that calls functions one after another: code that isn't guard's, waited for in time.

What is opened on a thread is often to be closed there too. One that hangs is left behind on its
thread, which holds up neither the run nor an interrupt.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from guard.errors import TargetError
from guard.plugin.exits import note_heard
from guard.trials import stopping

T = TypeVar("T")


class OneThread:
    """Calls functions on a thread of its own, which starts with the first and ends by `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: SimpleQueue[_Call[object] | None] = SimpleQueue()
        self._is_started = False

    def call(self, function: Callable[[], T], seconds: float, *, always: bool = False) -> T:
        """Return what the function returns; raise what it raises.

        ``always``: also while guard is being stopped, which else raises KeyboardInterrupt.
        Raises `TargetError` where it isn't done in so many seconds.
        """
        call = _Call(function)
        self._start()
        self._calls.put(call)  # type: ignore[arg-type]  # what it returns goes to its caller alone
        if not always:
            stopping.watch(call)
        try:
            is_done = call.ended.wait(seconds)
        finally:
            stopping.forget(call)
        if not always:
            stopping.check()
        if not is_done:
            raise TargetError(f"it was not done within {seconds:g} s")
        return call.result()

    def close(self) -> None:
        """Let the thread end once it has done what it was asked for."""
        if self._is_started:
            self._calls.put(None)

    def _start(self) -> None:
        if not self._is_started:
            self._is_started = True
            threading.Thread(target=self._run, daemon=True, name=self._name).start()

    def _run(self) -> None:
        note_heard()
        while (call := self._calls.get()) is not None:
            call.run()


class _Call(Generic[T]):
    """One call, and what came of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._found: list[T] = []
        self._error: BaseException | None = None
        self.ended = threading.Event()

    def run(self) -> None:
        try:
            self._found.append(self._function())
        except KeyboardInterrupt:
            # Nobody interrupts this thread: it is no reason to stop guard.
            self._error = TargetError("it raised KeyboardInterrupt")
        except BaseException as error:  # anyone's code; raised again where it is waited for
            self._error = error
        finally:
            self.ended.set()

    def stop(self) -> None:
        """Wait no longer: guard is being stopped."""
        self.ended.set()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        if not self._found:
            raise KeyboardInterrupt  # it was stopped before it ended
        return self._found[0]
