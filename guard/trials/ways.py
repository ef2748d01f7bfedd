"""Which way the workspaces of a stage are laid: chosen once, by what can be had here.

A folder of few files is written anew for each trial. A large one is an overlay where guard can
have one, else a folder that is used again, else written anew. ``GUARD_WORKSPACES`` says
``overlay``, ``pool`` or ``fresh`` to begin there at any size.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Final

from guard.errors import UsageError
from guard.trials.overlay import OverlayWay
from guard.trials.own_mounts import enter_if_own, probe_overlay
from guard.trials.pool import PooledWay
from guard.trials.runfolder import RunPlace
from guard.trials.sandbox import probe_namespaces
from guard.trials.template import Template
from guard.workspace import NOTE, FreshWay, Way

VARIABLE: Final = "GUARD_WORKSPACES"
OVERLAY, POOL, FRESH = "overlay", "pool", "fresh"
#: Files from which another way is worth finding out whether it is to be had: so many take as
#: long to be written and removed twice.
MANY_FILES: Final = 400
ANEW: Final = NOTE + "laid anew"


def wanted(files: int) -> str:
    """Return the first way to try for a folder of so many files. Raises `UsageError`."""
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", OVERLAY, POOL, FRESH):
        raise UsageError(
            f"{VARIABLE} is {asked}: none of {OVERLAY}, {POOL}, {FRESH}", f"unset {VARIABLE}"
        )
    return asked or (OVERLAY if files >= MANY_FILES else FRESH)


def find_overlay(place: RunPlace, *, hides: bool) -> tuple[str, str]:
    """Return the options of overlays in a run's folder, or why there are none.

    ``hides``: whether the run's folder is out of a trial's sight, with the files that all share.
    """
    problem = why_unhidden(hides=hides) or enter_if_own()
    return ("", problem) if problem else probe_overlay(place.new_path("probe"))


def why_unhidden(*, hides: bool) -> str:
    """Return why trials see each other's folders here, or nothing."""
    if not hides:
        return "the repository holds your HOME"
    problem = _namespace_problem()
    return f"no namespace: {problem}" if problem else ""


@cache
def _namespace_problem() -> str:
    return probe_namespaces()


def choose_way(template: Template, place: RunPlace, options: str, why_no_overlay: str) -> Way:
    """Return the way for a template; ``options`` of an overlay where it was made for one."""
    asked = wanted(len(template.pieces))
    if asked == FRESH:
        return FreshWay(template, ANEW if os.environ.get(VARIABLE) else "")
    if not hasattr(os, "listxattr") or not sys.platform.startswith("linux"):
        return FreshWay(template, f"{ANEW} (only Linux has other ways)")
    pool = PooledWay(template, place, f"no overlay: {why_no_overlay}" if why_no_overlay else "")
    if options and template.folder:
        return OverlayWay(template, place, options, pool, template.folder)
    return pool
