"""Whether the git that a hook runs for is still there: without it nobody waits for a verdict."""

from __future__ import annotations

import os

from guard.judging.amend import find_git, is_git, read_process

_parent = os.getppid()
_git: int | None = None


def note_caller() -> None:
    """Remember who started this process; asked again it may be an orphan's new parent."""
    global _parent, _git
    _parent, _git = os.getppid(), None


def is_abandoned() -> bool:
    """Tell whether the process that started the hook is gone, or the git above it."""
    global _git
    if os.getppid() != _parent:
        return True
    if not os.path.isdir("/proc/self"):
        # Each look at another process would start `ps`.
        return False
    if _git is None:
        _git = find_git() or 0
    # A process that ended and isn't waited for has no command line any more.
    process = read_process(_git) if _git else None
    return _git != 0 and (process is None or not is_git(process.argv))
