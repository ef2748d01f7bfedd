"""pre-applypatch: the commit-msg rules on a mailed patch, which ``git am`` commits without them.

Git has applied the patch to the index by then, and its message lies in a file of the git directory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from guard.errors import ExitCode, UsageError
from guard.git import find_repo
from guard.hookruns.between import leaves_to_native
from guard.hookruns.main import run_hook
from guard_hooks import commit_msg

#: Below the git directory of the worktree.
FOLDER = "rebase-apply"
MESSAGE = "final-commit"
#: There while ``git rebase --apply`` replays commits that were judged, or will be at the push.
REBASING = "rebasing"


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the commit that ``git am`` is about to make."""
    if leaves_to_native("pre-applypatch"):
        return ExitCode.OK
    return run_hook(pre_applypatch)


def pre_applypatch() -> int:
    """Judge the patch; return the exit code."""
    with find_repo() as repo:
        folder = os.path.join(repo.git_dir, FOLDER)
    if os.path.exists(os.path.join(folder, REBASING)):
        return ExitCode.OK
    message = os.path.join(folder, MESSAGE)
    if not os.path.exists(message):
        raise UsageError("pre-applypatch: no patch is being applied here", "git am FILE")
    return commit_msg.commit_msg([message])


if __name__ == "__main__":
    raise SystemExit(main())
