"""``guard affected``: list the cases that a change affects; run nothing."""

from __future__ import annotations

import json as json_module
from typing import TYPE_CHECKING

from guard.affected import affected_cases
from guard.change import change_of_trees
from guard.commands.options import add_at_option
from guard.errors import ExitCode
from guard.output import out, printable
from guard.session import Session

if TYPE_CHECKING:
    import argparse

HELP = "list the cases that a change affects; run nothing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard affected``."""
    parser.add_argument("base", nargs="?", default="HEAD", metavar="BASE", help="default: HEAD")
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_at_option(parser)


def affected(
    *, base: str = "HEAD", json: bool = False, at: str = "worktree", disabled: frozenset[str]
) -> int:
    """List the affected cases, each with its reasons."""
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project(at)
        before = session.base_project(base)
        change = change_of_trees(session.repo, before.tree, project.tree)
        found = affected_cases(project, before, change, session.store.last_verdicts())
    if json:
        rows = [{"id": c.id, "agent": c.agent, "path": c.path, "affected_by": r} for c, r in found]
        out(json_module.dumps(rows, indent=2))
        return ExitCode.OK
    for selected in found:
        out(f"{printable(selected.case.id)}  {', '.join(selected.affected_by)}")
    if not found:
        out(f"nothing is affected since {base}")
    return ExitCode.OK
