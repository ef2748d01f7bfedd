"""Text put in at the end of a list: between what belongs to it and what follows."""

from __future__ import annotations

import pytest

from guard.setup.yaml_text import Unreadable, append_lines, insert_items


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x:\n- a\n", "x:\n- a\n- b\n"),
        ("x:\n- a", "x:\n- a\n- b\n"),
        ("x:\n  - a # first\ny: 1\n", "x:\n  - a # first\n  - b\ny: 1\n"),
        ("x:\n- a\n\n\ny: 1\n", "x:\n- a\n- b\n\n\ny: 1\n"),
        (
            "x:\n  - a\n    # of a\n  # of x\ny: 1\n",
            "x:\n  - a\n    # of a\n  - b\n  # of x\ny: 1\n",
        ),
        ("x:\r\n- a\r\ny: 1\r\n", "x:\r\n- a\r\n- b\r\ny: 1\r\n"),
        ("x: [a]\n", "x: [a, b]\n"),
        ("x: [a, ]\n", "x: [a,b ]\n"),
        ("x: []\n", "x: [b]\n"),
        ("x: [a,\n    c]  # d\n", "x: [a,\n    c, b]  # d\n"),
        ("é: ü\nx: [é]\n", "é: ü\nx: [é, b]\n"),
    ],
)
def test_an_item_behind_the_last(text: str, wanted: str) -> None:
    assert insert_items(text, "x", ["b"], ["b"]) == wanted


@pytest.mark.parametrize("text", ["x: a\n", "y: [a]\n", "x:\n", "x: {a: b}\n"])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(Unreadable):
        insert_items(text, "x", ["b"], ["b"])


def test_lines_behind_the_end() -> None:
    assert append_lines("", ["b: 1"]) == "b: 1\n"
    assert append_lines("a: 1", ["b: 1"]) == "a: 1\nb: 1\n"
    assert append_lines("a: 1\r\n", ["b: 1"]) == "a: 1\r\nb: 1\r\n"
