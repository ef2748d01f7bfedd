"""Remote copies of what the repository holds: ``guard sync NAME``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from guard.model import Agent, Case


class Step(NamedTuple):
    """One step that makes a remote copy what the repository says."""

    sign: str
    """``+`` made, ``~`` overwritten, ``-`` deleted."""
    what: str
    """In words, such as ``example eur-taxi of dataset expense``."""
    apply: Callable[[], None]
    """Does it. Raises `TargetError`."""


class Sync(NamedTuple):
    """A remote copy that can be rebuilt from the repository, the source of truth."""

    name: str
    plan: Callable[[Sequence[Agent], Sequence[Case]], Sequence[Step]]
    """Compares; changes nothing. Raises `Skip` where credentials are missing, `TargetError`."""
    missing: Callable[[], str | None] = lambda: None
    """What this machine lacks for it, in words, or None."""
    where: Callable[[], str] = lambda: ""
    """Where the copy is, in words, such as an endpoint; without credentials."""
