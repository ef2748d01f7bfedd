"""What a pattern of folders stands for: pattern agents, and where a workspace begins."""

from __future__ import annotations

from collections.abc import Iterable

from guard.git import text_of
from guard.globs import WILDCARDS, compile_globs, literal_prefix


def matching_folders(glob: str, paths: Iterable[bytes]) -> dict[str, str]:
    """Return name → folder for every folder of ``paths`` that ``glob`` matches whole.

    A folder is named by its last part; where two share it, by all parts that a wildcard
    matched, so that two plugins may each have a skill of the same name.
    """
    folders = sorted(_folders_matching(glob, paths))
    by_name: dict[str, list[str]] = {}
    for folder in folders:
        by_name.setdefault(folder.rsplit("/", 1)[-1], []).append(folder)
    named: dict[str, str] = {}
    for name, same in by_name.items():
        for folder in same:
            named[name if len(same) == 1 else _long_name(glob, folder)] = folder
    return named


def _folders_matching(glob: str, paths: Iterable[bytes]) -> set[str]:
    matches = compile_globs([glob.rstrip("/")])
    literal = not WILDCARDS.intersection(glob)
    prefix = literal_prefix(glob).encode("utf-8", "surrogateescape")
    seen: set[bytes] = set()
    found: set[str] = set()
    for path in paths:
        if not path.startswith(prefix):
            continue
        folder = path
        while (cut := folder.rfind(b"/")) > 0:
            folder = folder[:cut]
            if folder in seen:
                break
            seen.add(folder)
            if literal and folder != prefix:
                continue
            if matches(folder):
                found.add(text_of(folder))
    return found


def _long_name(glob: str, folder: str) -> str:
    wild = glob.split("/")
    parts = folder.split("/")
    if "**" in wild or len(wild) != len(parts):
        return folder
    return "/".join(p for w, p in zip(wild, parts, strict=True) if WILDCARDS.intersection(w))


def default_workspace(globs: Iterable[str]) -> str:
    """Return the deepest folder that holds all that the globs match, cut before ``.claude``."""
    common: list[str] | None = None
    for glob in globs:
        prefix = literal_prefix(glob)
        parts = prefix.split("/") if prefix else []
        if parts and not WILDCARDS.intersection(glob) and "." in parts[-1]:
            parts = parts[:-1]
        common = parts if common is None else _shared(common, parts)
    parts = common or []
    return "/".join(parts[: parts.index(".claude")] if ".claude" in parts else parts)


def _shared(first: list[str], second: list[str]) -> list[str]:
    length = 0
    while length < min(len(first), len(second)) and first[length] == second[length]:
        length += 1
    return first[:length]
