"""How guard is called from the user's own shell, so that a printed command can be pasted."""

from __future__ import annotations

import os
import re
import shutil
import sys
from functools import cache

from guard.cli import COMMANDS
from guard.output import shell_path

#: Where a command of ours may begin; elsewhere it is part of what somebody said.
_COMMAND = rf"(?m)((?:^|  |`|next: |: ))guard (?=(?:{'|'.join(COMMANDS)})\b(?!:))"


def pasteable(text: str) -> str:
    """Return text whose guard commands begin with a form that works on this machine."""
    if "guard " not in text:
        return text
    name = guard_command()
    return text if name == "guard" else re.sub(_COMMAND, lambda found: f"{found[1]}{name} ", text)


@cache
def guard_command() -> str:
    """Return ``guard`` where the user's shell finds it, else the file that a hook runs.

    A hook framework puts its own environment first on PATH; the user's shell has none of it.
    """
    if "GIT_QUARANTINE_PATH" in os.environ:
        # A server speaks to whoever pushes: its own paths are nothing to them.
        return "guard"
    own = os.path.dirname(sys.executable)
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if "PRE_COMMIT" in os.environ:
        folders = [folder for folder in folders if folder != own]
    if shutil.which("guard", path=os.pathsep.join(folders)):
        return "guard"
    script = os.path.join(own, "guard")
    if os.path.exists(script):
        return shell_path(script)
    return f"{shell_path(sys.executable)} -m guard"
