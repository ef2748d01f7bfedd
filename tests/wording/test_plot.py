"""Areas drawn with characters."""

from __future__ import annotations

import pytest

from guard.wording.plot import BLOCKS, PLAIN, Column, ink, plot, ticks


def test_columns_are_filled_from_below_in_eighths() -> None:
    columns = [Column(share) for share in (0.0, 1 / 16, 0.25, 0.5, 9 / 16, 1.0)]
    assert plot(columns, 2, ["1", "0"], BLOCKS) == [
        "1 │    ▁█",
        "0 │ ▁▄███",
        "  └──────",
    ]


def test_plain_characters_are_whole_cells() -> None:
    columns = [Column(0.0), Column(0.5, 0.5), Column(0.0, 1.0), Column(1.0)]
    assert plot(columns, 2, ["", ""], PLAIN) == [" | ::#", " | #:#", " +----"]


def test_the_second_area_stands_on_the_first() -> None:
    columns = [Column(0.25, 0.5), Column(0.3, 0.0), Column(0.0, 0.25)]
    lines = plot(columns, 4, ["", "", "", ""], BLOCKS)
    assert lines == [" │", " │░", " │░▂", " │██░", " └───"]


@pytest.mark.parametrize(("width", "line"), [(11, "0    5   10"), (9, "0   5  10"), (5, "0 510")])
def test_ticks_are_spread_and_end_with_the_axis(width: int, line: str) -> None:
    assert ticks(["0", "5", "10"], width) == line
    assert len(line) == width


def test_a_stream_in_memory_shows_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    assert ink() == BLOCKS
