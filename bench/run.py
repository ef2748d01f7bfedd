"""The benchmark: whole processes, in one run, as ratios to a floor or a peer.

Run by hand: ``make bench``. Never a test: a shared machine's times mean nothing alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from bench.commits import measure_commits
from bench.fixtures import pytest_peer, touched_skill, trivial_cases
from bench.history import measure_history
from bench.loading import loading_ratios
from bench.memory import measure_where_asked
from bench.timing import Command, print_ratio, time_commands
from bench.trials import measure_trials
from bench.verify import measure_verify

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "15"))
BIN = Path(sys.executable).parent
FLOOR = "python -I -S -c pass"
QUIET = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def main() -> None:
    """Measure everything."""
    with tempfile.TemporaryDirectory(prefix="guard-bench-") as folder:
        measure_commits(Path(folder) / "commits")
        measure_hook(Path(folder))
        measure_run(Path(folder))
        measure_trials(Path(folder) / "trials")
        measure_history(Path(folder))
        measure_verify(Path(folder))
        measure_where_asked(Path(folder) / "memory")
        for name, ratio, aim in loading_ratios(Path(folder)):
            print_ratio(name, ratio, 1.0, "CSafeLoader loop", aim)


def measure_hook(folder: Path) -> None:
    """commit-msg on a touched skill, with and without a repository plugin, beside gitlint."""
    plain = touched_skill(folder / "plain", plugin=False)
    plugin = touched_skill(folder / "plugin", plugin=True)
    hook = [str(BIN / "guard-commit-msg"), ".git/message"]
    floor = Command(FLOOR, [sys.executable, "-I", "-S", "-c", "pass"], str(plain))
    commands = [
        floor,
        Command("guard --version", [str(BIN / "guard"), "--version"], str(plain)),
        Command("hook", hook, str(plain)),
        Command("hook with plugin", hook, str(plugin)),
    ]
    if (BIN / "gitlint").exists():
        lint = [str(BIN / "gitlint"), "--msg-filename", ".git/message"]
        commands.append(Command("gitlint", lint, str(plain), codes=(0, 1, 2, 3)))
    seconds = time_commands(commands, ROUNDS)
    base = seconds[FLOOR]
    print_ratio("guard --version", seconds["guard --version"], base, FLOOR, 4)
    print_ratio("commit-msg, rules on a touched skill", seconds["hook"], base, FLOOR, 8)
    print_ratio("  the same with a plugin", seconds["hook with plugin"], base, FLOOR, 10)
    if "gitlint" in seconds:
        peer = seconds["gitlint"]
        print_ratio("commit-msg, rules on a touched skill", seconds["hook"], peer, "gitlint", 1)
        print_ratio("  the same with a plugin", seconds["hook with plugin"], peer, "gitlint", 1)
    else:
        print("gitlint is not installed here: pip install gitlint-core")


def measure_run(folder: Path) -> None:
    """``guard run`` beside pytest: one trivial case, and what each further one takes."""
    many = 200
    one, all_of_them = trivial_cases(folder / "one", 1), trivial_cases(folder / "many", many)
    ours = [str(BIN / "guard"), "run", "--no-cache", "--jobs", "1"]
    theirs = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    commands = [
        Command("guard 1", ours, str(one)),
        Command("pytest 1", [*theirs, pytest_peer(one, 1)], str(folder), QUIET),
        Command("guard n", ours, str(all_of_them)),
        Command("pytest n", [*theirs, pytest_peer(all_of_them, many)], str(folder), QUIET),
    ]
    seconds = time_commands(commands, max(3, ROUNDS // 3))
    print_ratio(
        "guard run, one trivial case", seconds["guard 1"], seconds["pytest 1"], "pytest", 0.75
    )
    slope = (seconds["guard n"] - seconds["guard 1"]) / (many - 1)
    peer = (seconds["pytest n"] - seconds["pytest 1"]) / (many - 1)
    print_ratio("guard run, per case with a 20-file workspace", slope, peer, "pytest", 0.5)


if __name__ == "__main__":
    main()
