"""How an error is told: what, where, the command that mends it; a bug with its report."""

from __future__ import annotations

import sys

from guard.errors import GuardError


def report_error(error: GuardError) -> None:
    """Print an error of ours in one or two lines."""
    print(f"guard: {_printable(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"  do  {_printable(error.hint)}", file=sys.stderr)


def report_bug(error: Exception) -> None:
    """Print a bug of ours: one line, and a report to paste where one can be written."""
    import os
    import tempfile
    import traceback

    from guard import __version__

    where = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" at {os.path.basename(where[0].filename)}:{where[0].lineno}" if where else ""
    print(f"guard: a bug in guard: {type(error).__name__}: {error}{place}", file=sys.stderr)
    text = f"guard {__version__}, Python {sys.version}, {sys.platform}\n"
    text += "".join(traceback.format_exception(error))
    try:
        handle, path = tempfile.mkstemp(prefix="guard-bug-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError:
        return
    print(f"  the report to paste is in {path}", file=sys.stderr)


def _printable(text: str) -> str:
    shown = text.encode("utf-8", "backslashreplace").decode()
    encoding = sys.stderr.encoding or "utf-8"
    return shown.encode(encoding, "backslashreplace").decode(encoding)
