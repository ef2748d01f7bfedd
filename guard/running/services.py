"""Whether something answers at an address: asked in a process of its own, which can be ended.

Looking a name up can't be bounded in time from within, and a thread that hangs in it would keep
trials from getting namespaces of their own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Final

#: Seconds that one address has to answer, and all that a name stands for together.
ONE: Final = 3.0
ALL: Final = 5.0
#: Seconds in which what let guard wait is not asked again.
REMEMBERED: Final = 60.0
_PROGRAM: Final = """\
import socket, sys
host, port, seconds = sys.argv[1:]
try:
    socket.create_connection((host, int(port)), float(seconds)).close()
except (OSError, OverflowError, ValueError) as error:
    sys.exit(getattr(error, "strerror", None) or str(error) or type(error).__name__)
"""

_silent: dict[str, tuple[float, str]] = {}


def find_silence(address: str) -> str | None:
    """Return why nothing answers at HOST:PORT, or None where something does."""
    when, said = _silent.get(address, (0.0, ""))
    began = time.monotonic()
    if said and began - when < REMEMBERED:
        return said
    why = _ask(address)
    found = f"nothing answers at {address} ({why})" if why else None
    if found and time.monotonic() - began >= ONE:
        _silent[address] = (time.monotonic(), found)
    return found


def _ask(address: str) -> str:
    """Return what keeps a connection from being made; empty where one was."""
    host, _, port = address.rpartition(":")
    call = (sys.executable or "python3", "-I", "-S", "-c", _PROGRAM, host.strip("[]"), port)
    try:
        # Not guard's own standard input: in a pre-push hook git writes the refs there.
        done = subprocess.run(
            (*call, str(ONE)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ALL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {ALL:g} s"
    except OSError as error:
        return f"it can't be asked: {error.strerror}"
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else f"exit {done.returncode}")
