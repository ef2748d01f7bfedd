"""How an error is told: what, where, the command that mends it; a bug with its report."""

from __future__ import annotations

import errno
import sys

from guard.errors import ExitCode, GuardError, UnreadableError
from guard.output import printable, say, warn

#: What a machine runs out of: no fault of guard's, and nothing is known of what was asked.
EXHAUSTED = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE),
)
NO_TEMPORARY_FOLDER = "No usable temporary directory"


def report_error(error: GuardError) -> None:
    """Print an error of ours in one or two lines."""
    warn(printable(error.message))
    if error.hint:
        say(f"  do  {printable(error.hint)}")


def report_failure(error: Exception) -> int:
    """Print what was raised unforeseen, and return its exit code: a full disk is no bug."""
    exhausted = _exhausted(error)
    if exhausted is None:
        report_bug(error)
        return ExitCode.BUG
    report_error(exhausted)
    return exhausted.exit_code


def _exhausted(error: Exception) -> UnreadableError | None:
    if isinstance(error, MemoryError):
        return UnreadableError("this machine can't go on: there is no memory left")
    if not isinstance(error, OSError) or error.strerror is None:
        return None
    if error.strerror.startswith(NO_TEMPORARY_FOLDER):
        said = "nowhere is there room for temporary files"
    elif error.errno in EXHAUSTED:
        where = f" ({error.filename})" if isinstance(error.filename, str) else ""
        said = f"this machine can't go on: {error.strerror}{where}"
    else:
        return None
    return UnreadableError(said, "TMPDIR=/a/folder/with/room git commit    # or free what is full")


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
