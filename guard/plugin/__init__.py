"""The plugin API: all that an adapter imports.

A plugin is a module (or any object) with functions marked ``@hookimpl`` and named as in
`guard.plugin.spec`. Distributions name it in the entry-point group ``guard``; a repository
names its own file in guard.yaml under ``plugins``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.change import Change
from guard.errors import Blocked, Skip, TargetError
from guard.model import (
    Agent,
    Case,
    FileChange,
    Observation,
    Policy,
    Report,
    Score,
    ToolCall,
    TrialResult,
)
from guard.plugin.api import (
    Commit,
    Evaluator,
    Expectations,
    Fingerprint,
    Finished,
    Option,
    Prerequisite,
    Project,
    Substitute,
    Target,
    Trial,
    evaluator,
)

if TYPE_CHECKING:
    from guard.plugin.markers import hookimpl, hookspec

__all__ = [
    "Agent",
    "Blocked",
    "Case",
    "Change",
    "Commit",
    "Evaluator",
    "Expectations",
    "FileChange",
    "Fingerprint",
    "Finished",
    "Observation",
    "Option",
    "Policy",
    "Prerequisite",
    "Project",
    "Report",
    "Score",
    "Skip",
    "Substitute",
    "Target",
    "TargetError",
    "ToolCall",
    "Trial",
    "TrialResult",
    "evaluator",
    "hookimpl",
    "hookspec",
]


def __getattr__(name: str) -> Any:
    """Import pluggy when a plugin asks for its markers: the rules of a hook need none of it."""
    if name in ("hookimpl", "hookspec"):
        from guard.plugin import markers

        return getattr(markers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
