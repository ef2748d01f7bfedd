"""The page and the tests are one list: each situation it names is tried, and none besides."""

from __future__ import annotations

import re
from pathlib import Path

from tests.blocks import read_page

HERE = Path(__file__).parent


def listed() -> list[int]:
    rows = re.findall(r"^\| (\d+) \|", read_page("docs/git.md"), re.MULTILINE)
    return [int(number) for number in rows]


def tried() -> set[int]:
    sources = [path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py")]
    return {
        int(number)
        for source in sources
        for number in re.findall(r"^def test_(\d{3})_", source, re.MULTILINE)
    }


def test_the_page_lists_each_situation_once_and_in_order() -> None:
    assert listed() == sorted(set(listed()))
    assert len(listed()) == 63


def test_every_situation_of_the_page_has_a_test() -> None:
    assert tried() == set(listed())
