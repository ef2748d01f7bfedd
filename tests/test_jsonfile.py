"""JSON is read as Python reads it, less what no JSON holds; and each key has its line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.errors import ConfigError
from guard.jsonfile import MAX_DEPTH, line_of, load_json
from guard.schema import Path

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
FINITE = LEAVES.filter(lambda leaf: leaf not in (float("inf"), float("-inf")))
DOCUMENTS: st.SearchStrategy[Any] = st.recursive(
    FINITE, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)


@given(DOCUMENTS, st.sampled_from([None, 0, 2]), st.booleans())
def test_what_python_writes_is_read_as_it_was(
    document: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    assert load_json(text, "x.json") == document


def paths_of(value: Any, above: Path = ()) -> list[Path]:
    """Return the paths of all values in a document, in the order in which they are written."""
    below: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        below = list(value.items())  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, list):
        below = list(enumerate(value))  # pyright: ignore[reportUnknownArgumentType]
    return [above, *(path for step, item in below for path in paths_of(item, (*above, step)))]


@given(DOCUMENTS)
def test_each_value_is_on_its_own_line(document: Any) -> None:
    # One value or bracket a line: what ends is on a line without a value.
    text = json.dumps(document, indent=1, ensure_ascii=False)
    lines = [line_of(text, path) for path in paths_of(document)]
    assert lines == sorted(set(lines))
    for path, line in zip(paths_of(document), lines, strict=True):
        written = text.split("\n")[line - 1].strip()
        if path and isinstance(path[-1], str):
            assert written.startswith(json.dumps(path[-1], ensure_ascii=False) + ":")


def test_what_is_not_there_has_the_line_of_its_nearest_parent() -> None:
    text = '{\n "a": {\n  "b": 1\n }\n}'
    assert line_of(text, ("a", "x", "y")) == 2
    assert line_of(text, ("x",)) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n"a": 1,\n"b": {"c": 1,\n"c": 2}}', "x.json:4: b.c: stands here twice"),
        ("[\n1,\nNaN]", "x.json:3: [1]: NaN is no number that JSON knows"),
        ('{"a":\n-Infinity}', "x.json:2: a: -Infinity is no number"),
        ('{"a":\n1e999}', "x.json:2: a: 1e999… is too large a number"),
        ('{"a":\n-%s}' % ("9" * 5000), "x.json:2: a: -99"),
        ('{"a": "\\u00e9",\n"b": "\\ud83d x"}', "x.json:2: b: "),
        ('{"a": 1,\n}', "x.json:2: not valid JSON at column 1"),
        ("", "x.json:1: not valid JSON"),
        ("[" * 100_000, "x.json:1: nested too deeply"),
        ("[" * 100 + "]" * 100, f"x.json:1: nested too deeply: more than {MAX_DEPTH} levels"),
        ("{\n<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n}", "x.json:2: holds conflict markers"),
    ],
)
def test_what_is_no_json_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_json(text, "x.json")
    assert caught.value.message.startswith(said)


def test_a_word_in_a_text_is_no_number() -> None:
    assert load_json('["NaN", "1e999", "\\ud83d\\ude00"]', "x.json") == ["NaN", "1e999", "😀"]
    assert load_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "x.json")
