"""Entry points read from their files: `importlib.metadata` alone costs four Python starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

GROUP = "[guard]"


class EntryPoint(NamedTuple):
    """One line of a distribution's ``[guard]`` group."""

    name: str
    module: str
    distribution: str
    stamp: str
    """Changes when the distribution is installed again."""


def installed_points() -> Sequence[EntryPoint]:
    """Return the entry points, read once a process: a commit has two trees and one machine."""
    return _installed(tuple(sys.path))


@lru_cache(maxsize=4)
def _installed(path: tuple[str, ...]) -> Sequence[EntryPoint]:
    return find_entry_points()


def find_entry_points() -> list[EntryPoint]:
    """Return the entry points of every distribution on ``sys.path``, sorted by name."""
    found: dict[tuple[str, str], EntryPoint] = {}
    for folder in sys.path:
        for file in _metadata_files(folder):
            for point in _read_group(file):
                found.setdefault((point.name, point.distribution), point)
    return sorted(found.values())


def _metadata_files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    endings = (".dist-info", ".egg-info")
    return [os.path.join(folder, n, "entry_points.txt") for n in names if n.endswith(endings)]


def _read_group(file: str) -> list[EntryPoint]:
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        stamp = str(os.stat(file).st_mtime_ns)
    except (OSError, UnicodeDecodeError):
        return []
    if GROUP not in text:
        return []
    distribution = os.path.basename(os.path.dirname(file)).partition("-")[0].replace("_", "-")
    points: list[EntryPoint] = []
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == GROUP
        elif inside and "=" in line:
            name, _, module = (part.strip() for part in line.partition("="))
            points.append(EntryPoint(name, module, distribution, stamp))
    return points
