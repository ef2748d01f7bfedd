"""The `git commit` that a hook runs under, read from its command line.

``git commit --amend`` gives a hook the same arguments and environment as any commit; its
command line is the only witness.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guard.messages.commandline import commit_options

#: How far up git is looked for: a framework and its shells stand in between.
GENERATIONS = 6


class Process(NamedTuple):
    """One process: its parent, and the words of its command line."""

    parent: int
    argv: tuple[str, ...]


def git_command_line(pid: int | None = None) -> tuple[str, ...]:
    """Return the words of the nearest git above us; empty where there is none to be seen."""
    found = _nearest_git(os.getppid() if pid is None else pid)
    return found[1].argv if found else ()


def find_git() -> int | None:
    """Return the id of the nearest git above us; None where there is none to be seen."""
    found = _nearest_git(os.getppid())
    return found[0] if found else None


def _nearest_git(at: int) -> tuple[int, Process] | None:
    for _ in range(GENERATIONS):
        process = read_process(at)
        if process is None or at <= 1:
            return None
        if is_git(process.argv):
            return at, process
        at = process.parent
    return None


def is_git(argv: Sequence[str]) -> bool:
    """Tell whether a command line is git's own."""
    return bool(argv) and os.path.basename(argv[0]) in ("git", "git-commit")


def is_amend(argv: Sequence[str]) -> bool:
    """Tell whether a command line amends: ``--amend``, also abbreviated, the last one counts."""
    amends = False
    for name, _ in commit_options(argv):
        if name.startswith("--am"):
            amends = True
        elif name.startswith("--no-am"):
            amends = False
    return amends


def takes_all(argv: Sequence[str]) -> bool:
    """Tell whether a command line stages all tracked files: ``-a``."""
    return any(name in ("-a", "--all") for name, _ in commit_options(argv))


def read_process(pid: int) -> Process | None:
    """Return a process by its number, or None where it can't be seen."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name stands in brackets, and may itself hold blanks and brackets.
            parent = int(file.read().rpartition(b")")[2].split()[1])
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().removesuffix(b"\0").split(b"\0")
    except (OSError, ValueError, IndexError):
        return None if os.path.isdir("/proc/self") else _asked_of_ps(pid)
    return Process(parent, tuple(os.fsdecode(word) for word in words))


def _asked_of_ps(pid: int) -> Process | None:
    """Read a process where there is no /proc (macOS)."""
    import subprocess

    call = ("ps", "-ww", "-o", "ppid=,args=", "-p", str(pid))
    try:
        said = subprocess.run(call, capture_output=True, check=False).stdout
    except OSError:
        return None
    parent, _, line = os.fsdecode(said).strip().partition(" ")
    return Process(int(parent), tuple(_words(line))) if parent.isdigit() else None


def _words(line: str) -> Iterator[str]:
    """Yield the words of a command line whose quotes are lost, as far as they are sure.

    What follows the option of a message may be its text: ``-m 'no --amend here'``.
    """
    for word in line.split():
        yield word
        if word.startswith(("-m", "-am", "--message", "-F", "--file")):
            return
