"""Reading one file of the workspace after a trial, and never one outside it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import Any

from guard.evaluators.json_values import find_value
from guard.evaluators.reasons import counted


class Unmet(Exception):
    """What is expected of a file doesn't hold, or can't be looked at; in words."""


def read_file(workspace: str, path: str) -> bytes:
    """Return the content of a regular file. Raises Unmet."""
    place = find_place(workspace, path)
    try:
        # Before it is opened: a pipe that the agent left behind would never end.
        if not stat.S_ISREG(os.stat(place).st_mode):
            raise Unmet("is not a regular file")
        with open(place, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Unmet("is not there") from error
    except OSError as error:
        raise Unmet(f"can't be read: {error.strerror}") from error


def is_absent(workspace: str, path: str) -> bool:
    """Tell whether nothing has this name, not even a broken link. Raises Unmet."""
    place = find_place(workspace, path)
    try:
        os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError as error:
        raise Unmet(f"can't be looked at: {error.strerror}") from error
    return False


def find_place(workspace: str, path: str) -> str:
    """Return where the path lies. Raises Unmet where it, or a link on it, leads outside."""
    root = os.path.realpath(workspace)
    place = os.path.join(root, path)
    if os.path.commonpath([root, os.path.realpath(place)]) != root:
        raise Unmet("leads out of the workspace")
    return place


def read_json(data: bytes, pointer: str) -> Any:
    """Return what the pointer names in a JSON document. Raises Unmet."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unmet(f"is not JSON: {error}") from error
    try:
        return find_value(document, pointer)
    except LookupError as error:
        raise Unmet(f"has nothing at {pointer}") from error


def text_in(data: bytes) -> str:
    """Return a file's content as text; what isn't UTF-8 stays as surrogates."""
    return data.decode("utf-8", "surrogateescape")


def find_small(data: bytes, least: int) -> list[str]:
    """Return whether the file is smaller than ``least`` bytes."""
    return [f"has {counted(len(data), 'byte')}, not {least}"] if len(data) < least else []


def find_other_digest(data: bytes, wanted: str) -> list[str]:
    """Return whether the file's SHA-256 is another one."""
    found = hashlib.sha256(data).hexdigest()
    same = found == wanted.removeprefix("sha256:").lower()
    return [] if same else [f"has the SHA-256 {found[:12]}…, not the expected one"]
