"""The folder that git takes hooks from, and what is in it: ours, someone else's, or nothing."""

from __future__ import annotations

import os
from typing import NamedTuple

from guard.errors import UnreadableError, UsageError
from guard_hooks.shim import CHANGED, KEPT, is_changed, is_framework, is_ours


class Hook(NamedTuple):
    """One hook of one stage, and the file that an earlier one is kept in."""

    stage: str
    path: str

    @property
    def kept(self) -> str:
        """Where an earlier hook is kept while ours is there."""
        return self.path + KEPT

    @property
    def legacy(self) -> str:
        """Where pre-commit and prek move what they find, and call it from."""
        return self.path + ".legacy"


def read_hook(path: str) -> bytes | None:
    """Return a hook's text; None where there is none."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        # A link that leads nowhere is someone's too, and no hook that git could run.
        return b"" if os.path.islink(path) else None
    except OSError as error:
        raise UnreadableError(f"{path} can't be read: {error.strerror}") from error


def holds_ours(path: str) -> bool:
    """Tell whether the file is a hook that `guard install` wrote."""
    return is_ours(read_hook(path) or b"")


def place_of_ours(hook: Hook) -> str:
    """Return the file that holds ours, called by git or by the framework; empty for none."""
    there = read_hook(hook.path) or b""
    if is_ours(there):
        return hook.path
    return hook.legacy if is_framework(there) and holds_ours(hook.legacy) else ""


def write_hook(path: str, text: bytes) -> None:
    """Write a hook whole or not at all, executable."""
    written = f"{path}.guard-new"
    try:
        with open(written, "wb") as stream:
            stream.write(text)
        os.chmod(written, 0o755)
        os.replace(written, path)
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}") from error


def move_hook(source: str, target: str) -> None:
    """Move a hook as it is: content, mode, and a link as a link."""
    try:
        os.replace(source, target)
    except OSError as error:
        raise UsageError(f"{source} can't be moved to {target}: {error.strerror}") from error


def keep_changed(hook: Hook, place: str) -> str:
    """Copy one of ours that somebody wrote into; return the name of the copy, empty for none."""
    text = read_hook(place) or b""
    if not is_changed(text):
        return ""
    aside = free_name(hook.path + CHANGED)
    write_hook(aside, text)
    return os.path.basename(aside)


def free_name(path: str) -> str:
    """Return the path, or the first ``path-N`` that isn't there."""
    number, name = 0, path
    while os.path.lexists(name):
        number += 1
        name = f"{path}-{number}"
    return name
