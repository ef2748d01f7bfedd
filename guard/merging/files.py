"""Merge three files as git hands them to a merge driver: the result replaces ours."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from guard.errors import UsageError
from guard.merging.documents import (
    Document,
    Unmergeable,
    read_base,
    read_side,
    write_document,
)
from guard.merging.markers import Style, tokens_for, with_markers
from guard.merging.records import settle_record
from guard.merging.values import Conflict, conflicts_in, merge_values
from guard.output import printable, warn

#: Both lines of a git that shows the base: `merge.conflictStyle`.
WITH_BASE = ("diff3", "zdiff3")


class Three(NamedTuple):
    """The files of a merge."""

    base: str
    ours: str
    theirs: str


def merge_files(files: Three, size: int, name: str) -> bool:
    """Merge into ours; return whether nothing is left to settle."""
    base, ours, theirs = (_read(path) for path in files)
    try:
        merged = merge_documents(base, ours, theirs)
    except Unmergeable as why:
        return _merge_as_text(files, size, f"{name} is merged as text: {why}")
    unsettled = list(conflicts_in(merged.content))
    _write(files.ours, _with_ends_of(ours, _text(merged, size)))
    # A longer marker is that of an inner merge, whose conflict nobody is asked to settle.
    if unsettled and size <= Style().size:
        _tell(unsettled, name)
    return not unsettled


def merge_documents(base: bytes, ours: bytes, theirs: bytes) -> Document:
    """Return the merged document, conflicts in the places they have. Raises `Unmergeable`."""
    left, right = read_side(ours), read_side(theirs)
    origin = read_base(base, left.schema)
    if not left.schema == right.schema == origin.schema:
        raise Unmergeable("its form differs between the sides")
    versions = Conflict(left.content, origin.content, right.content)
    lists = tuple({*left.lists} & {*right.lists})
    merged = merge_values(versions, (), settle_record)
    return Document(left.schema, merged, lists)


def _with_ends_of(side: bytes, text: bytes) -> bytes:
    """Return the text with the line ends of a side, where that has none but CRLF."""
    is_crlf = b"\r\n" in side and side.count(b"\r\n") == side.count(b"\n")
    return text.replace(b"\n", b"\r\n") if is_crlf else text


def _text(merged: Document, size: int) -> bytes:
    conflicts: list[Conflict] = []
    plain = tokens_for(merged.content, conflicts)
    written = write_document(merged._replace(content=plain))
    if not conflicts:
        return written
    style = Style(size, _conflict_style() in WITH_BASE)
    return with_markers(written.decode(), conflicts, style).encode()


def _conflict_style() -> str:
    call = ["git", "config", "--get", "merge.conflictStyle"]
    return subprocess.run(call, capture_output=True, text=True, check=False).stdout.strip()


def _merge_as_text(files: Three, size: int, why: str) -> bool:
    """Do what git does without a driver."""
    warn(printable(why))
    readable = all(_is_readable(_read(path)) for path in (files.ours, files.theirs))
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    call = ["git", "merge-file", *labels, f"--marker-size={size}"]
    try:
        done = subprocess.run([*call, files.ours, files.base, files.theirs], check=False)
    except OSError as error:
        raise UsageError("git is not on PATH", "install git 2.31 or newer") from error
    # Lines that merge one by one and together say nothing are no silent success.
    return not done.returncode and (_is_readable(_read(files.ours)) or not readable)


def _is_readable(side: bytes) -> bool:
    try:
        read_side(side)
    except Unmergeable:
        return False
    return True


def _tell(unsettled: Sequence[tuple[str, ...]], name: str) -> None:
    shown = [" ".join(path[1:]) or path[0] for path in unsettled[:3]]
    more = f" and {len(unsettled) - 3} more" if len(unsettled) > 3 else ""
    warn(printable(f"{name}: both sides changed {', '.join(shown)}{more}"))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error


def _write(path: str, text: bytes) -> None:
    """Replace a file's content whole or not at all; git may look at its mode."""
    fresh = f"{path}.{os.getpid()}.tmp"
    try:
        with open(fresh, "wb") as stream:
            stream.write(text)
        os.chmod(fresh, os.stat(path).st_mode & 0o777)
        os.replace(fresh, path)
    except OSError as error:
        if os.path.exists(fresh):
            os.remove(fresh)
        raise UsageError(f"{path} can't be written: {error.strerror}") from error
