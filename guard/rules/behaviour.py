"""What a commit changes of how agents behave, and whether a case came along: counted, no rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from guard.errors import UsageError
from guard.rules.commit import JudgedCommit
from guard.rules.fix_needs_case import candidates, objection


class Behaviour(NamedTuple):
    """One commit, by what its own paths tell."""

    changed: Mapping[str, tuple[str, ...]]
    """Agent → its own paths whose change is not cosmetic."""
    without_case: tuple[str, ...]
    """Those of the agents of which no case was added, or strengthened."""
    cosmetic: Mapping[str, str]
    """Own path → why its change is cosmetic."""
    is_fix: bool


def behaviour_of(commit: JudgedCommit) -> Behaviour:
    """Return what a commit changes of behaviour; a case that can't be read came not along."""
    changed = commit.touched
    without = tuple(name for name in changed if not brings_case(commit, name))
    return Behaviour(changed, without, commit.cosmetic, commit.fix is not None)


def brings_case(commit: JudgedCommit, agent: str) -> bool:
    """Tell whether a commit adds or strengthens a case of the agent, as far as it can be read."""
    try:
        return any(objection(commit, case) is None for case in candidates(commit, agent))
    except UsageError:
        return False
