"""Conflict markers in JSON: written around what differs, and taken apart again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from guard.merging.values import Conflict, Missing, is_mapping

#: What stands for a conflict while its document is written; no text of a file has it.
_TOKEN: Final = "\ue000guard-conflict-{}\ue000"
_PLACE: Final = re.compile(r'^( *)(.*?)"\ue000guard-conflict-(\d+)\ue000"(,?)$', re.MULTILINE)
_MARKER: Final = re.compile(r"^([<|=>])\1{6,}(?: .*)?$")


class Style(NamedTuple):
    """How git writes a conflict here."""

    size: int = 7
    shows_base: bool = False


def tokens_for(value: Any, found: list[Conflict]) -> Any:
    """Return a merged value with a token for each conflict; the conflicts are added to `found`."""
    if isinstance(value, Conflict):
        found.append(value)
        return _TOKEN.format(len(found) - 1)
    if is_mapping(value):
        return {key: tokens_for(inner, found) for key, inner in value.items()}
    return value


def with_markers(text: str, conflicts: list[Conflict], style: Style) -> str:
    """Return the written document with each token's line replaced by its conflict."""

    def mark(place: re.Match[str]) -> str:
        indent, key, number, comma = place.groups()
        versions = conflicts[int(number)]
        sides = {name: _lines(getattr(versions, name), indent, key, comma) for name in _SIDES}
        lines = [f"{'<' * style.size} ours", *sides["ours"]]
        if style.shows_base:
            lines += [f"{'|' * style.size} base", *sides["base"]]
        return "\n".join([*lines, "=" * style.size, *sides["theirs"], f"{'>' * style.size} theirs"])

    return _PLACE.sub(mark, text)


_SIDES: Final = ("ours", "base", "theirs")


def _lines(value: Any, indent: str, key: str, comma: str) -> list[str]:
    """Return the lines of one side; none where it has no such value."""
    if isinstance(value, Missing):
        return []
    shown = json.dumps(_known(value), indent=2, ensure_ascii=False)
    first, *rest = f"{key}{shown}{comma}".split("\n")
    return [indent + first, *(indent + line for line in rest)]


def _known(value: Any) -> Any:
    """Return a value without what is unknown in it."""
    if not is_mapping(value):
        return value
    inside: Mapping[str, Any] = value
    return {k: _known(inner) for k, inner in inside.items() if not isinstance(inner, Missing)}


def split_markers(text: str) -> tuple[str, str] | None:
    """Return both sides of a text with conflict markers; None where it has none."""
    sides: tuple[list[str], list[str]] = ([], [])
    to: tuple[list[str], ...] = sides
    places = {"<": sides[:1], "|": (), "=": sides[1:], ">": sides}
    marked = False
    for line in text.splitlines(keepends=True):
        found = _MARKER.match(line.rstrip("\r\n"))
        if found:
            to, marked = places[found[1]], True
            continue
        for side in to:
            side.append(line)
    return ("".join(sides[0]), "".join(sides[1])) if marked else None
