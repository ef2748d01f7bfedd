"""What a prerequisite may set up for each trial: a database of its own, a queue, a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Ground(NamedTuple):
    """The trial that something is set up for."""

    agent: str
    case: str
    number: int
    """From 1."""
    given: Any
    """What the case states under ``given: {NAME: ...}``; None where it states nothing."""
    read: Callable[[str], bytes | None]
    """Content of a path of the tree under test, from the repository's root, or None."""
    files: Callable[[], Mapping[str, str]]
    """Every path of that tree → git's id of its content."""
    lay: Callable[[], str]
    """Lay all files of that tree into a new folder; return its path. It goes with the run."""
    env: Mapping[str, str]
    """The trial's environment."""
    python: tuple[str, ...] = ()
    """The argv of the agent's own Python; empty where it names none."""


class Provided(NamedTuple):
    """What was set up for one trial."""

    env: Mapping[str, str] = {}
    """Variables set for the target's programs and for checkers."""
    secrets: tuple[str, ...] = ()
    """Texts that must stand in no report, receipt or log."""
    observe: Callable[[Mapping[str, Any]], Any] = lambda expected: None
    """Given the expectations, once the target's processes are gone: what is there now, as a
    JSON value. It stands in the observation's ``services`` under the prerequisite's name."""
