"""Plays the story: shows each command and what it printed, and holds it to its expected end."""

from __future__ import annotations

from collections.abc import Sequence

from guard.demo.scratch import Ended, Scratch
from guard.demo.story import Bring, Edit, Run, Station, Step
from guard.errors import GuardError
from guard.output import out, printable, shell_path


def play_stations(scratch: Scratch, stations: Sequence[Station]) -> None:
    """Play them in order. Raises `GuardError` at the first that ends otherwise."""
    for number, station in enumerate(stations, 1):
        out(f"\n{number}. {station.title}", verbatim=True)
        for step in station.steps:
            try:
                play_step(scratch, step)
            except GuardError as error:
                said = f"station {number} of the demo ended otherwise: {error.message}"
                raise GuardError(said, f"cd {shell_path(scratch.repo)}    # kept") from error


def play_step(scratch: Scratch, step: Step) -> None:
    """Do one step. Raises `GuardError` where it doesn't end as it has to."""
    if isinstance(step, Bring):
        for path in step.paths:
            scratch.copy_file(path)
        if step.remark:
            out(step.remark, verbatim=True)
    elif isinstance(step, Edit):
        scratch.replace(step.path, step.old, step.new)
        # Without git's five lines of headers: the two sentences are what matters.
        play_step(scratch, Run(f"git diff -U0 {step.path} | tail -n +6", says=(step.new,)))
    else:
        out(f"$ {step.command}", verbatim=True)
        ended = scratch.run(step.command)
        if ended.output.strip():
            out(printable(ended.output.rstrip("\n"), keep="\n\t"), verbatim=True)
        check_end(step, ended)


def check_end(step: Run, ended: Ended) -> None:
    """Raise `GuardError` where a command ended in another code, or didn't say what it has to."""
    if ended.code != step.code:
        raise GuardError(f"`{step.command}` ended in {ended.code}, not in {step.code}")
    missing = [words for words in step.says if words not in ended.output]
    if missing:
        raise GuardError(f"`{step.command}` didn't say {', '.join(map(repr, missing))}")
