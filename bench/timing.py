"""Times whole processes in interleaved rounds, so that a busy machine slows all alike."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Command(NamedTuple):
    """One process to time."""

    name: str
    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str] = {}
    codes: tuple[int, ...] = (0,)
    """Exit codes that mean it did what it should."""


class Spread(NamedTuple):
    """What several runs of one thing took, in seconds."""

    least: float
    """What else a machine does only ever adds: nearest to what it takes."""
    median: float

    def less(self, floor: Spread) -> Spread:
        """Return what it takes more than the floor does."""
        return Spread(self.least - floor.least, self.median - floor.median)


def spread_of(seconds: Sequence[float]) -> Spread:
    """Return the least and the median."""
    return Spread(min(seconds), sorted(seconds)[len(seconds) // 2])


def time_commands(commands: Sequence[Command], rounds: int) -> dict[str, float]:
    """Return name → the least seconds of ``rounds``, after one that isn't counted.

    What else a machine does only ever adds; the least is nearest to what the command takes.
    """
    seconds: dict[str, list[float]] = {command.name: [] for command in commands}
    for number in range(rounds + 1):
        for command in commands:
            taken = _time(command)
            if number:
                seconds[command.name].append(taken)
    return {name: min(taken) for name, taken in seconds.items()}


def _time(command: Command) -> float:
    started = time.perf_counter()
    done = subprocess.run(
        command.argv,
        cwd=command.cwd,
        # Users' machines keep byte-code; a sandbox may forbid it.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **command.env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    taken = time.perf_counter() - started
    if done.returncode not in command.codes:
        said = (done.stdout + done.stderr).decode("utf-8", "replace")[-2000:]
        raise SystemExit(f"{command.name} ended in {done.returncode}:\n{said}")
    return taken


def print_ratio(what: str, seconds: float, floor: float, floor_name: str, aim: float) -> None:
    """Print one line: how many times the floor, and what the aim is."""
    ratio = seconds / floor
    held = "holds" if ratio <= aim else "MISSED"
    print(f"{what:<58} {ratio:6.2f} x {floor_name:<22} aim {aim:g} x  {held}", flush=True)


def print_added(what: str, added: Spread, floor: Spread, floor_name: str, aim: float = 0) -> None:
    """Print one line: what is added as a multiple of what the floor adds, and the aim if any."""
    ratio, median = added.least / floor.least, added.median / floor.median
    wanted = f"aim {aim:g} x  {'holds' if ratio <= aim else 'MISSED'}" if aim else ""
    shown = f"{ratio:6.2f} x {floor_name:<22} ({median:.2f} by medians) {wanted}"
    print(f"{what:<40} {shown}".rstrip(), flush=True)
