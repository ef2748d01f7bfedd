"""The command line of the git that runs a hook: which subcommand it is, and its options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

#: Options of git itself whose value is a word of its own: ``git -C merge commit`` commits.
_GLOBAL_WITH_VALUE = (
    *("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix"),
    *("--config-env", "--attr-source"),
)
_PLACES = ("-C", "--git-dir", "--work-tree")
_SHORT_WITH_VALUE = "mFCct"
_LONG_WITH_VALUE = frozenset(
    f"--{name}"
    for name in (
        *("message", "file", "author", "date", "reuse-message", "reedit-message", "template"),
        *("cleanup", "fixup", "squash", "trailer", "pathspec-from-file"),
        *("into-name", "strategy", "strategy-option"),
    )
)
#: Long options of both; of those that begin alike the first is what an abbreviation means.
_LONG = """
message file author date reuse-message reedit-message template cleanup fixup squash trailer
pathspec-from-file into-name strategy strategy-option
quiet verbose no-verbose reset-author signoff no-signoff edit no-edit status no-status gpg-sign
no-gpg-sign all include interactive patch only no-verify dry-run short branch ahead-behind
porcelain long null amend no-amend no-post-rewrite untracked-files pathspec-file-nul allow-empty
allow-empty-message stat no-stat log no-log commit no-commit ff no-ff ff-only no-squash
rerere-autoupdate verify-signatures abort quit continue progress autostash no-autostash
overwrite-ignore
"""


class CommandLine(NamedTuple):
    """What git was asked for."""

    name: str
    """The subcommand, such as commit or merge; empty where the command line can't be seen."""
    options: tuple[tuple[str, str], ...]
    """(option, value), long names in full; the value is empty where it has none."""


def read_command_line(argv: Sequence[str]) -> CommandLine:
    """Take apart the words of ``git commit``, ``git merge`` or a program such as git-commit."""
    if not argv:
        return CommandLine("", ())
    place = _subcommand(argv)
    name = argv[place].rpartition("/")[2].removeprefix("git-")
    return CommandLine(name, tuple(_options(argv[place + 1 :])))


def commit_options(argv: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return (option, value) of ``git commit`` or ``git merge``, long names in full."""
    return read_command_line(argv).options


def place_options(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the options that say where the repository is, as git was given them."""
    words = iter(argv[1 : _subcommand(argv)] if argv else ())
    found: list[str] = []
    for word in words:
        value = [next(words, "")] if word in _GLOBAL_WITH_VALUE else []
        if word.partition("=")[0] in _PLACES:
            found += [word, *value]
    return tuple(found)


def _subcommand(argv: Sequence[str]) -> int:
    if not argv[0].endswith("git"):
        return 0
    place = 1
    while place < len(argv) and argv[place].startswith("-"):
        place += 2 if argv[place] in _GLOBAL_WITH_VALUE else 1
    return place if place < len(argv) else 0


def _options(given: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = iter(given)
    for word in words:
        if word == "--":
            return
        if word.startswith("--"):
            name, has_value, value = word.partition("=")
            name = _full_name(name)
            yield name, value if has_value or name not in _LONG_WITH_VALUE else next(words, "")
        elif word.startswith("-"):
            yield from _short_options(word[1:], words)


def _short_options(letters: str, words: Iterator[str]) -> Iterator[tuple[str, str]]:
    for place, letter in enumerate(letters, start=1):
        if letter in _SHORT_WITH_VALUE:
            yield f"-{letter}", letters[place:] or next(words, "")
            return
        yield f"-{letter}", ""
        if letter in "uS":
            return


def _full_name(name: str) -> str:
    """Return the option that git takes an abbreviation for; what is ambiguous it refuses."""
    known = _LONG.split()
    short = name[2:]
    if short in known:
        return name
    return next((f"--{full}" for full in known if full.startswith(short)), name)
