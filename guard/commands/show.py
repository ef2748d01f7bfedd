"""``guard show``: what a trial was asked, did, changed and said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.errors import ExitCode, UsageError
from guard.model import TrialResult
from guard.output import out
from guard.session import Session
from guard.show import show_trial

if TYPE_CHECKING:
    import argparse

HELP = "show a trial: what it was asked, did, changed, said"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard show``."""
    parser.add_argument("trial", metavar="CASE[#TRIAL]", help="eur-taxi, eur-taxi#2, x#before-1")


def show(*, trial: str, disabled: frozenset[str]) -> int:
    """Show one trial, or all trials of a case's last run."""
    name, _, wanted = trial.partition("#")
    side, number = _parse(trial, wanted)
    with Session.open(disabled=disabled) as session:
        kept = session.store.get_trials(name, side=side)
        if not kept and not side and not wanted:
            kept = session.store.get_trials(name, side="after")
        if not kept:
            raise UsageError(f"no trial of {trial} is kept", f"guard run {name}")
        chosen = _chosen(trial, kept, number)
        case = session.project().cases.get(name)
    for one in chosen:
        out(show_trial(one, case))
    return ExitCode.OK


def _parse(trial: str, wanted: str) -> tuple[str, int]:
    side, dash, number = wanted.rpartition("-")
    if not wanted:
        return "", 0
    if side not in ("", "before", "after") or (dash and not side) or not number.isdigit():
        raise UsageError(f"{trial}: takes CASE, CASE#2, CASE#before-1 or CASE#after-1")
    return side, int(number)


def _chosen(trial: str, kept: tuple[TrialResult, ...], number: int) -> list[TrialResult]:
    found = [one for one in kept if number in (0, one.number)]
    if not found:
        numbers = ", ".join(str(one.number) for one in kept)
        raise UsageError(f"{trial}: there is no such trial; kept are {numbers}")
    return found
