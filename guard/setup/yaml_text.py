"""Puts text into a YAML file at the end of a list or of the file.

Nothing that the user wrote is written anew: comments, order, quoting and line ends stay as
they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml


class Unreadable(Exception):
    """The file is not one that text can be added to; says why."""


def append_lines(text: str, lines: Sequence[str]) -> str:
    """Return the text with top-level lines behind its end."""
    newline = _newline(text)
    start = text if not text or text.endswith(newline) else text + newline
    return start + "".join(line + newline for line in lines)


def insert_items(text: str, key: str, block: Sequence[str], flow: Sequence[str]) -> str:
    """Return the text with items behind the last one of the list ``key``.

    ``block`` are lines for a list with dashes (plain items get theirs), ``flow`` the items for
    one in brackets. Raises `Unreadable` where the value is no list that is written out.
    """
    node = _value_of(text, key)
    if not isinstance(node, yaml.SequenceNode):
        raise Unreadable(f"its `{key}` is no list")
    if node.flow_style:
        if not node.value and len(block) > len(flow):
            return _opened(text, node, block)
        inside = text[node.start_mark.index : node.end_mark.index - 1].rstrip()
        comma = "" if not node.value or inside.endswith(",") else ", "
        at = node.start_mark.index + len(inside)
        return text[:at] + comma + ", ".join(flow) + text[at:]
    indent = " " * node.start_mark.column
    dashed = [line if line.startswith(("- ", "  ")) else f"- {line}" for line in block]
    return _insert_lines(text, _end_of(node), [indent + line for line in dashed], len(indent))


def _opened(text: str, node: Any, block: Sequence[str]) -> str:
    """Return the text with an empty list in brackets written as one with dashes."""
    start = len(text[: node.start_mark.index].rstrip())
    rest = text[node.end_mark.index : _line_end(text, node.end_mark.index)].rstrip()
    lines = [text[:start] + rest, *(f"  {line}" for line in block)]
    newline = _newline(text)
    return newline.join(lines) + newline + text[_line_end(text, node.end_mark.index) :]


def _value_of(text: str, key: str) -> Any:
    # The pure loader: its marks count characters of the text.
    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs: list[tuple[Any, Any]] = getattr(root, "value", [])
    return next((value for name, value in pairs if name.value == key), None)


def _end_of(node: Any) -> int:
    """Return the index behind a node's last character; a block's own mark lies further on."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last: Any = node.value[-1]
    # The last item of a list; the key and value of a mapping.
    return max(map(_end_of, last if isinstance(node, yaml.MappingNode) else (last,)))


def _insert_lines(text: str, end: int, lines: Sequence[str], indent: int) -> str:
    newline = _newline(text)
    end = len(text[:end].rstrip())
    at = _line_end(text, end)
    # Comments that follow and are indented like the items belong to them.
    while (following := _line_end(text, at)) > at and _belongs(text[at:following], indent):
        at = following
    if not text[at:].strip():
        at = len(text)
    head = text[:at] if text[:at].endswith(("\n", "\r")) else text[:at] + newline
    return head + "".join(line + newline for line in lines) + text[at:]


def _line_end(text: str, start: int) -> int:
    found = text.find("\n", start)
    return len(text) if found < 0 else found + 1


def _belongs(line: str, indent: int) -> bool:
    bare = line.lstrip(" ")
    return bare.startswith("#") and len(line) - len(bare) > indent


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
