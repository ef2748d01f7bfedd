"""Apply a patch to a folder that is no repository."""

from __future__ import annotations

import os
import subprocess

from guard.errors import UsageError
from guard.git import NO_GIT, text_of


def apply_patch(patch: bytes, folder: str) -> None:
    """Apply a patch to a folder that is no repository. Raises `UsageError` where it can't be."""
    call = ["git", "apply", "--whitespace=nowarn", "-"]
    # Nothing of a hook's or the user's: no repository around the folder may be found.
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
    env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    env["GIT_CEILING_DIRECTORIES"] = os.path.dirname(os.path.realpath(folder))
    try:
        done = subprocess.run(
            call, input=patch, capture_output=True, cwd=folder, env=env, check=False
        )
    except FileNotFoundError as error:
        raise UsageError(*NO_GIT) from error
    if done.returncode:
        said = text_of(done.stderr.strip()).splitlines()
        raise UsageError(f"the patch doesn't apply: {said[0] if said else 'git says nothing'}")
