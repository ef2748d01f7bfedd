"""What git will make of the message file that commit-msg is given.

The hook sees the file before git's own cleanup: with comments, after ``commit -v`` with the
whole diff. Cleaning it as git will (`sequencer.c`, `cleanup_message`) is what lets a rule
read the same there as in the stored commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from guard.errors import UsageError

CUT_LINE = b"------------------------ >8 ------------------------\n"
#: What git's isspace() knows; Python's strips more (a form feed, for one).
WHITE = b" \t\r\n"
#: From which ``core.commentChar = auto`` takes the first that starts no line.
COMMENT_CHARS = b"#;@!$%^&|:"

MODES = ("strip", "whitespace", "verbatim", "scissors", "default")

_SHORT_WITH_VALUE = "mFCct"
_LONG_WITH_VALUE = frozenset(
    f"--{name}"
    for name in (
        *("message", "file", "author", "date", "reuse-message", "reedit-message", "template"),
        *("cleanup", "fixup", "squash", "trailer", "pathspec-from-file"),
        *("into-name", "strategy", "strategy-option"),
    )
)
#: Options that matter here, with the length of the shortest form that git accepts.
_ABBREVIATED = (
    ("--cleanup", 4),
    ("--verbose", 6),
    ("--no-verbose", 9),
    ("--edit", 4),
    ("--no-edit", 6),
)
_GIVES_MESSAGE = ("-m", "-F", "-C", "--message", "--file", "--reuse-message", "--no-edit")
_ASKS_FOR_EDITOR = ("-e", "-c", "--edit", "--reedit-message")


class Cleanup(NamedTuple):
    """How git will clean this message."""

    mode: str = "default"
    """strip, whitespace, verbatim, scissors, or default (strip)."""
    comment_char: str = "#"
    """A string since git 2.45; ``auto`` is worked out from the message."""
    verbose_scissors: bool = False
    """Whether ``commit -v`` cuts at the scissors line, whatever the mode."""


def clean_message(
    raw: bytes, *, mode: str, comment_char: str, verbose_scissors: bool, encoding: str = ""
) -> str:
    """Return the message as git will store it; ``encoding`` is i18n.commitEncoding."""
    return decode_message(clean_raw(raw, Cleanup(mode, comment_char, verbose_scissors)), encoding)


def clean_raw(raw: bytes, cleanup: Cleanup) -> bytes:
    """Return the bytes that git will store for the message file ``raw``."""
    if cleanup.mode not in MODES:
        raise UsageError(f"commit.cleanup: {cleanup.mode!r} is none of {', '.join(MODES)}")
    comment = _comment(raw, cleanup.comment_char)
    if cleanup.verbose_scissors or cleanup.mode == "scissors":
        raw = _cut(raw, comment)
    if cleanup.mode == "verbatim":
        return raw
    return _strip_space(raw, comment if cleanup.mode in ("strip", "default") else b"")


def decode_message(raw: bytes, encoding: str = "") -> str:
    """Return ``raw`` as text: by ``encoding``, else UTF-8 with stray bytes read as Latin-1.

    git itself converts such bytes when it stores the message, one by one (`verify_utf8`).
    """
    if encoding:
        try:
            return raw.decode(encoding)
        except (LookupError, ValueError):
            pass
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "surrogateescape")
        return text.translate({0xDC00 + byte: byte for byte in range(0x80, 0x100)})


def stored_message(commit: bytes) -> str:
    """Return the message of a raw commit object, by its ``encoding`` header."""
    headers, _, message = commit.partition(b"\n\n")
    named = (line[9:] for line in headers.split(b"\n") if line.startswith(b"encoding "))
    return decode_message(message, next(named, b"").decode("latin-1"))


def effective_cleanup(
    raw: bytes,
    config: Mapping[str, str],
    argv: Sequence[str] = (),
    git_editor: str | None = None,
) -> Cleanup:
    """Return how git will clean ``raw``, the file that commit-msg was given.

    ``config`` has git's keys in lower case, ``argv`` is the command line of the git that
    runs the hook (empty where it can't be seen), ``git_editor`` the hook's ``GIT_EDITOR``.
    """
    options = list(commit_options(argv))
    mode = _last(options, "--cleanup") or config.get("commit.cleanup", "default")
    comment = config.get("core.commentstring") or config.get("core.commentchar", "#")
    if mode in ("default", "scissors") and not _uses_editor(argv, options, git_editor):
        mode = "whitespace"
    return Cleanup(mode, comment, _is_verbose(raw, config, argv, options, comment))


def _comment(raw: bytes, wanted: str) -> bytes:
    if wanted != "auto":
        return wanted.encode("utf-8", "surrogateescape")
    # git's own comments stand at the end of the file that the editor was given: the last
    # line is one, or what follows the scissors.
    cut = re.search(rb"^(.) " + re.escape(CUT_LINE) + rb"\1 ", raw, re.MULTILINE)
    found = cut[1] if cut else raw.rstrip(WHITE).rpartition(b"\n")[2][:1]
    return found if found and found in COMMENT_CHARS else b"#"


def _cut(raw: bytes, comment: bytes) -> bytes:
    line = comment + b" " + CUT_LINE
    if raw.startswith(line):
        return b""
    start = raw.find(b"\n" + line)
    return raw if start < 0 else raw[: start + 1]


def _strip_space(raw: bytes, comment: bytes) -> bytes:
    kept: list[bytes] = []
    empty = False
    for line in raw.split(b"\n"):
        if comment and line.startswith(comment):
            continue
        bare = line.rstrip(WHITE)
        if bare:
            kept += [b"", bare] if empty and kept else [bare]
        empty = not bare
    return b"\n".join([*kept, b""]) if kept else b""


def commit_options(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (option, value) of ``git commit`` or ``git merge``, its long names in full."""
    words = iter(argv[_subcommand(argv) + 1 :])
    for word in words:
        if word == "--":
            return
        if word.startswith("--"):
            name, given, value = word.partition("=")
            name = _full_name(name)
            yield name, value if given or name not in _LONG_WITH_VALUE else next(words, "")
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


def _subcommand(argv: Sequence[str]) -> int:
    return next((i for i, word in enumerate(argv) if word in ("commit", "merge")), 0)


def _full_name(name: str) -> str:
    return next(
        (full for full, least in _ABBREVIATED if len(name) >= least and full.startswith(name)), name
    )


def _last(options: list[tuple[str, str]], wanted: str) -> str:
    return next((value for name, value in reversed(options) if name == wanted), "")


def _uses_editor(
    argv: Sequence[str], options: list[tuple[str, str]], git_editor: str | None
) -> bool:
    # git sets ":" where it starts no editor; but a user may have set that too.
    if git_editor != ":":
        return True
    if not argv or argv[_subcommand(argv)] != "commit":
        return False
    names = {name for name, _ in options}
    if names.intersection(_ASKS_FOR_EDITOR):
        return True
    return not names.intersection(_GIVES_MESSAGE) and not any(
        name == "--fixup" and ":" not in value for name, value in options
    )


def _is_verbose(
    raw: bytes,
    config: Mapping[str, str],
    argv: Sequence[str],
    options: list[tuple[str, str]],
    comment: str,
) -> bool:
    if not argv:
        return _has_diff(raw, _comment(raw, comment))
    if argv[_subcommand(argv)] != "commit":
        return False
    for name, _ in reversed(options):
        if name in ("-v", "--verbose", "--no-verbose"):
            return name != "--no-verbose"
    return config.get("commit.verbose", "0").lower() not in ("0", "false", "no", "off", "")


def _has_diff(raw: bytes, comment: bytes) -> bool:
    """Say whether git itself seems to have put a diff below the scissors."""
    scissors, _, below = raw[len(_cut(raw, comment)) :].partition(b"\n")
    return bool(scissors) and below.startswith(comment) and b"\ndiff --" in below
