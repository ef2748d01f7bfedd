"""pre-commit and pre-merge-commit: offline rules and affected cases, on the staged tree.

Most commits touch nothing that is guarded: that is found out first, without a snapshot and
without the engine. What is judged is the index that git gives, never the files on disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from guard.change import Change, staged_change
from guard.errors import ExitCode, UsageError
from guard.git import Repo, find_repo
from guard.hookruns.between import leaves_to_native
from guard.hookruns.judged_index import JUDGED, QUIET, remember
from guard.hookruns.main import is_nested, run_hook
from guard.hookruns.watched import may_affect
from guard.judging.amend import git_command_line
from guard.output import warn
from guard.plugin.switches import disabled_plugins
from guard.project import Project
from guard.store import Store
from guard_hooks.commit_msg import Start, find_start

#: Set by `git merge` for each branch that is merged; MERGE_HEAD isn't there yet.
GITHEAD = "GITHEAD_"


class Staged(NamedTuple):
    """What is about to be committed, and what it stands on."""

    repo: Repo
    change: Change
    base: Project
    new: Project
    argv: tuple[str, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Judge what is staged; file names that a framework passes say nothing that counts."""
    if leaves_to_native("pre-commit", "pre-merge-commit"):
        return ExitCode.OK
    return run_hook(pre_commit)


def pre_commit() -> int:
    """Judge what is staged; return the exit code."""
    with find_repo() as repo:
        if is_nested(repo):
            return ExitCode.OK
        staged = read_staged(repo)
        if not (staged.base.has_config or staged.new.has_config):
            warn("no guard.yaml, nothing is guarded")
            return ExitCode.OK
        code = ExitCode.OK if not is_concerned(staged) else judge(staged)
        if code == ExitCode.OK:
            keep_for_commit_msg(staged)
        return code


def judge(staged: Staged) -> int:
    """Judge what may affect a case; imported here, for most commits can't."""
    from guard_hooks.staged import judge_staged

    return judge_staged(staged)


def keep_for_commit_msg(staged: Staged) -> None:
    """Keep what was let through: it must still be that when git has its message.

    Where nothing guarded is staged, the next such commit needs no Python.
    """
    # Asked again: a case that the store knew nothing of is known by now.
    if is_concerned(staged):
        remember(staged.repo, staged.change, JUDGED)
    else:
        from guard.hookruns.fastpath import keep_list

        remember(staged.repo, staged.change, QUIET, keep_list(staged.base))


def is_concerned(staged: Staged) -> bool:
    """Tell whether the commit may affect a case; so it may where a file of guard's is wrong."""
    try:
        return may_affect(staged.base, staged.new, staged.change.entries)
    except UsageError:
        return True


def read_staged(repo: Repo) -> Staged:
    """Return the index against what the commit stands on; nothing is written for it."""
    argv = git_command_line()
    start = add_merged(repo, find_start(repo, argv))
    change = staged_change(repo, start.base)._replace(parents=start.parents)
    store, disabled = Store.open(repo.common_dir), disabled_plugins()
    base, new = (Project(repo, tree, store, disabled) for tree in (change.base, change.new))
    return Staged(repo, change, base, new, argv)


def add_merged(repo: Repo, start: Start) -> Start:
    """Add the branches that a clean merge brings, which only the environment names."""
    merged = [name[len(GITHEAD) :] for name in os.environ if name.startswith(GITHEAD)]
    head = repo.resolve("HEAD") if merged and not start.parents else None
    return start._replace(parents=(head, *merged)) if head else start


if __name__ == "__main__":
    raise SystemExit(main())
