"""What a commit changes of how agents behave, and whether a case came along: counted, no rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from guard.rules.commit import JudgedCommit
from guard.rules.fix_needs_case import brings_case as brings_case


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
