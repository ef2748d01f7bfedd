"""How an error is told: what, where, the command that mends it; a bug with its report."""

from __future__ import annotations

import sys

from guard.errors import GuardError
from guard.output import printable, say, warn


def report_error(error: GuardError) -> None:
    """Print an error of ours in one or two lines."""
    warn(printable(error.message))
    if error.hint:
        say(f"  do  {printable(error.hint)}")


def report_bug(error: Exception) -> None:
    """Print a bug of ours: one line, and a report to paste where one can be written."""
    import os
    import tempfile
    import traceback

    from guard import __version__

    where = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" at {os.path.basename(where[0].filename)}:{where[0].lineno}" if where else ""
    warn(printable(f"a bug in guard: {type(error).__name__}: {error}{place}"))
    text = f"guard {__version__}, Python {sys.version}, {sys.platform}\n"
    text += "".join(traceback.format_exception(error))
    try:
        handle, path = tempfile.mkstemp(prefix="guard-bug-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError:
        return
    say(f"  the report to paste is in {path}")
