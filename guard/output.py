"""The one place that writes to a terminal or a pipe: the report to stdout, all else to stderr.

Lines that begin with one of four marks are coloured where colour is wanted. What an encoding
can't carry is replaced, never raised: a report that dies on a file name would hide its verdict.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Final, Literal, TextIO, cast

from guard import model
from guard.errors import UnreadableError, UsageError

ColorMode = Literal["auto", "always", "never"]

HOLDS: Final = "✓"
BROKEN: Final = "✗"
UNKNOWN: Final = "?"
LOOK: Final = "!"
#: The mark before a verdict; of cases and proofs alike.
MARKS: Final[Mapping[str, str]] = {
    model.PASS: HOLDS,
    model.PROVEN: HOLDS,
    model.RETIRED: HOLDS,
    model.XFAIL: LOOK,
    model.ERROR: LOOK,
    model.TAINTED: LOOK,
    model.STALE: LOOK,
    model.FAIL: BROKEN,
    model.XPASS: BROKEN,
    model.VACUOUS: BROKEN,
    model.WRONG_REASON: BROKEN,
    model.BROKEN_NOW: BROKEN,
    model.DEGENERATE: BROKEN,
    model.UNPROTECTED: BROKEN,
}
#: Stand-ins where the stream's encoding has no such character.
ASCII: Final = str.maketrans({HOLDS: "+", BROKEN: "x", "…": "...", "·": "|", "→": "->"})
COLORS: Final = {HOLDS: "32", BROKEN: "31", UNKNOWN: "33", LOOK: "33"}
MARKED_LINE: Final = rf"(?m)^([{HOLDS}{BROKEN}?!]) "
#: Patterns are compiled when they are first used: a hook that says nothing needs none.
#: Control characters, and those that turn the direction of text or hide in it.
UNPRINTABLE: Final = (
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
SAFE_PATH: Final = r"(?a:[A-Za-z0-9_@%+=:,./~-]+)"

_color: ColorMode = "auto"


def set_color(mode: str) -> None:
    """Say whether to colour: auto, always or never (the command line's ``--color``)."""
    global _color
    _color = cast("ColorMode", mode)


def mark_of(verdict: str) -> str:
    """Return the mark that stands before a verdict; what isn't known gets a question mark."""
    return MARKS.get(verdict, UNKNOWN)


def out(text: str = "", *, verbatim: bool = False) -> None:
    """Write a part of the report to stdout; raises `UnreadableError` where it can't be written.

    ``verbatim`` text keeps its guard commands as they are: what another program printed.
    """
    try:
        write(sys.stdout, (text if verbatim else _pasteable(text)) + "\n")
    except OSError as exc:
        raise UnreadableError(f"the report can't be written to standard output: {exc}") from exc


def write_file(path: str, text: str) -> None:
    """Write a report, always UTF-8: to stdout for ``-``, else to a file that is whole or not there.

    What isn't a plain file (a pipe, /dev/stderr) is written to as it is.
    """
    data = text.encode("utf-8", "backslashreplace")
    if path == "-":
        _write_to_stdout(data)
        return
    write_bytes(path, data)


def write_bytes(path: str, data: bytes) -> None:
    """Write a file that is whole or not there."""
    path = os.path.realpath(path)
    temporary = path if _is_special(path) else f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        if temporary != path:
            os.replace(temporary, path)
    except OSError as exc:
        if temporary != path and os.path.exists(temporary):
            os.remove(temporary)
        folder = os.path.dirname(path)
        hint = "" if os.path.isdir(folder) else f"mkdir -p {shell_path(folder)}"
        raise UsageError(f"{printable(path)} can't be written: {exc.strerror}", hint) from exc


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def _write_to_stdout(data: bytes) -> None:
    if sys.stdout is None:
        raise UnreadableError("the report can't be written: standard output is closed")
    descriptor = _descriptor(sys.stdout)
    if descriptor is None:
        out(data.decode().removesuffix("\n"))
        return
    try:
        sys.stdout.flush()
        _write_all(descriptor, data)
    except BrokenPipeError:
        _discard(descriptor)
    except OSError as exc:
        raise UnreadableError(f"the report can't be written to standard output: {exc}") from exc


def say(text: str = "") -> None:
    """Write anything that isn't the report to stderr; that it can't be written is no failure."""
    try:
        write(sys.stderr, _pasteable(text) + "\n")
    except OSError:
        return


def _pasteable(text: str) -> str:
    if "guard " not in text:
        return text
    from guard.invocation import pasteable

    return pasteable(text)


def warn(text: str) -> None:
    """Write a message of guard's own to stderr, named as such."""
    say(f"guard: {text}")


def wants_color(stream: TextIO) -> bool:
    """Say whether this stream gets colours: asked for, or a terminal without NO_COLOR."""
    if _color != "auto":
        return _color == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def can_show(characters: str) -> bool:
    """Say whether standard output has these characters: its encoding, and a terminal behind it."""
    stream = sys.stdout
    if stream is None or (stream.isatty() and os.environ.get("TERM") == "dumb"):
        return False
    return _can_encode(characters, stream.encoding or "utf-8")


def write(stream: TextIO | None, text: str) -> None:
    """Write all of the text, whatever the stream's encoding, blocking mode or reader."""
    if stream is None:  # started without a standard stream
        return
    encoding = stream.encoding or "utf-8"
    if wants_color(stream):
        text = re.sub(
            MARKED_LINE, lambda found: f"\x1b[{COLORS[found[1]]}m{found[1]}\x1b[0m ", text
        )
    data = encode(text, encoding)
    descriptor = _descriptor(stream)
    if descriptor is None:
        stream.write(data.decode(encoding))
        return
    try:
        stream.flush()
        _write_all(descriptor, data)
    except BrokenPipeError:
        _discard(descriptor)


def encode(text: str, encoding: str) -> bytes:
    """Encode text: plain stand-ins first, escapes for the rest."""
    if not _can_encode(text, encoding) and not _can_encode(HOLDS + BROKEN, encoding):
        text = text.translate(ASCII)
    return text.encode(encoding, "backslashreplace")


def _can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # kept in memory, as under a test
        return None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:  # npm and some CI runners hand down non-blocking pipes
            _wait_until_writable(descriptor)


def _wait_until_writable(descriptor: int) -> None:
    from select import select

    select([], [descriptor], [])


def _discard(descriptor: int) -> None:
    """Send what follows nowhere: the reader has seen enough, and the verdict still counts."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def printable(text: str, keep: str = "") -> str:
    """Escape what would move the cursor, hide in the line or break the encoding.

    Bytes of a path that are no UTF-8 (surrogate escapes) come out as ``\\xNN``. Characters in
    ``keep``, such as a newline, are left alone.
    """
    return re.sub(
        UNPRINTABLE, lambda found: found[0] if found[0] in keep else _escape(found[0]), text
    )


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def shell_path(path: str) -> str:
    """Quote a path, so that a printed command can be pasted into a POSIX shell."""
    if path.startswith("-"):
        path = f"./{path}"
    if re.fullmatch(SAFE_PATH, path) and not path.startswith("~"):
        return path
    if re.search(UNPRINTABLE, path):
        return f"$'{_escape_for_shell(path)}'"
    return "'" + path.replace("'", "'\\''") + "'"


def path_from_here(root: str, path: str) -> str:
    """Quote a path of the repository for a command that is pasted in the current folder."""
    place = os.path.join(os.path.realpath(root), path)
    return shell_path(os.path.relpath(place, os.path.realpath(".")))


def _escape_for_shell(path: str) -> str:
    """Escape for ``$'…'`` byte by byte, so that any file name comes out as it went in."""
    told: list[str] = []
    for character in path:
        if character in "\\'":
            told.append("\\" + character)
        elif re.match(UNPRINTABLE, character):
            # three octal digits: \xNN would swallow a hexadecimal digit that follows
            told += [f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape")]
        else:
            told.append(character)
    return "".join(told)
