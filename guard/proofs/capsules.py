"""A capsule: the broken side of an agent's own paths in one encoded file of the repository.

With it a clone without history proves the record too. Encoded, so that rename detection never
takes it for the files themselves. One line says what it is and its digest, then comes base64:

    guard.capsule.v1 zlib base64 sha256:…

The payload is a line of JSON (agent, its globs), then for each file ``MODE SIZE PATH NUL CONTENT``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import posixpath
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from guard.git import text_of
from guard.schema import is_list, is_mapping
from guard.tree import GITLINK

FORMAT: Final = "guard.capsule.v1 zlib base64"
#: Bytes of the file as it lies in the repository, and of what it unpacks to.
LARGEST_FILE: Final = 16 * 1024 * 1024
LARGEST: Final = 64 * 1024 * 1024
MOST_FILES: Final = 20_000
SYMLINK: Final = "120000"
MODES: Final = ("100644", "100755", SYMLINK, GITLINK)
_HEADER: Final = re.compile(re.escape(FORMAT).encode() + rb" sha256:([0-9a-f]{64})\r?\n")
_FRAME: Final = re.compile(rb"([0-7]{6}) (\d{1,9}) ([^\0]{1,4096})\0")
_LINE: Final = 76


class CapsuleError(Exception):
    """A capsule that can't be had; its text says why."""


class File(NamedTuple):
    """One file of a capsule."""

    mode: str
    content: bytes
    """A symlink's target; of a submodule the id of its commit."""


class Capsule(NamedTuple):
    """What a capsule holds."""

    agent: str
    paths: tuple[str, ...]
    """The agent's globs, as they were written."""
    files: Mapping[bytes, File]


def write_capsule(capsule: Capsule) -> bytes:
    """Return the file. Raises `CapsuleError` where it would be too large, or leads out."""
    _check_paths(capsule.files)
    meta = {"agent": capsule.agent, "paths": list(capsule.paths)}
    parts = [json.dumps(meta, sort_keys=True).encode() + b"\n"]
    for path, file in sorted(capsule.files.items()):
        parts += [f"{file.mode} {len(file.content)} ".encode() + path + b"\0", file.content]
    payload = b"".join(parts)
    encoded = base64.b64encode(zlib.compress(payload, 9))
    if len(payload) > LARGEST or len(encoded) > LARGEST_FILE:
        raise CapsuleError(f"the agent's files are too large for one: {len(payload) >> 20} MiB")
    lines = [encoded[at : at + _LINE] for at in range(0, len(encoded), _LINE)]
    header = f"{FORMAT} sha256:{hashlib.sha256(payload).hexdigest()}".encode()
    return b"\n".join([header, *lines, b""])


def read_capsule(content: bytes) -> Capsule:
    """Return what a capsule holds. Raises `CapsuleError` for anything but a whole, sound one."""
    payload = _payload(content)
    line, _, rest = payload.partition(b"\n")
    agent, paths = _meta(line)
    files: dict[bytes, File] = {}
    for path, file in _frames(rest):
        if path in files:
            raise CapsuleError(f"holds {text_of(path)} twice")
        files[path] = file
    _check_paths(files)
    return Capsule(agent, paths, files)


def problem_of_capsule(path: str, content: bytes | None) -> str:
    """Say what is wrong with the capsule at a path; nothing where all is well."""
    if content is None:
        return f"its capsule {path} is not there"
    try:
        read_capsule(content)
    except CapsuleError as error:
        return f"its capsule {path} {error}"
    return ""


def _payload(content: bytes) -> bytes:
    if len(content) > 2 * LARGEST_FILE:
        raise CapsuleError(f"is larger than {LARGEST_FILE >> 20} MiB")
    header = _HEADER.match(content)
    if header is None:
        raise CapsuleError("is no capsule: its first line isn't one's")
    try:
        packed = base64.b64decode(b"".join(content[header.end() :].split()), validate=True)
        unpacker = zlib.decompressobj()
        payload = unpacker.decompress(packed, LARGEST + 1)
    except (binascii.Error, zlib.error) as error:
        raise CapsuleError("was changed since it was written: it can't be unpacked") from error
    if len(payload) > LARGEST:
        raise CapsuleError(f"unpacks to more than {LARGEST >> 20} MiB")
    whole = unpacker.eof and not unpacker.unused_data
    if not whole or hashlib.sha256(payload).hexdigest().encode() != header[1]:
        raise CapsuleError("was changed since it was written: its digest doesn't fit")
    return payload


def _meta(line: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CapsuleError("doesn't say whose it is") from error
    paths = found.get("paths") if is_mapping(found) else None
    if not is_mapping(found) or not is_list(paths):
        raise CapsuleError("doesn't say whose it is")
    return str(found.get("agent", "")), tuple(map(str, paths))


def _frames(rest: bytes) -> Iterator[tuple[bytes, File]]:
    position, count = 0, 0
    while position < len(rest):
        frame = _FRAME.match(rest, position)
        if frame is None:
            raise CapsuleError("is cut off or garbled")
        end = frame.end() + int(frame[2])
        count += 1
        if end > len(rest) or count > MOST_FILES:
            raise CapsuleError("is cut off" if end > len(rest) else "holds too many files")
        yield frame[3], File(frame[1].decode(), rest[frame.end() : end])
        position = end


# Paths -------------------------------------------------------------------------------------


def _check_paths(files: Mapping[bytes, File]) -> None:
    """Refuse what would lie, or lead, outside the repository."""
    if len(files) > MOST_FILES:
        raise CapsuleError("holds too many files")
    for path, file in files.items():
        name = text_of(path)
        parts = path.split(b"/")
        if file.mode not in MODES:
            raise CapsuleError(f"holds {name} as {file.mode}, which is no file")
        if any(part in (b"", b".", b"..") or part.lower() == b".git" for part in parts):
            raise CapsuleError(f"holds {name}, which leads out of the repository")
        if any(b"/".join(parts[:depth]) in files for depth in range(1, len(parts))):
            raise CapsuleError(f"holds {name} below a file")
        if file.mode == SYMLINK:
            _check_link(name, file.content)
        if file.mode == GITLINK and not re.fullmatch(rb"[0-9a-f]{40}|[0-9a-f]{64}", file.content):
            raise CapsuleError(f"holds {name} as a submodule of no commit")


def _check_link(name: str, target: bytes) -> None:
    leads = posixpath.normpath(posixpath.join(posixpath.dirname(name), text_of(target)))
    if not target or b"\0" in target or leads.startswith(("/", "../")) or leads == "..":
        raise CapsuleError(f"holds the link {name}, which leads out of the repository")
