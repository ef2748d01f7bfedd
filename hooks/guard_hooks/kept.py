"""A kept hook under its own name, for programs that look at the name they are called by."""

from __future__ import annotations

import os
from contextlib import suppress

from guard.errors import UsageError
from guard_hooks.folder import Hook, read_hook
from guard_hooks.shim import NAMED, asks_its_name


def name_kept(hook: Hook) -> None:
    """Link to a kept hook by its own name where its program asks for it; else take that away."""
    if not asks_its_name(read_hook(hook.kept) or b""):
        unname_kept(hook)
        return
    link, target = _link(hook), os.path.join("..", os.path.basename(hook.kept))
    if os.path.islink(link) and os.readlink(link) == target:
        return
    try:
        os.makedirs(os.path.dirname(link), exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(link)
        os.symlink(target, link)
    except OSError as error:
        raise UsageError(f"{link} can't be written: {error.strerror}") from error


def unname_kept(hook: Hook) -> None:
    """Take the link away, and the folder after the last one."""
    link = _link(hook)
    if os.path.islink(link):
        os.unlink(link)
    with suppress(OSError):
        os.rmdir(os.path.dirname(link))


def _link(hook: Hook) -> str:
    return os.path.join(os.path.dirname(hook.path), NAMED, hook.stage)
