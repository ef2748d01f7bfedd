"""The one place where what a hook raises becomes a line and an exit code.

No failure ends in 0; that the output can't be written changes no verdict.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from guard.errors import ExitCode, GuardError, quit_by_others
from guard.git import Repo
from guard.hookruns.caller import note_caller
from guard.nesting import enter
from guard.output import say, warn

#: What ends a process at once, its temporary folders left behind; Ctrl-C Python handles itself.
ENDINGS = (signal.SIGTERM, signal.SIGHUP)


def run_hook(function: Callable[[], int]) -> int:
    """Run a hook's function and return its exit code, whatever happens in it."""
    note_caller()
    _open_standard_streams()
    before = {number: signal.signal(number, _interrupt) for number in _to_handle()}
    try:
        return _told(function)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _told(function: Callable[[], int]) -> int:
    try:
        return int(function())
    except GuardError as error:
        return _refuse(error)
    except SystemExit as error:
        return _refuse(quit_by_others(error))
    except KeyboardInterrupt:
        warn("interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:
        from guard.failures import report_failure

        return report_failure(error)


def _refuse(error: GuardError) -> int:
    warn(f"refused: {error.message}")
    if error.hint:
        say(f"  do       {error.hint}")
    return error.exit_code


def _open_standard_streams() -> None:
    """Open what git was started without: a file opened later would take its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _to_handle() -> list[signal.Signals]:
    """Return the signals to handle: under `nohup` what is ignored stays ignored."""
    return [number for number in ENDINGS if signal.getsignal(number) is signal.SIG_DFL]


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def is_nested(repo: Repo) -> bool:
    """Tell whether a hook of ours is at work on this repository already, above us."""
    if enter(repo.common_dir):
        return False
    warn("this hook was started by guard's own hook on this repository: not judged again")
    return True
