"""``guard show``: what a trial was asked, did, changed and said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.errors import ExitCode, GuardError, UsageError
from guard.model import Case
from guard.output import out, shell_path, warn
from guard.results import TrialResult
from guard.session import Session
from guard.store import Store
from guard.wording.show import show_trial

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
        kept = _latest(session.store, name, side)
        case = _find_case(session, name)
        if not kept:
            raise UsageError(f"no trial of {trial} is kept", _made_by(name, side, case))
        chosen = _chosen(trial, kept, number)
    for one in chosen:
        out(show_trial(one, case, side))
    return ExitCode.OK


def _made_by(name: str, side: str, case: Case | None) -> str:
    """Return the command that makes trials of that side."""
    if case is None:
        return "guard status"
    if side == "base":
        return "guard ci"
    return f"guard {'prove' if side else 'run'} {shell_path(name)}"


def _latest(store: Store, name: str, side: str) -> tuple[TrialResult, ...]:
    """Return a side's last trials; without one, those of the last run or the last proof."""
    sides = (side,) if side else ("", "after")
    found = [store.get_trials(name, side=one) for one in sides]
    return max(found, key=lambda kept: max((one.started for one in kept), default=""))


def _find_case(session: Session, name: str) -> Case | None:
    """Return the case as it stands now; what can't be read hides no trial."""
    try:
        return session.project().cases.get(name)
    except GuardError as error:
        warn(f"what it was asked can't be shown: {error.message}")
        return None


def _parse(trial: str, wanted: str) -> tuple[str, int | None]:
    side, dash, number = wanted.rpartition("-")
    if not wanted:
        return "", None
    counts = number.isascii() and number.isdigit()
    if side not in ("", "before", "after", "base") or (dash and not side) or not counts:
        raise UsageError(f"{trial}: takes CASE, CASE#2, CASE#before-1, CASE#after-1 or CASE#base-1")
    return side, int(number)


def _chosen(trial: str, kept: tuple[TrialResult, ...], number: int | None) -> list[TrialResult]:
    found = [one for one in kept if number in (None, one.number)]
    if not found:
        numbers = ", ".join(str(one.number) for one in kept)
        raise UsageError(f"{trial}: there is no such trial; kept are {numbers}")
    return found
