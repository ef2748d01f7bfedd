"""The folder that git takes hooks from."""

from __future__ import annotations

import os

from guard.errors import UsageError
from guard.git import Repo, text_of
from guard.output import printable


def find_hooks_folder(repo: Repo) -> str:
    """Return the folder, absolute: core.hooksPath where it is set, one for all worktrees else.

    It need not be there yet. Raises `UsageError` where there can be none.
    """
    asked = repo.run("rev-parse", "--path-format=absolute", "--git-path", "hooks", ok=None)
    path = text_of(asked.out).removesuffix("\n")
    folder = os.path.normpath(os.path.join(repo.root or repo.git_dir, path))
    if asked.code != 0 or (os.path.lexists(folder) and not os.path.isdir(folder)):
        raise _no_folder(repo, folder)
    return folder


def _no_folder(repo: Repo, folder: str) -> UsageError:
    asked = repo.run("config", "--show-scope", "--get", "core.hooksPath", ok=None)
    scope, told, path = text_of(asked.out).removesuffix("\n").partition("\t")
    if not told:
        return UsageError(f"{printable(folder)} is no folder, so git runs no hook", "guard doctor")
    said = f"core.hooksPath ({scope}) is {printable(path) or 'empty'}, and that is no folder"
    if scope == "command":
        return UsageError(f"{said}: git was called with it", "git config --list --show-scope")
    return UsageError(f"{said}: git runs no hook", f"git config --{scope} --unset core.hooksPath")
