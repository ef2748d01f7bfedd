"""The command that repeats a commit as it was asked for: amending, of all files, of some paths."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from guard.change import Change
from guard.git import Repo
from guard.judging.amend import is_amend, takes_all
from guard.judging.left_out import is_partial
from guard.messages.commandline import place_options, read_command_line
from guard.output import shell_path

#: Characters of a command line that is repeated word for word.
LONGEST: Final = 160


def commit_again(repo: Repo, change: Change, argv: Sequence[str], message_file: str) -> str:
    """Return the command; ``message_file`` is where the message is kept, empty where it isn't.

    Without it the command is the one that was given, where that can be seen.
    """
    called = "" if message_file else as_called(argv)
    return called or " ".join(_words(repo, change, argv, message_file))


def as_called(argv: Sequence[str]) -> str:
    """Return the command that git was called by; empty where it can't be seen, or not repeated."""
    line = read_command_line(argv)
    # What came by standard input is gone; what `ps` shows has lost its quotes.
    seen = os.path.isdir("/proc/self") and not any(value == "-" for _, value in line.options)
    words = shlex.join(["git", *argv[1:]])
    named = bool(argv) and line.name == "commit" and os.path.basename(argv[0]) == "git"
    return words if seen and named and words.isprintable() and len(words) <= LONGEST else ""


def _words(repo: Repo, change: Change, argv: Sequence[str], message_file: str) -> Iterator[str]:
    yield from ("git", *map(shlex.quote, place_options(argv)))
    if read_command_line(argv).name == "am":
        yield from ("am", "--continue")
        return
    yield "commit"
    if is_amend(argv):
        yield "--amend"
    if takes_all(argv):
        yield "-a"
    if message_file:
        yield from ("-F", shell_path(message_file))
    if is_partial(repo):
        prefix = os.environ.get("GIT_PREFIX", "") or "."
        yield "--"
        yield from (shell_path(os.path.relpath(e.name, prefix)) for e in change.entries)
