"""When a process started: with its number that tells it from all others, before and after it."""

from __future__ import annotations

import os


def when_started(number: int) -> str:
    """Return when a process started, as its system counts; empty where it can't be seen."""
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            # The name stands in brackets, and may itself hold blanks and brackets.
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError, ValueError):
        return "" if os.path.isdir("/proc/self") else _asked_of_ps(number)


def _asked_of_ps(number: int) -> str:
    """Read it where there is no /proc (macOS), to the second."""
    import subprocess

    call = ("ps", "-o", "lstart=", "-p", str(number))
    try:
        said = subprocess.run(call, capture_output=True, check=False).stdout
    except OSError:
        return ""
    return "-".join(os.fsdecode(said).split()) if said.isascii() else ""
