"""Conflict markers that a merge left in a file: named as such, whatever they break."""

from __future__ import annotations

from typing import Final

from guard.errors import ConfigError

#: The lines of a conflict in their order.
_MARKERS: Final = ("<<<<<<<", "=======", ">>>>>>>")


def unsettled(text: str, file: str, first_line: int = 1) -> ConfigError | None:
    """Return the error that names conflict markers; None where there are none."""
    line = _first_conflict(text)
    if not line:
        return None
    said = "holds conflict markers of a merge: resolve them"
    return ConfigError(
        file, line - 1 + first_line, "", said, f"edit it, then: git add {_quoted(file)}"
    )


def _first_conflict(text: str) -> int:
    """Return the line of the first marker of a whole conflict; 0 where there is none."""
    began, awaited = 0, 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(_MARKERS[awaited]):
            began = began or number
            awaited += 1
        if awaited == len(_MARKERS):
            return began
    return 0


def to_mend(file: str) -> str:
    """Return what to do about a file that can't be read: hooks see what is staged alone."""
    return f"mend it there, then: git add {_quoted(file)}"


def _quoted(file: str) -> str:
    from guard.output import shell_path

    return shell_path(file)
