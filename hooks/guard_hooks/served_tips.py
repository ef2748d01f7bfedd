"""What the trees of a push leave unserved: asked of the tips, for a later commit may bring it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from guard.errors import GuardError
from guard.hookruns.pushes import Tip
from guard.judging.ranges import SHORT
from guard.model import Violation
from guard.output import printable, shell_path
from guard.project import Project
from guard.rules.unserved_agent import unserved_agents


def served_refusal(tips: Iterable[tuple[Tip, Project]], *, by_data: bool = False) -> str:
    """Return the text for the first tip that serves what isn't graded; nothing where none does.

    ``by_data``: as on a server, where nothing of the tips is imported.
    """
    for tip, project in tips:
        place = f"{tip.title} at {tip.commit[:SHORT]}"
        try:
            found = unserved_agents(project, by_data=by_data)
        except GuardError as error:
            error.message = f"{printable(place)}: {error.message}"
            raise
        if found:
            return _text(found, place)
    return ""


def _text(violations: Sequence[Violation], place: str) -> str:
    first, others = violations[0], violations[1:]
    more = [f"  also     {others[0].message}"] if others else []
    more += [f"           and {len(others) - 1} more"] if len(others) > 1 else []
    lines = [
        f"guard: not pushed: {first.message} ({first.rule})",
        f"  in       {place}",
        f"  see      {', '.join(map(shell_path, first.paths))}",
        *more,
        f"  do       {first.hint[0]}",
        "           guard check",
    ]
    return "\n".join(map(printable, lines))
