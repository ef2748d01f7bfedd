"""``guard doctor``: one line for each thing that guard needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from guard.doctor import Finding, broken, unknown
from guard.doctor.framework import check_framework
from guard.doctor.hooks import check_hooks
from guard.doctor.machine import check_git, check_isolation, check_python, check_workspaces
from guard.doctor.merge_driver import check_merge_driver
from guard.doctor.repository import (
    check_config,
    check_history,
    check_last_run,
    check_plugins,
    check_store,
    check_targets,
)
from guard.doctor.server import check_server
from guard.errors import ExitCode, GuardError, UsageError
from guard.output import BROKEN, UNKNOWN, out
from guard.session import Session

if TYPE_CHECKING:
    import argparse

HELP = "check what guard needs on this machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no option."""


def doctor(*, disabled: frozenset[str]) -> int:
    """Check everything; exit 1 where something is broken, 3 where something can't be told."""
    marks: list[str] = []
    for finding in _findings(disabled):
        marks.append(finding.mark)
        mend = f"    do  {finding.hint}" if finding.hint else ""
        out(f"{finding.mark} {finding.text}{mend}")
    out(_sentence(marks.count(BROKEN), marks.count(UNKNOWN)))
    if BROKEN in marks:
        return ExitCode.REGRESSION
    return ExitCode.NOT_ESTABLISHED if UNKNOWN in marks else ExitCode.OK


def _findings(disabled: frozenset[str]) -> Iterator[Finding]:
    yield check_python()
    yield check_git()
    try:
        session = Session.open(disabled=disabled)
    except UsageError as error:
        if "git is not on PATH" not in error.message:  # said by `check_git`
            yield broken(error.message, error.hint)
        yield from check_isolation(None)
        return
    with session:
        yield from check_isolation(session.repo)
        yield check_workspaces(session.repo)
        yield check_store(session)
        if not session.repo.root:
            yield from _told(check_server(session))
            return
        yield from _told(_check_project(session))
        yield from check_history(session)
        yield check_last_run(session)


def _check_project(session: Session) -> Iterator[Finding]:
    project = session.project()
    configured = list(check_config(session, project))
    yield from configured
    yield from check_hooks(session.repo)
    yield from check_framework(session.repo.root)
    yield from check_merge_driver(session.repo)
    if any(finding.mark == BROKEN for finding in configured):
        return
    plugins = list(check_plugins(project))
    yield from plugins
    if not any(finding.mark == BROKEN for finding in plugins):
        yield from check_targets(project)


def _told(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Make a finding of what ends the checks."""
    try:
        yield from findings
    except UsageError as error:
        yield broken(error.message, error.hint)
    except GuardError as error:
        yield unknown(error.message, error.hint)


def _sentence(to_mend: int, untold: int) -> str:
    told = [f"{to_mend} to mend"] if to_mend else []
    told += [f"{untold} not known here"] if untold else []
    return ", ".join(told) or "all that guard needs is here"
