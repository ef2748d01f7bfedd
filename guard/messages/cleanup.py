"""What git will make of the message file that commit-msg is given.

The hook sees the file before git's own cleanup: with comments, after ``commit -v`` with the
whole diff. Cleaning it as git will (`sequencer.c`, `cleanup_message`) is what lets a rule
read the same there as in the stored commit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from guard.errors import UsageError
from guard.messages.commandline import CommandLine, read_command_line

CUT_LINE = b"------------------------ >8 ------------------------\n"
#: What git's isspace() knows; Python's strips more (a form feed, for one).
WHITE = b" \t\r\n"
#: From which ``core.commentChar = auto`` takes the first that starts no line.
COMMENT_CHARS = b"#;@!$%^&|:"

#: Codecs of text that no other program has.
_PYTHONS_OWN = ("unicode_escape", "raw_unicode_escape", "punycode", "idna", "undefined")

#: What a header is written with.
_HEADER = "fix(agent)!: Fixes #0123456789, Guard-Exempt: why\n"

MODES = ("strip", "whitespace", "verbatim", "scissors", "default")

_GIVES_MESSAGE = ("-m", "-F", "-C", "--message", "--file", "--reuse-message")
_ASKS_FOR_EDITOR = ("-c", "--reedit-message")


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

    git itself converts such bytes when it stores the message, one by one (`verify_utf8`), and
    shows nothing that stands behind a NUL.
    """
    raw = raw.partition(b"\0")[0]
    if encoding and encoding.lower() not in ("utf-8", "utf8"):
        try:
            text = raw.decode(encoding)
            # Of a codec that makes half characters, or is Python's own, git knows nothing.
            text.encode()
            if _reads_ascii(encoding) and not _is_pythons_own(encoding):
                return text
        except (LookupError, ValueError):
            pass
    text = raw.decode("utf-8", "surrogateescape")
    if text.isascii():
        return text
    text = re.sub(_no_characters(), lambda found: found[0].encode().decode("latin-1"), text)
    return text.translate({0xDC00 + byte: byte for byte in range(0x80, 0x100)})


def _reads_ascii(encoding: str) -> bool:
    """Tell whether a header can be written in it: git cleans a message and cuts it by ASCII."""
    return _HEADER.encode().decode(encoding) == _HEADER


def _is_pythons_own(encoding: str) -> bool:
    from codecs import lookup

    return re.sub(r"\W", "_", lookup(encoding).name) in _PYTHONS_OWN


def _no_characters() -> str:
    """Return a pattern of what Python decodes and git doesn't take for UTF-8."""
    planes = range(0, 0x110000, 0x10000)
    ends = "".join(f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in planes)
    return f"[\ufdd0-\ufdef{ends}]"


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

    ``config`` has git's keys in lower case, in the order of their last values; ``argv`` is the
    command line of the git that runs the hook (empty where it can't be seen), ``git_editor``
    the hook's ``GIT_EDITOR``.
    """
    line = read_command_line(argv)
    edited = _uses_editor(line, git_editor)
    mode = _last(line, "--cleanup") or config.get("commit.cleanup", "default")
    if mode in ("default", "scissors") and not edited:
        mode = "whitespace"
    comment = _comment_setting(config)
    if comment == "auto" and not edited:
        # The file is what git chose the character by.
        comment = _unused(raw)
    return Cleanup(mode, comment, _is_verbose(raw, config, line, comment))


def _comment_setting(config: Mapping[str, str]) -> str:
    """Return the character, or since git 2.45 the string: of its two names the last one counts."""
    found = [v for k, v in config.items() if k in ("core.commentchar", "core.commentstring")]
    return found[-1] if found else "#"


def _unused(message: bytes) -> str:
    """Return what git takes for ``auto``: the first that begins no line (adjust_comment_...)."""
    if b"#" not in message:
        return "#"
    begun = {message[:1], *re.findall(rb"[\r\n](.)", message, re.DOTALL)}
    free = (char for char in COMMENT_CHARS.decode() if char.encode() not in begun)
    return next(free, "#")


def _comment(raw: bytes, wanted: str) -> bytes:
    if wanted != "auto":
        return wanted.encode("utf-8", "surrogateescape")
    # git's own comments stand at the end of the file that the editor was given: the last
    # line is one, or what follows the scissors.
    cut = re.search(rb"^(.) " + re.escape(CUT_LINE) + rb"\1 ", raw, re.MULTILINE)
    last = raw.rstrip(WHITE).rpartition(b"\n")[2]
    found = cut[1] if cut else last[:1] if last[1:2] in (b"", b" ", b"\t") else b""
    if not found or found not in COMMENT_CHARS:
        return b"#"
    # git passes over those alone that begin a line: else this is a table's row, say.
    passed = COMMENT_CHARS[: COMMENT_CHARS.index(found)]
    begun = {line[:1] for line in raw.split(b"\n")}
    return found if cut or all(bytes((char,)) in begun for char in passed) else b"#"


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


def _last(line: CommandLine, *wanted: str) -> str:
    """Return the value of the last of some options; its name where it has none."""
    return next((value or name for name, value in reversed(line.options) if name in wanted), "")


def _uses_editor(line: CommandLine, git_editor: str | None) -> bool:
    # git sets ":" where it starts no editor; but a user may have set that too.
    if git_editor != ":":
        return True
    if line.name != "commit":
        return False
    asked = _last(line, "-e", "--edit", "--no-edit")
    if asked:
        return asked != "--no-edit"
    names = {name for name, _ in line.options}
    if names.intersection(_ASKS_FOR_EDITOR):
        return True
    return not names.intersection(_GIVES_MESSAGE) and not any(
        name == "--fixup" and ":" not in value for name, value in line.options
    )


def _is_verbose(raw: bytes, config: Mapping[str, str], line: CommandLine, comment: str) -> bool:
    if not line.name:
        return _has_diff(raw, _comment(raw, comment))
    if line.name != "commit":
        return False
    asked = _last(line, "-v", "--verbose", "--no-verbose")
    if asked:
        return asked != "--no-verbose"
    return config.get("commit.verbose", "0").lower() not in ("0", "false", "no", "off", "")


def _has_diff(raw: bytes, comment: bytes) -> bool:
    """Say whether git itself seems to have put a diff below the scissors."""
    scissors, _, below = raw[len(_cut(raw, comment)) :].partition(b"\n")
    return bool(scissors) and below.startswith(comment) and b"\ndiff --" in below
