"""The plugin API: all that an adapter imports.

A plugin is a module (or any object) with functions marked ``@hookimpl`` and named as in
`guard.plugin.spec`. Distributions name it in the entry-point group ``guard``; a repository
names its own file in guard.yaml under ``plugins``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guard.change import Change
    from guard.errors import Blocked, Skip, TargetError
    from guard.evaluators.output import unmet_in, wrong_item
    from guard.model import Agent, Case, Policy
    from guard.plugin.api import (
        Commit,
        Evaluator,
        Expectations,
        Finished,
        Host,
        Option,
        Prerequisite,
        Project,
        Served,
        Substitute,
        Target,
        Trial,
        evaluator,
        watch,
    )
    from guard.plugin.documents import read_json
    from guard.plugin.doubles import StorageDouble
    from guard.plugin.judges import Judge, Question, Vote
    from guard.plugin.markers import hookimpl, hookspec
    from guard.plugin.provisions import Ground, Provided
    from guard.plugin.reports import probe
    from guard.plugin.syncs import Step, Sync
    from guard.results import (
        CaseResult,
        FileChange,
        Fingerprint,
        Observation,
        Report,
        Score,
        ToolCall,
        TrialResult,
    )
    from guard.running.builds import build_of
    from guard.trials.environment import find_program

__all__ = [
    "Agent",
    "Blocked",
    "Case",
    "CaseResult",
    "Change",
    "Commit",
    "Evaluator",
    "Expectations",
    "FileChange",
    "Fingerprint",
    "Finished",
    "Ground",
    "Host",
    "Judge",
    "Observation",
    "Option",
    "Policy",
    "Prerequisite",
    "Project",
    "Provided",
    "Question",
    "Report",
    "Score",
    "Served",
    "Skip",
    "Step",
    "StorageDouble",
    "Substitute",
    "Sync",
    "Target",
    "TargetError",
    "ToolCall",
    "Trial",
    "TrialResult",
    "Vote",
    "build_of",
    "evaluator",
    "find_program",
    "hookimpl",
    "hookspec",
    "probe",
    "read_json",
    "unmet_in",
    "watch",
    "wrong_item",
]

#: Where each name is defined; imported when a plugin asks for it, since a hook asks for none.
_HOMES = {
    "guard.change": ("Change",),
    "guard.running.builds": ("build_of",),
    "guard.trials.environment": ("find_program",),
    "guard.errors": ("Blocked", "Skip", "TargetError"),
    "guard.evaluators.output": ("unmet_in", "wrong_item"),
    "guard.model": ("Agent", "Case", "Policy"),
    "guard.results": (
        *("CaseResult", "FileChange", "Fingerprint", "Observation", "Report", "Score", "ToolCall"),
        "TrialResult",
    ),
    "guard.plugin.documents": ("read_json",),
    "guard.plugin.doubles": ("StorageDouble",),
    "guard.plugin.judges": ("Judge", "Question", "Vote"),
    "guard.plugin.markers": ("hookimpl", "hookspec"),
    "guard.plugin.provisions": ("Ground", "Provided"),
    "guard.plugin.reports": ("probe",),
    "guard.plugin.syncs": ("Step", "Sync"),
}


def __getattr__(name: str) -> Any:
    """Import a public name from where it is defined."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = next((home for home, names in _HOMES.items() if name in names), "guard.plugin.api")
    return getattr(import_module(home), name)
