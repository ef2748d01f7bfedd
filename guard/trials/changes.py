"""What a trial changed in its workspace: which files, how many lines, and a bounded diff.

Lines are counted as git counts them; a shortest edit script is found by Myers' algorithm, and
where two texts are too far apart for that, every line between their common ends counts.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from guard.git import text_of
from guard.results import FileChange
from guard.trials.manifest import FILE, LINK, Item, Manifest, open_regular

#: A file of more bytes is compared by size and digest only.
TEXT_BYTES = 8 << 20
#: As git: a NUL byte within so many bytes makes a file binary.
BINARY_BYTES = 8000
#: Edits that are looked for before two texts count as wholly different.
MAX_EDITS = 1000
DIFF_CHARACTERS = 64 << 10
#: Lines of one file of which a diff is shown.
DIFF_LINES = 10_000

#: Given a path: its content before the trial, or None.
ContentBefore = Callable[[bytes], bytes | None]


class Changes(NamedTuple):
    """All that differs between two manifests."""

    files: tuple[FileChange, ...] = ()
    diff: str = ""


def compare(
    before: Manifest, after: Manifest, content_before: ContentBefore, root: bytes
) -> Changes:
    """Return what differs; ``root`` is the folder on disk that ``after`` was made from."""
    files: list[FileChange] = []
    diff = _Diff()
    for path in sorted(_touched(before, after)):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None and old.content == new.content:
            continue
        old_text = _text(content_before(path) if old and old.kind in (FILE, LINK) else b"")
        new_text = _text(content_of(root, path, new))
        plus, minus = count_lines(old_text, new_text)
        files.append(FileChange(text_of(path), _status(old, new), plus, minus))
        diff.add(_shown(path), old, new, old_text, new_text)
    return Changes(tuple(files), diff.text())


def _touched(before: Manifest, after: Manifest) -> set[bytes]:
    """Return the paths that may differ: of a large folder all but a few are the very same."""
    there = {path for path, item in after.items() if before.get(path) is not item}
    return there | (before.keys() - after.keys())


def _status(old: Item | None, new: Item | None) -> str:
    if old is None:
        return "A"
    if new is None:
        return "D"
    return "M" if old.content[:2] == new.content[:2] else "T"


def content_of(root: bytes, path: bytes, item: Item | None) -> bytes | None:
    """Return a file's content or a link's target; nothing for what has none, None if unreadable."""
    if item is None or item.kind not in (FILE, LINK):
        return b""
    place = os.path.join(root, path)
    try:
        if item.kind == LINK:
            return os.readlink(place)
        with open(place, "rb", opener=open_regular) as file:
            return file.read(TEXT_BYTES + 1)
    except OSError:
        return None


def _text(content: bytes | None) -> list[bytes] | None:
    """Return the lines of a text; None for a binary file and one that is too large."""
    if content is None or len(content) > TEXT_BYTES or b"\0" in content[:BINARY_BYTES]:
        return None
    # After line feeds alone, as git does.
    lines = content.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def count_lines(old: Sequence[bytes] | None, new: Sequence[bytes] | None) -> tuple[int, int]:
    """Return (insertions, deletions); none where one of the two is no text."""
    if old is None or new is None:
        return 0, 0
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    edits = count_edits(old, new)
    kept = (len(old) + len(new) - edits) // 2
    return len(new) - kept, len(old) - kept


def count_edits(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """Return the length of the shortest edit script (Myers 1986); of a very long one, all lines."""
    longest = len(old) + len(new)
    if not old or not new:
        return longest
    furthest = {1: 0}
    for edits in range(min(longest, MAX_EDITS) + 1):
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return edits
    return longest


def summary_of(files: Sequence[FileChange]) -> str:
    """Return git's own sentence: ``2 files changed, 6 insertions(+), 6 deletions(-)``."""
    plus, minus = sum(f.insertions for f in files), sum(f.deletions for f in files)
    said = f"{len(files)} file{'' if len(files) == 1 else 's'} changed"
    if plus or not minus:
        said += f", {plus} insertion{'' if plus == 1 else 's'}(+)"
    if minus or not plus:
        said += f", {minus} deletion{'' if minus == 1 else 's'}(-)"
    return said


class _Diff:
    """A unified diff that stops growing."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = DIFF_CHARACTERS

    def add(
        self,
        name: str,
        old: Item | None,
        new: Item | None,
        old_lines: list[bytes] | None,
        new_lines: list[bytes] | None,
    ) -> None:
        if self._left <= 0:
            return
        for line in self._lines(name, old, new, old_lines, new_lines):
            self._parts.append(line)
            self._left -= len(line)
            if self._left <= 0:
                self._parts.append("\n… the diff is cut here\n")
                return

    def _lines(
        self,
        name: str,
        old: Item | None,
        new: Item | None,
        old_lines: list[bytes] | None,
        new_lines: list[bytes] | None,
    ) -> list[str]:
        before = f"a/{name}" if old else "/dev/null"
        after = f"b/{name}" if new else "/dev/null"
        head = [f"{_mode(old)} → {_mode(new)}  {name}\n"] if _mode(old) != _mode(new) else []
        if old_lines is None or new_lines is None:
            return [*head, f"{before} and {after} differ: binary, large or unreadable\n"]
        if len(old_lines) + len(new_lines) > DIFF_LINES:
            return [*head, f"{before} and {after} differ in too many lines to show\n"]
        old_text, new_text = list(map(_printable, old_lines)), list(map(_printable, new_lines))
        lines = difflib.unified_diff(old_text, new_text, before, after)
        return head + [line if line.endswith("\n") else line + "\n" for line in lines]

    def text(self) -> str:
        return "".join(self._parts)


def _mode(item: Item | None) -> str:
    if item is None:
        return "absent"
    if item.kind == FILE:
        return "100755" if item.executable else "100644"
    return "120000" if item.kind == LINK else item.kind


def _shown(path: bytes) -> str:
    """Return a path as one line of plain text."""
    return path.decode("utf-8", "backslashreplace").replace("\n", "\\n").replace("\r", "\\r")


def _printable(line: bytes) -> str:
    return line.decode("utf-8", "replace")
