"""The one place where what a hook raises becomes a line and an exit code.

No failure ends in 0; that the output can't be written changes no verdict.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

from guard.errors import ExitCode, GuardError, quit_by_others
from guard.git import Repo
from guard.output import say, warn

#: The git directory of the repository that a hook of ours is judging.
ACTIVE = "GUARD_HOOK_ACTIVE"


def run_hook(function: Callable[[], int]) -> int:
    """Run a hook's function and return its exit code, whatever happens in it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
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
        from guard.failures import report_bug

        report_bug(error)
        return ExitCode.BUG


def _refuse(error: GuardError) -> int:
    warn(f"refused: {error.message}")
    if error.hint:
        say(f"  do       {error.hint}")
    return error.exit_code


def is_nested(repo: Repo) -> bool:
    """Tell whether a hook of ours is at work on this repository already, above us.

    A case that commits in the repository it tests would else start the guard in a circle
    (GIT-CASES 7). From here on what is started by this process is below it.
    """
    if os.environ.get(ACTIVE) == repo.git_dir:
        warn("this hook was started by guard's own hook on this repository: not judged again")
        return True
    os.environ[ACTIVE] = repo.git_dir
    return False
