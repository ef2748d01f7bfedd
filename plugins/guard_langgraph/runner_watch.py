"""Notes which files a program reads, by Python's own audit events.

Runs in the agent's own Python. What is read by code that isn't Python's, and by other programs, is
in no event: a program that is started may have read anything.
"""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any

_STARTING = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty")
_LISTING = ("os.listdir", "os.scandir")
ALL = "./**"


class Watch:
    """The paths below a folder that were read since it was made."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.realpath(folder)
        self._paths: set[str] = set()
        self._anything = False
        # There is no taking it away again: it lives as long as the program.
        sys.addaudithook(self._hear)

    def names(self) -> list[str]:
        """Return what was read, from the folder; ``./**`` where a program was started."""
        if self._anything:
            return [ALL]
        found: set[str] = set()
        for path in self._paths:
            folder = path.endswith("/")
            real = os.path.realpath(path)
            if real == self._folder or real.startswith(self._folder + "/"):
                found.add((real[len(self._folder) + 1 :] or ".") + "/" * folder)
        return sorted(found)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and self._is_reading(args):
            self._note(args[0])
        elif event in _LISTING:
            # Python itself looks through folders for what is imported.
            if not _caller().startswith("<frozen importlib"):
                self._note("." if args[0] is None else args[0], "/")
        elif event == "sqlite3.connect":
            self._note(args[0])
        elif event in _STARTING:
            self._anything = True

    def _is_reading(self, args: tuple[Any, ...]) -> bool:
        mode, flags = args[1], args[2]
        if isinstance(mode, str):
            return "r" in mode or "+" in mode
        return not isinstance(flags, int) or flags & os.O_ACCMODE != os.O_WRONLY

    def _note(self, path: Any, end: str = "") -> None:
        if isinstance(path, (str, bytes)) or hasattr(path, "__fspath__"):
            name = os.path.abspath(os.fsdecode(path)) + end
            # Byte-code is made of files that are read themselves.
            if not name.endswith(".pyc"):
                self._paths.add(name)


def _caller() -> str:
    """Return the file of the code that an event came from."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame else None
    return frame.f_code.co_filename if frame else ""
