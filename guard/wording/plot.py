"""Curves drawn with characters: areas filled from below, one column of the terminal per value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from guard.output import can_show

#: Blanks between the names and the axis.
GAP: Final = " "


class Ink(NamedTuple):
    """What a plot is drawn with."""

    levels: str
    """A cell filled from below, from not at all to wholly."""
    shade: str
    """A cell of the second area."""
    side: str
    corner: str
    bottom: str


BLOCKS: Final = Ink(" ▁▂▃▄▅▆▇█", "░", "│", "└", "─")
#: Where there are no block characters.
PLAIN: Final = Ink(" #", ":", "|", "+", "-")


class Column(NamedTuple):
    """Shares of 1 that are stacked in one column; what is left over stays empty."""

    filled: float
    shaded: float = 0.0


def ink() -> Ink:
    """Return what standard output can show."""
    return BLOCKS if can_show("".join(BLOCKS)) else PLAIN


def plot(columns: Sequence[Column], height: int, labels: Sequence[str], ink: Ink) -> list[str]:
    """Return ``height`` lines, the top first, and the axis below; ``labels`` stand at the left.

    A label for each line, padded to one width.
    """
    lines = [
        f"{label}{GAP}{ink.side}{''.join(_cell(column, row, height, ink) for column in columns)}"
        for label, row in zip(labels, reversed(range(height)), strict=True)
    ]
    margin = " " * (len(labels[0]) + len(GAP))
    lines.append(margin + ink.corner + ink.bottom * len(columns))
    return [line.rstrip() for line in lines]


def _cell(column: Column, row: int, height: int, ink: Ink) -> str:
    """Return the cell of one column in one row, counted from below."""
    steps = len(ink.levels) - 1
    level = round(column.filled * height * steps) - row * steps
    if level > 0:
        return ink.levels[min(level, steps)]
    reached = round((column.filled + column.shaded) * height)
    return ink.shade if row < reached and column.shaded > 0 else ink.levels[0]


def ticks(marks: Sequence[str], width: int) -> str:
    """Return the texts below an axis, spread evenly over it; each is centred, the ends flush."""
    line = [" "] * width
    for number, mark in enumerate(marks):
        place = round(number * (width - 1) / (len(marks) - 1))
        start = max(0, min(place - len(mark) // 2, width - len(mark)))
        line[start : start + len(mark)] = mark
    return "".join(line).rstrip()
