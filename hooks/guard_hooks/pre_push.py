"""pre-push: every own commit of the push by the rules, then the suite on each pushed tip.

Standard input is read to its end before anything else: git and pipelines before it would break
on a hook that leaves early (docs/git.md 76).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from guard.errors import ExitCode, UnreadableError
from guard.git import Repo, find_repo
from guard.hookruns.between import framework_name, leaves_to_native, program_between
from guard.hookruns.main import is_nested, run_hook
from guard.hookruns.pushes import (
    PushedRef,
    find_tips,
    has_all,
    known_there,
    parse_pushed,
    pushed_by_framework,
)
from guard.output import warn


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the push that git describes: the remote's name and URL, its refs on stdin."""
    words = sys.argv[1:] if argv is None else list(argv)
    said = read_stdin()
    if leaves_to_native("pre-push"):
        return ExitCode.OK
    remote, url = (*words[:2], "", "")[:2]
    return run_hook(lambda: pre_push(remote, said, url))


def pre_push(remote: str, said: bytes, url: str = "") -> int:
    """Judge the push; return the exit code."""
    with find_repo() as repo:
        if is_nested(repo):
            return ExitCode.OK
        refs = read_refs(repo, said, remote)
        tips = find_tips(repo, refs)
        if not tips:
            return ExitCode.OK
        from guard_hooks.pushed import judge_push

        # A framework calls us without arguments; by URL it gives the URL for the name.
        remote = remote or os.environ.get("PRE_COMMIT_REMOTE_NAME", "")
        return judge_push(repo, tips, known_there(repo, tips, remote, url))


def read_refs(repo: Repo, said: bytes, remote: str) -> list[PushedRef]:
    """Return what is pushed, as git or the framework tells; a push without news brings nothing.

    Raises `UnreadableError` where it is a program between git and us that says nothing.
    """
    if said.strip():
        return parse_pushed(said)
    if os.environ.get("PRE_COMMIT") == "1":
        name = framework_name(os.environ)
        warn(f"{name} shows guard only one ref of this push: guard install shows it all")
        return pushed_by_framework(repo, os.environ)
    refuse_silence(repo, remote)
    return []


def refuse_silence(repo: Repo, remote: str) -> None:
    """Raise `UnreadableError` where a program kept to itself what git said of the push."""
    program = program_between()
    if not program or has_all(repo, remote):
        return
    if program == "lefthook":
        from guard.setup.lefthook import shows_pushes

        if shows_pushes(repo.root):
            return
        hint = "add `use_stdin: true` to the job that calls guard; or: guard install"
    else:
        hint = "hand guard the hook's standard input; or: guard install"
    raise UnreadableError(f"{program} shows guard nothing of this push", hint)


def read_stdin() -> bytes:
    """Return all of standard input; nothing where it is a terminal, or closed."""
    parts: list[bytes] = []
    try:
        if os.isatty(0):
            return b""
        while part := os.read(0, 1 << 16):
            parts.append(part)
    except OSError:
        return b""
    return b"".join(parts)


if __name__ == "__main__":
    raise SystemExit(main())
