"""One way to rebuild a broken state, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from guard.proofs.origin import Origin
from guard.tree import Tree


class Rung(NamedTuple):
    """One way to rebuild the broken state."""

    state: str
    """live, pinned, branch, revision, patch, command or capsule."""
    tree: Tree | None = None
    """None where it can't be rebuilt."""
    reason: str = ""
    """Why it can't be, or why it is the same."""
    same: bool = False
    """Nothing differs from the tree under test."""
    origin: Origin | None = None
    touched: bool = True
    """Whether the origin changed the agent at all."""
    command: Mapping[str, Any] | None = None
    """The record's command, which stands for a broken state."""
    filed: Tree | None = None
    """What its kept evidence is filed under, where that isn't the tree itself."""

    @property
    def is_undone(self) -> bool:
        """Whether a committed fix is in today's agent no more."""
        return self.same and self.touched and bool(self.origin and self.origin.commit)
