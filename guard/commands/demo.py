"""``guard demo``: play the whole story with real commits and hooks, in a scratch repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.demo.player import play_stations
from guard.demo.scratch import Scratch
from guard.demo.story import STATIONS
from guard.errors import ExitCode, GuardError, UsageError
from guard.output import out, shell_path

if TYPE_CHECKING:
    import argparse

HELP = "play the whole story in a scratch repository"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard demo``."""
    import argparse

    parser.add_argument("--keep", action="store_true", help="keep the scratch repository")
    parser.add_argument("--real-model", action="store_true", help=argparse.SUPPRESS)


def demo(
    *, keep: bool = False, real_model: bool = False, disabled: frozenset[str] = frozenset()
) -> int:
    """Play the story; whatever ends otherwise than it has to is a failure of the demo."""
    if real_model:
        raise UsageError("guard demo --real-model is not there yet", "guard demo")
    with Scratch() as scratch:
        scratch.kept = keep
        out("The demo of guard: no network, no key, and nothing of yours is touched.")
        out("The agent is a small program that rolls dice where a model would think: it stands")
        out(f"in for a model. All of it happens in {shell_path(scratch.repo)}")
        try:
            play_stations(scratch, STATIONS)
        except GuardError:
            scratch.kept = True
            raise
        out(f"\nAll {len(STATIONS)} stations ended as they have to. Nothing was shown about any")
        out("model: the dice are the demo's own. In your own repository: guard init")
        if keep:
            out(f"kept: cd {shell_path(scratch.repo)}")
    return ExitCode.OK
