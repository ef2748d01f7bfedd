"""``guard uninstall``: take our hooks away, and put back what was there before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from guard import output
from guard.errors import UsageError
from guard.git import find_repo
from guard.setup.hooks_folder import find_hooks_folder
from guard.setup.merge_driver import configured_driver, remove_driver
from guard_hooks.folder import Hook, keep_changed, move_hook, place_of_ours
from guard_hooks.install import tell_changed
from guard_hooks.kept import unname_kept
from guard_hooks.shim import KEPT, MAIL_STAGES, SERVER_STAGES, STAGES

if TYPE_CHECKING:
    import argparse


ALL_STAGES = (*STAGES, *SERVER_STAGES, *MAIL_STAGES)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no option."""


def uninstall(*, disabled: frozenset[str] = frozenset()) -> int:
    """Remove our hooks of all stages; each earlier one comes back byte for byte."""
    with find_repo() as repo:
        folder = find_hooks_folder(repo)
        if configured_driver(repo):
            remove_driver(repo)
    hooks = [Hook(stage, os.path.join(folder, stage)) for stage in ALL_STAGES]
    changed = [keep_changed(hook, ours) for hook in hooks if (ours := place_of_ours(hook))]
    removed = [hook.stage for hook in hooks if uninstall_one(hook)]
    place = output.printable(folder)
    if removed:
        output.out(f"guard: taken out of {place}: {', '.join(removed)}")
    else:
        output.out(f"guard: there is no hook of guard's in {place}")
    tell_changed(changed)
    left = [hook.stage for hook in hooks if os.path.lexists(hook.kept)]
    if left:
        # Someone wrote over ours: theirs stays, and so does what it may have replaced.
        output.out(f"! still kept there: {', '.join(stage + KEPT for stage in left)}")
    return 0


def uninstall_one(hook: Hook) -> bool:
    """Take one hook away, also from where the pre-commit framework moved it to."""
    ours = place_of_ours(hook)
    if not ours:
        return False
    unname_kept(hook)
    if os.path.lexists(hook.kept):
        move_hook(hook.kept, ours)
        return True
    try:
        os.unlink(ours)
    except OSError as error:
        raise UsageError(f"{ours} can't be removed: {error.strerror}") from error
    return True
