"""pre-receive: every commit that a push brings by the rules, before any ref of a server moves.

One commit that breaks a rule refuses the whole push, whatever was done or left out in the
clone that it comes from: local hooks are a help, this is the authority.
"""

from __future__ import annotations

from collections.abc import Sequence

from guard.config import DEFAULTS
from guard.errors import ExitCode, UnreadableError
from guard.git import find_repo, text_of
from guard.hookruns.bounded import SetLimit, run_bounded
from guard.hookruns.main import run_hook
from guard.hookruns.pushes import PushedRef, find_tips, is_id
from guard_hooks.pre_push import read_stdin

STAGE = "pre-receive"
#: Until the branch that is protected has told its own.
SECONDS = float(DEFAULTS["hooks"][STAGE]["max_seconds"])
PARTS = "push it in parts, the oldest commits first: git push REMOTE COMMIT:refs/heads/BRANCH"


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the push that git describes on standard input: an old and a new id, and a ref."""
    said = read_stdin()
    return run_hook(lambda: in_time(said))


def in_time(said: bytes) -> int:
    """Judge the push in a process of its own, which is killed when its time is over."""
    try:
        return run_bounded(lambda limit: run_hook(lambda: pre_receive(said, limit)), SECONDS)
    except UnreadableError as error:
        error.message = f"what this push brings: {error.message}"
        error.hint = PARTS
        raise


def pre_receive(said: bytes, set_limit: SetLimit) -> int:
    """Judge the push; return the exit code."""
    refs = parse_received(said)
    if not refs:
        return ExitCode.OK
    with find_repo() as repo:
        tips = find_tips(repo, refs)
        if not tips:
            return ExitCode.OK
        from guard_hooks.received import judge_received

        return judge_received(repo, tips, set_limit)


def parse_received(said: bytes) -> list[PushedRef]:
    """Return what git told a pre-receive hook; deletions bring nothing and are left out."""
    found: list[PushedRef] = []
    for line in said.splitlines():
        parts = text_of(line).split(" ", 2)
        if len(parts) != 3 or not is_id(parts[0]) or not is_id(parts[1]):
            raise UnreadableError(f"git said of this push: {text_of(line)!r}, which isn't a ref")
        known, oid, name = parts
        if oid.strip("0"):
            found.append(PushedRef(name, oid, known if known.strip("0") else ""))
    return found


if __name__ == "__main__":
    raise SystemExit(main())
