"""A revision that somebody names as the base: found, or said how it is had."""

from __future__ import annotations

import re
from typing import Final

from guard.errors import GuardError, UnreadableError, UsageError
from guard.git import Repo, text_of
from guard.judging.ranges import shallow_commits
from guard.output import shell_path

UNSHALLOW: Final = "git fetch --unshallow"
_LOOK: Final = "git log --oneline -5"
#: What is counted from a commit: ``HEAD^1``, ``main~2``.
_COUNTED: Final = re.compile(r"([^\^~]+)[\^~]")


def find_base(repo: Repo, stated: str) -> str:
    """Return the commit that ``--base`` names. Raises `UsageError`, `UnreadableError`."""
    found = repo.resolve(f"{stated}^{{commit}}")
    if found is None:
        raise unknown_base(repo, stated)
    return found


def unknown_base(repo: Repo, stated: str) -> GuardError:
    """Return the error for a base that names no commit, or one beyond where a clone ends."""
    counted = _COUNTED.match(stated)
    if counted and shallow_commits(repo) and repo.resolve(f"{counted[1]}^{{commit}}"):
        return UnreadableError(f"the history doesn't reach {stated}: a shallow clone", UNSHALLOW)
    return UsageError(f"--base {stated} names no commit here", _fetched(repo, stated) or _LOOK)


def _fetched(repo: Repo, stated: str) -> str:
    """Return the command that fetches a branch; empty for what can be none."""
    remotes = text_of(repo.out("remote")).split()
    remote, _, branch = stated.partition("/")
    if not branch or remote not in remotes:
        remote, branch = "origin", stated
    named = repo.run("check-ref-format", "--branch", branch, ok=None)
    if remote not in remotes or named.code != 0:
        return ""
    return f"git fetch {remote} {shell_path(branch)}"
