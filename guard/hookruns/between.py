"""What stands between git and a hook of guard's: guard's own hook, or a program that keeps things.

Programs are seen by their command lines alone; where none can be seen, a hook judges by itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from guard.judging.amend import Process, is_git, read_process
from guard.output import warn

#: Set by an installed hook for the one that it calls first: its stage, and its process.
FOLLOWS: Final = "GUARD_FOLLOWS"
#: How far up is looked: a manager, its launcher and its shells stand one above the other.
GENERATIONS: Final = 12
SHELLS: Final = ("sh", "bash", "dash", "zsh", "ksh", "ash", "busybox", "env")
#: What starts a program as it would have been started anyway.
LAUNCHERS: Final = (
    *("uv", "uvx", "poetry", "pdm", "hatch", "npx", "npm", "pnpm", "yarn", "mise", "direnv"),
    *("make", "just", "task", "nice", "time", "timeout", "sudo", "strace"),
)
#: They run someone's script, which mostly hands on what it is given; these managers don't.
INTERPRETERS: Final = ("python", "node", "ruby", "perl", "php")
MANAGERS: Final = ("lefthook", "overcommit")


def leaves_to_native(*stages: str) -> bool:
    """Tell whether guard's own hook judges after this one, and say so."""
    if not (os.environ.get(FOLLOWS) and is_followed(*stages)):
        return False
    warn("guard's own hook follows and judges this")
    return True


def is_followed(*stages: str) -> bool:
    """Tell whether guard's own hook of the stage started this one, and judges after it.

    Never across a git in between: a commit that a hook makes elsewhere is one of its own.
    """
    stage, _, pid = os.environ.get(FOLLOWS, "").partition(" ")
    if stage not in stages:
        return False
    return any(str(number) == pid for number, _ in _above())


def program_between() -> str:
    """Return the program that git started us through; empty for shells alone, or without git."""
    above = [process.argv for _, process in _above(with_git=True)]
    if not above or not is_git(above[-1]):
        return ""
    return next((name for argv in above[:-1] if (name := _program(argv))), "")


def _above(with_git: bool = False) -> Iterator[tuple[int, Process]]:
    """Yield the processes above this one, up to the nearest git."""
    at = os.getppid()
    for _ in range(GENERATIONS):
        process = read_process(at) if at > 1 else None
        if process is None:
            return
        if is_git(process.argv):
            if with_git:
                yield at, process
            return
        yield at, process
        at = process.parent


def _program(argv: Sequence[str]) -> str:
    """Return the name of a program that may keep what it is told; empty for one that doesn't."""
    names = [os.path.basename(word) for word in argv if not word.startswith("-")]
    name = names[0].lstrip("-") if names else ""
    if name.startswith(INTERPRETERS):
        return next((word for word in names[1:2] if word in MANAGERS), "")
    return "" if name in SHELLS or name in LAUNCHERS else name


def framework_name(environment: Mapping[str, str]) -> str:
    """Return the name of the framework that runs us by pre-commit's conventions."""
    return "prek" if "PREK_HOOK_STAGE" in environment else "pre-commit"
