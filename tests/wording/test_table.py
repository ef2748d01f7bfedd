"""A table: columns as wide as their widest cell, whatever the letters take."""

from __future__ import annotations

import pytest

from guard.wording.table import plain_table, show_table, width_of


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("ü", 1), ("u\u0308", 1), ("表", 2), ("✓", 1)]
)
def test_the_columns_a_text_takes(text: str, width: int) -> None:
    assert width_of(text) == width


def test_columns_are_aligned_and_lines_end_without_blanks() -> None:
    assert plain_table(("a", "b", "c"), [("表", "1", ""), ("x", "12", "y")]) == [
        "a   b   c",
        "表  1",
        "x   12  y",
    ]


def test_a_pipe_gets_one_line_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("name", "text"), [("x", "long " * 60)])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_markup_is_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from guard import output

    monkeypatch.setattr(output, "_color", "always")
    show_table(("name",), [("[red]skill[/red]",)])
    assert "[red]skill[/red]" in capsys.readouterr().out
