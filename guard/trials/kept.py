"""The files that a trial leaves behind, kept so that its checks can be asked again without it.

What changed is kept, and what the expectations name; bounded, a large file by its digest and its
beginning.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from guard.git import bytes_of, text_of
from guard.results import KeptFile, Observation, Score
from guard.trials.changes import content_of
from guard.trials.manifest import FILE, LINK, Manifest

#: Bytes of one file, and of all files of one trial, that are kept.
FILE_BYTES: Final = 64 << 10
ALL_BYTES: Final = 256 << 10
MOST_FILES: Final = 500
ABSENT: Final = "absent"
OTHER: Final = "other"


class Left(NamedTuple):
    """What a trial left behind, to be graded again."""

    observation: Observation
    files: tuple[KeptFile, ...] = ()
    own: tuple[Score, ...] = ()
    """The scores of the engine itself."""


#: Given where the workspace lies now: what was left in it.
LeftIn = Callable[[str], Left]


class KeptError(ValueError):
    """A kept file that can't be laid; in words."""


def named_files(expected: Mapping[str, Any]) -> list[str]:
    """Return the paths of the workspace that built-in evaluators look at by name."""
    files: Mapping[str, Any] = expected.get("files") or {}
    artifacts: Sequence[Mapping[str, Any]] = expected.get("artifacts") or ()
    found = [*files]
    for item in artifacts:
        found.append(item["path"])
        if "equals_artifact" in item:
            found.append(item["equals_artifact"]["path"])
    return [*dict.fromkeys(map(os.path.normpath, found))]


def keep_files(
    root: str, after: Manifest, changed: Iterable[str], named: Iterable[str]
) -> tuple[KeptFile, ...]:
    """Return what is kept of a workspace; ``after`` is its manifest."""
    folder, left = os.fsencode(root), ALL_BYTES
    found: list[KeptFile] = []
    for path in islice(dict.fromkeys((*named, *changed)), MOST_FILES):
        kept = _keep(folder, bytes_of(path), after, min(left, FILE_BYTES))
        left -= len(kept.text or kept.base64 or "")
        found.append(kept)
    return tuple(found)


def _keep(root: bytes, path: bytes, after: Manifest, limit: int) -> KeptFile:
    item, name = after.get(path), text_of(path)
    if item is None:
        return KeptFile(name, ABSENT)
    content = content_of(root, path, item) if item.kind in (FILE, LINK) else None
    if content is None:
        return KeptFile(name, OTHER)
    size = item.stamp[2] if item.kind == FILE else len(content)
    kept = KeptFile(name, item.kind, item.executable, max(size, len(content)), item.digest)
    return with_content(kept, content, limit)


def with_content(kept: KeptFile, content: bytes, limit: int = FILE_BYTES) -> KeptFile:
    """Return the file with its content, or the beginning of it; with nothing past a limit of 0."""
    if limit <= 0:
        return kept
    part = content[:limit]
    for end in range(len(part), max(0, len(part) - 4) - 1, -1):
        try:
            return kept._replace(text=part[:end].decode())
        except UnicodeDecodeError:
            if len(content) <= limit:
                break
            # A cut may go through a character.
    return kept._replace(base64=base64.b64encode(part).decode())


def lay_kept(files: Sequence[KeptFile], workspace: str) -> None:
    """Lay kept files over a workspace, and nothing outside it. Raises `KeptError`."""
    for file in files:
        _lay(file, os.fsencode(workspace))


def _lay(file: KeptFile, root: bytes) -> None:
    place = _room_for(root, bytes_of(file.path), is_there=file.kind != ABSENT)
    if file.kind in (ABSENT, OTHER):
        return
    content = _content(file)
    if file.kind == LINK:
        os.symlink(content or b".", place)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(place, flags, 0o755 if file.executable else 0o644), "wb") as stream:
        stream.write(content)


def _content(file: KeptFile) -> bytes:
    if file.base64 is None:
        return bytes_of(file.text or "")
    try:
        return base64.b64decode(file.base64, validate=True)
    except ValueError as error:
        raise KeptError(f"{file.path}: its content is no base64") from error


def _room_for(root: bytes, path: bytes, *, is_there: bool) -> bytes:
    """Take away what stands in the place of a path, and make the folders above it.

    Never through a link: an observation may come from anyone.
    """
    from guard.workspace import remove_entry

    parts = path.split(b"/")
    if not is_inside(parts):
        raise KeptError(f"{text_of(path)} is no path inside the workspace")
    here = root
    for part in parts[:-1]:
        here = os.path.join(here, part)
        if os.path.isdir(here) and not os.path.islink(here):
            continue
        if not is_there:
            return here
        if os.path.lexists(here):
            os.unlink(here)
        os.mkdir(here)
    place = os.path.join(here, parts[-1])
    if os.path.lexists(place):
        remove_entry(text_of(place))
    return place


def is_inside(parts: Collection[bytes]) -> bool:
    """Tell whether the parts of a path lead to a place below a folder."""
    return all(parts) and {b".", b".."}.isdisjoint(parts) and b"\0" not in b"".join(parts)
