"""Whether a hook of guard's runs below another one, on the same repository.

A case that commits in the repository it tests would else start the guard in a circle
(docs/git.md 7). A variable says so, and is believed where the process that it names stands above.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

#: Names the repositories that hooks of ours are judging, to all that is started below them: a
#: line for each, with the number and the start of the process that judges it.
ACTIVE: Final = "GUARD_HOOK_ACTIVE"
#: How far up is looked: an agent, its shells and their programs stand one above the other.
GENERATIONS: Final = 100


def enter(repository: str) -> bool:
    """Say to what is started from here on that this repository is judged; False if it was said.

    ``repository`` is the common git directory: of all linked worktrees it is one.
    """
    said = list(filter(None, os.environ.get(ACTIVE, "").split("\n")))
    if _is_said(said, repository):
        return False
    os.environ[ACTIVE] = "\n".join([*said, marker_of(repository)])
    return True


def inherited(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return what a trial's environment has to carry, to the hooks that it may start."""
    return {ACTIVE: environment[ACTIVE]} if environment.get(ACTIVE) else {}


def marker_of(repository: str) -> str:
    """Return what this process, and no other, may say of a repository that it judges."""
    return _name_of(os.getpid()) + _named(repository)


def _is_said(lines: list[str], repository: str) -> bool:
    end = _named(repository)
    names = {line.removesuffix(end) for line in lines if line.endswith(end)}
    return bool(names) and any(_name_of(at) in names for at in _above())


def _above() -> Iterator[int]:
    """Yield the numbers of the processes above this one, as far as they can be seen."""
    from guard.judging.amend import read_process

    at = os.getppid()
    for _ in range(GENERATIONS):
        process = read_process(at) if at > 1 else None
        if process is None:
            return
        yield at
        at = process.parent


def _name_of(number: int) -> str:
    from guard.judging.started import when_started

    return f"{number} {when_started(number)}"


def _named(repository: str) -> str:
    return " " + repository.replace("\n", "")
