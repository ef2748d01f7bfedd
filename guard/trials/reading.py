"""What of its workspace a trial was seen to read, by the tools it called.

A path, from the workspace's root; with ``/`` behind it the names in a folder, with ``/**`` all
that the folder holds. ``./`` and ``./**`` are the workspace itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from guard.results import Observation, ToolCall

#: Keys of a tool's input that name a file.
FILE_KEYS: Final = ("file_path", "notebook_path")
#: Keys that name a file or a folder.
PATH_KEYS: Final = ("path", "directory")
#: Tools that see names and no contents, as the part behind the server's name is spelled.
LISTING: Final = ("glob", "ls", "list", "list_dir", "list_directory")
#: Tools that look at all of the workspace where they are told no place.
EVERYWHERE: Final = ("glob", "ls", "grep")
NAMES, CONTENTS = "/", "/**"
#: Names of one trial; more are all that there is.
MOST: Final = 500


def files_read(seen: Observation, workspace: str) -> tuple[str, ...] | None:
    """Return what a trial read, while its workspace is still there; None: can't be told."""
    if seen.files_read is not None:
        return _bounded(_relative(name, workspace) for name in seen.files_read)
    if seen.tool_calls is None:
        return None
    found = (name for call in seen.tool_calls for name in _named(call, workspace))
    return _bounded(_relative(name, workspace) for name in found)


def _bounded(names: Iterable[Iterable[str]]) -> tuple[str, ...]:
    found = sorted({name for some in names for name in some})
    return tuple(found) if len(found) <= MOST else ("." + CONTENTS,)


def _named(call: ToolCall, workspace: str) -> Iterator[str]:
    """Yield what one call names, by the forms above, absolute or not."""
    tool = call.name.rpartition("__")[2].lower()
    stated = [call.input.get(key) for key in PATH_KEYS]
    places = [place for place in stated if isinstance(place, str) and place]
    if not places and tool in EVERYWHERE:
        places = ["."]
    for place in places:
        if tool in LISTING:
            yield place.rstrip("/") + NAMES
        elif os.path.isdir(os.path.join(workspace, place)):
            yield place.rstrip("/") + CONTENTS
        else:
            yield place
    for key in FILE_KEYS:
        file = call.input.get(key)
        if isinstance(file, str) and file:
            yield file


def _relative(name: str, workspace: str) -> Iterator[str]:
    """Yield a path from the workspace's root, and where links lead; nothing outside of it."""
    form = next((form for form in (CONTENTS, NAMES) if name.endswith(form)), "")
    path = os.path.join(workspace, name.removesuffix(form) or "/")
    if "\0" in path:
        return
    for root, full in (
        (workspace, os.path.normpath(path)),
        (os.path.realpath(workspace), os.path.realpath(path)),
    ):
        if full == root or full.startswith(root + "/"):
            yield (full[len(root) + 1 :] or ".") + form
