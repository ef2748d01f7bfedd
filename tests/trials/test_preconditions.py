from __future__ import annotations

from typing import Any

import pytest

from guard.trials.manifest import Item
from guard.trials.preconditions import Files, find_broken

CONTENTS = {
    b"budget.md": b"Taxi 400 EUR\nEuroStar\n",
    b"deep/notes.txt": "price: 10 € naïve\n".encode(),
    b"image.bin": b"EUR\0secret",
    b"latin.txt": b"caf\xe9 PRICE\n",
}
FILES = Files(
    {**{path: Item("file") for path in CONTENTS}, b"link": Item("link")}, CONTENTS.__getitem__
)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("file_exists", "budget.md"),
        ("file_exists", "deep"),
        ("file_exists", "./deep/notes.txt"),
        ("file_absent", "dee"),
        ("file_absent", "none.md"),
        ("match", "Taxi 400"),
        ("match", "10 €"),
        ("match", "PRICE"),
        ("match", {"text": "price", "in": "deep/**"}),
        ("match", {"text": r"^Taxi \d+ EUR$", "regex": True}),
        ("no_match", "taxi"),
        ("no_match", "secret"),
        ("no_match", r"Taxi \d"),
        ("no_match", {"text": "Taxi", "in": ["deep/*", "*.txt"]}),
        ("match_word", "EUR"),
        ("match_word", "naïve"),
        ("match_word", {"text": r"Tax\w", "regex": True}),
        ("no_match_word", "Euro"),
        ("no_match_word", "na"),
        ("no_match_word", "ve"),
    ],
)
def test_each_holds_and_its_opposite_does_not(name: str, wanted: Any) -> None:
    opposite = {"file_exists": "file_absent", "file_absent": "file_exists"}.get(
        name, name.removeprefix("no_") if name.startswith("no_") else f"no_{name}"
    )
    assert find_broken([{name: wanted}], FILES) == ""
    assert find_broken([{opposite: wanted}], FILES) != ""


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"file_exists": "x.md"}, "file_exists x.md: it is not there"),
        ({"file_absent": "budget.md"}, "file_absent budget.md: it is there"),
        ({"no_match": "€"}, 'no_match "€": deep/notes.txt has it'),
        ({"match": "gone"}, 'match "gone": no file has it'),
        (
            {"match": {"text": "Taxi", "in": ["deep/**"]}},
            'match "Taxi" in deep/**: no file has it',
        ),
    ],
)
def test_the_first_that_broke_is_named(stated: dict[str, Any], said: str) -> None:
    assert find_broken([{"match": "Taxi"}, stated, {"match": "never"}], FILES) == said


def test_none_stated_is_none_broken() -> None:
    assert find_broken([], FILES) == ""
