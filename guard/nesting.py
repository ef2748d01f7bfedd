"""Whether a hook of guard's runs below another one, on the same repository.

A case that commits in the repository it tests would else start the guard in a circle
(docs/git.md 7).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

#: Names the repository that a hook of ours is judging, to all that is started below it.
ACTIVE = "GUARD_HOOK_ACTIVE"


def enter(repository: str) -> bool:
    """Say to what is started from here on that this repository is judged; False if it was said.

    ``repository`` is the common git directory: of all linked worktrees it is one.
    """
    if os.environ.get(ACTIVE) == repository:
        return False
    os.environ[ACTIVE] = repository
    return True


def inherited(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return what a trial's environment has to carry, to the hooks that it may start."""
    return {ACTIVE: environment[ACTIVE]} if environment.get(ACTIVE) else {}
