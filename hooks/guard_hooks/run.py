"""``guard hook STAGE …``: the one way in for shims, frameworks and hand."""

from __future__ import annotations

from collections.abc import Sequence

from guard.errors import UsageError

STAGES = ("commit-msg", "pre-commit", "pre-merge-commit", "pre-push", "pre-receive")


def hook(argv: Sequence[str]) -> int:
    """Run the hook of a stage with what git gives it; return its exit code."""
    stage, rest = (argv[0], argv[1:]) if argv else ("", ())
    if stage == "commit-msg":
        from guard_hooks import commit_msg

        return commit_msg.main(rest)
    if stage in ("pre-commit", "pre-merge-commit"):
        from guard_hooks import pre_commit

        return pre_commit.main(rest)
    if stage == "pre-push":
        from guard_hooks import pre_push

        return pre_push.main(rest)
    if stage == "pre-receive":
        raise UsageError("`guard hook pre-receive` is not there yet", "guard ci, in CI")
    said = f"there is no stage {stage!r}" if stage else "which stage?"
    raise UsageError(f"guard hook: {said}", f"guard hook {'|'.join(STAGES[:4])}")
