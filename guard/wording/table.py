"""A table for people: drawn by rich on a terminal, plain columns elsewhere."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Sequence

from guard.output import out, wants_color

#: Blanks between two columns.
GAP = "  "


def show_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table; in a pipe each row is one line, however long."""
    listed = [tuple(row) for row in rows]
    if wants_color(sys.stdout):
        out(_drawn(heads, listed))
        return
    out("\n".join(plain_table(heads, listed)))


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, its columns as wide as their widest cell."""
    lines = [tuple(heads), *rows]
    widths = [max(width_of(line[column]) for line in lines) for column in range(len(heads))]
    return [
        GAP.join(_filled(cell, width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def width_of(text: str) -> int:
    """Return the columns that a terminal gives a text: wide characters take two, marks none."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.combining(character) != 0 for character in text)
    return len(text) + wide - marks


def _filled(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def _drawn(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    import io

    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    # Where a terminal is narrow a name is broken, never cut off.
    columns = [Column(head, overflow="fold") for head in heads]
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # Recorded, not printed: one module writes to standard output.
    kept = io.StringIO()
    console = Console(file=kept, force_terminal=True, highlight=False)
    console.print(table)
    return kept.getvalue().rstrip("\n")
