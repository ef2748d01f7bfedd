"""Keeps foreign code from ending guard behind its back: `os._exit`, and `exec` in its place.

A repository's functions and installed plugins run in guard's own process. One that calls
`os._exit(0)`, on whatever thread, or at exit, would have guard end in 0 without a report: a
pass of which nothing is known. The same goes for `os.execv`, which puts another program in
guard's place. From the first such code on, these raise in guard's own process; a child that
was forked there may end and exec as ever. This is no wall against malice: what a repository's
code may do, its owner decided (it is trusted as its tests are).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

#: For guard's own children, which end by it.
real_exit: Final = os._exit
_REAL: Final[dict[str, Callable[..., Any]]] = {
    name: getattr(os, name) for name in ("_exit", "execv", "execve")
}

_own_pid = 0
_own = threading.local()
_strays = 0


class EndsGuard(SystemExit):
    """Foreign code tried to end guard's process."""


def keep_guard_running() -> None:
    """Have what ends a process raise `EndsGuard` in this one; before foreign code is loaded."""
    global _own_pid
    if _own_pid == os.getpid():
        return
    if not _own_pid:
        for name, real in _REAL.items():
            setattr(os, name, _refusing(name, real))
        _tell_shortly()
    _own_pid = os.getpid()


def _refusing(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        global _strays
        if os.getpid() != _own_pid:
            return real(*args, **kwargs)
        if not _is_heard():
            _strays += 1
        raise EndsGuard(f"it tried to end guard (os.{name})")

    refuse.__name__ = name
    return refuse


def _tell_shortly() -> None:
    """Tell in one line what is raised where nobody can catch it: by threads, and at exit."""
    before, before_threads = sys.unraisablehook, threading.excepthook

    def tell(unraisable: sys.UnraisableHookArgs, /) -> None:
        if not _told(unraisable.exc_value):
            before(unraisable)

    def tell_of_thread(raised: threading.ExceptHookArgs, /) -> None:
        if not _told(raised.exc_value):
            before_threads(raised)

    sys.unraisablehook, threading.excepthook = tell, tell_of_thread


def _told(error: BaseException | None) -> bool:
    if isinstance(error, EndsGuard) and sys.stderr is not None:
        print(f"guard: code that it called: {error}", file=sys.stderr)
    return isinstance(error, EndsGuard)


def _is_heard() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main or getattr(_own, "is_heard", False)


def note_heard() -> None:
    """Note that whatever is raised on this thread is told of who raised it."""
    _own.is_heard = True


def count_unheard() -> int:
    """Return how often a thread that nobody listens to tried to end guard."""
    return _strays
