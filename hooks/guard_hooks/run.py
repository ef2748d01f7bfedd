"""``guard hook STAGE …``: the one way in for shims, frameworks and hand."""

from __future__ import annotations

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from guard.errors import UsageError

STAGES = (
    "commit-msg",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-receive",
    "pre-applypatch",
)


def hook(argv: Sequence[str]) -> int:
    """Run the hook of a stage with what git gives it; return its exit code."""
    stage, rest = (argv[0], argv[1:]) if argv else ("", ())
    if stage == "commit-msg":
        return commit_msg(rest)
    if stage in ("pre-commit", "pre-merge-commit"):
        return pre_commit(rest)
    if stage == "pre-push":
        from guard_hooks import pre_push

        return pre_push.main(rest)
    if stage == "pre-receive":
        from guard_hooks import pre_receive

        return pre_receive.main(rest)
    if stage == "pre-applypatch":
        from guard_hooks import pre_applypatch

        return pre_applypatch.main(rest)
    said = f"there is no stage {stage!r}" if stage else "which stage?"
    raise UsageError(f"guard hook: {said}", f"guard hook {'|'.join(STAGES)}")


def commit_msg(argv: Sequence[str] | None = None) -> int:
    """Run the commit-msg hook, which every commit waits for."""
    with no_collector():
        from guard_hooks.commit_msg import main

        return main(argv)


def pre_commit(argv: Sequence[str] | None = None) -> int:
    """Run the pre-commit hook; the collector is back where a case is run."""
    with no_collector():
        from guard_hooks.pre_commit import main

        return main(argv)


@contextmanager
def no_collector() -> Generator[None]:
    """Keep Python from looking for cycles: that would take longer than all they hold.

    The process ends in a moment.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
