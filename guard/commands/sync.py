"""``guard sync``: rebuild a remote copy of the cases from the repository, the source of truth."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from guard.errors import ExitCode, GuardError, PluginError, Skip, TargetError, UsageError
from guard.failures import report_error
from guard.output import out, printable
from guard.plugin.blame import blamed_on
from guard.plugin.syncs import Step, Sync
from guard.project import Project
from guard.schema import nearest
from guard.session import Session
from guard.wording.units import count, listed

if TYPE_CHECKING:
    import argparse

HELP = "rebuild a remote copy of the cases from the repository"
SIGNS: Final = ("+", "~", "-")
#: Seconds before each look at what was written: a remote may take a moment to show it.
PAUSES: Final = (0.0, 1.0, 3.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard sync``."""
    parser.add_argument("name", metavar="NAME", help="which copy, such as langsmith")
    parser.add_argument(
        "--dry-run", action="store_true", help="show the steps (+ made, ~ overwritten, - deleted)"
    )


def sync(*, name: str, dry_run: bool = False, disabled: frozenset[str] = frozenset()) -> int:
    """Show what makes the copy what the repository says, and do it unless ``dry_run``."""
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project()
        found = _find(project, name)
        with blamed_on(f"sync {name}"):
            missing = found.missing()
            where = printable(found.where())
        if missing:
            raise Skip(f"sync {name}: {missing}")
        steps = _plan(found, project)
        place = f"{name} ({where})" if where else name
        if not steps:
            out(f"nothing to do: {place} holds what the repository says")
            return ExitCode.OK
        out(f"{place} becomes what the repository says by {count(len(steps), 'step')}:")
        for step in steps:
            out(f"{step.sign} {printable(step.what)}")
        if dry_run:
            out("nothing was changed: --dry-run")
            return ExitCode.OK
        return _apply(found, project, steps)


def _find(project: Project, name: str) -> Sync:
    plugins = project.plugins_with("guard_syncs")
    offered: Mapping[str, Sync] = plugins.syncs() if plugins else {}
    if name not in offered:
        there_are = f"there is {listed(sorted(offered))}" if offered else "no plugin offers one"
        raise UsageError(
            f"there is no sync {printable(name)!r}{nearest(name, offered)} ({there_are})",
            "guard plugins",
        )
    return offered[name]


def _plan(found: Sync, project: Project) -> Sequence[Step]:
    agents = [agent for _, agent in sorted(project.agents.items())]
    cases = [case for _, case in sorted(project.cases.items())]
    with blamed_on(f"sync {found.name}: its plan"):
        planned = cast("Sequence[object]", found.plan(agents, cases))
        steps = [step for step in planned if isinstance(step, Step) and step.sign in SIGNS]
        if len(steps) != len(planned):
            raise PluginError(f"sync {found.name}: its plan must be steps, signed + ~ or -")
    return steps


def _apply(found: Sync, project: Project, steps: Sequence[Step]) -> int:
    """Do step by step; what is done and what isn't is said however it ends."""
    for done, step in enumerate(steps):
        try:
            with blamed_on(f"sync {found.name}: {step.what}"):
                step.apply()
        except GuardError as error:
            _tell_cut(steps, done)
            report_error(GuardError(error.message, error.hint or _again(found)))
            return error.exit_code
        except KeyboardInterrupt:
            _tell_cut(steps, done)
            raise
    out(f"done: {count(len(steps), 'step')}")
    left = _left(found, project)
    if left:
        told = listed([f"{step.sign} {printable(step.what)}" for step in left])
        raise TargetError(f"sync {found.name}: it took that and still lacks {told}", _again(found))
    out(f"{found.name} holds what the repository says")
    return ExitCode.OK


def _tell_cut(steps: Sequence[Step], done: int) -> None:
    rest = len(steps) - done - 1
    after = f", nor the {count(rest, 'step')} after it" if rest else ""
    out(f"done: {done} of {count(len(steps), 'step')}, in this order")
    out(f"not done: {steps[done].sign} {printable(steps[done].what)}{after}")


def _left(found: Sync, project: Project) -> Sequence[Step]:
    """Compare once more: what was taken and not kept is no copy."""
    left: Sequence[Step] = ()
    for pause in PAUSES:
        time.sleep(pause)
        left = _plan(found, project)
        if not left:
            break
    return left


def _again(found: Sync) -> str:
    return f"guard sync {found.name}    # safe to run again: it compares anew"
