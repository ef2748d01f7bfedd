"""YAML as people mean it, with lines, without duplicates and within bounds."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from guard.errors import ConfigError
from guard.yamlfile import line_of, load_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("NULL", None),
        ("~", None),
        ("010", "010"),
        ("0", 0),
        ("-7", -7),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("12:30:00", "12:30:00"),
        ("2026-01-01", "2026-01-01"),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("!!int 5", 5),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        (".5", 0.5),
    ],
)
def test_plain_scalars_are_read_as_they_look(text: str, value: object) -> None:
    found = load_yaml(f"key: {text}", "f.yaml")["key"]
    assert found == value
    assert type(found) is type(value)


def test_keys_are_always_text() -> None:
    assert load_yaml("on: 1\n5: 2\nnull: 3", "f") == {"on": 1, "5": 2, "null": 3}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "twice"),
        ("a: [1, 2\nb: 3\n", 2, "not valid YAML"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a: !!python/object:os.system x\n", 1, "not allowed"),
        ("a: 1\n? [x]\n: 2\n", 2, "a key must be text"),
        ("a: &x [*x]\n", 1, "too large|not valid"),
        ("a: \x00\n", 1, "not valid YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        load_yaml(text, "f.yaml")
    assert caught.value.line == line
    assert caught.value.message.startswith(f"f.yaml:{line}: ")


def test_an_anchor_bomb_ends_early() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 10):
        items = ", ".join([f"*a{level - 1}"] * 10)
        bomb += f"a{level}: &a{level} [{items}]\n"
    with pytest.raises(ConfigError, match="too large"):
        load_yaml(bomb, "f.yaml")


def test_merge_keys_fill_in_and_the_mapping_itself_wins() -> None:
    found = load_yaml("base: &b {x: 1, y: 2}\none:\n  <<: *b\n  y: 3\n", "f")
    assert found["one"] == {"x": 1, "y": 3}


def test_line_of_finds_keys_items_and_nearest_parents() -> None:
    text = "a:\n  b:\n    - 1\n    - c: 2\n"
    assert line_of(text, ("a", "b", 1, "c")) == 4
    assert line_of(text, ("a", "b")) == 2
    assert line_of(text, ("a", "missing")) == 1
    assert line_of(text, ("a", "b"), first_line=10) == 11


# YAML folds the line ends of other scripts inside quotes; nobody types them.
_TEXT = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=8)
_VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES)
def test_what_pyyaml_dumps_is_read_back(value: object) -> None:
    dumped: str = yaml.safe_dump(  # pyright: ignore[reportUnknownMemberType]  # PyYAML's stubs
        {"value": value}, allow_unicode=True
    )
    assert load_yaml(dumped, "f")["value"] == value


@given(st.text(max_size=60))
def test_any_text_is_a_value_or_one_clear_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        load_yaml(text, "f.yaml")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: @x\n", 1, "column 4: `@` can't begin a value: put it in quotes"),
        ("a: 1\nb: c: d\n", 2, "column 5: `:` can't stand here"),
        ("a: 1\n\tb: 2\n", 2, "a tab"),
        ("a:\n  - 'x\n", 3, "the quote of line 2 isn't closed"),
        ("a: [1, 2\nb: 3\n", 2, "the bracket of line 1 isn't closed"),
        ("a: *x\n", 1, "no `&` names this `*`"),
        ('a: "\\q"\n', 1, "no such escape"),
    ],
)
def test_broken_yaml_is_told_in_plain_words(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError) as found:
        load_yaml(text, "a.yaml")
    assert (found.value.line, said in found.value.said) == (line, True), found.value
    assert "while" not in found.value.said
    assert found.value.hint == "mend it there, then: git add a.yaml"
