from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from guard.evaluators.reasons import bounded, counted, quoted, quoted_end, shown, some


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_a_bounded_text_is_short_and_printable(text: str, limit: int) -> None:
    line = bounded(text, limit)
    assert len(line) <= limit
    assert line.isprintable()


@given(st.text(alphabet=st.characters(categories=["L", "N"]), max_size=40))
def test_a_short_printable_text_is_left_as_it_is(text: str) -> None:
    assert bounded(text, 40) == text


def test_what_cannot_be_printed_is_escaped() -> None:
    assert bounded("a\nb\t\x1b[31m\udcff") == "a\\nb\\t\\x1b[31m\\xff"


def test_quotes_show_the_beginning_or_the_end() -> None:
    text = "first " + "x" * 200 + " last\n"
    assert quoted(text).startswith('"first x')
    assert quoted(text).endswith('…"')
    assert quoted_end(text).endswith(' last"')
    assert quoted_end(text).startswith('"…')
    assert quoted_end("short\n") == '"short"'


def test_values_are_shown_as_json() -> None:
    assert shown({"a": [True, None, "é"]}) == '{"a": [true, null, "é"]}'
    assert shown({1, 2}) in ('"{1, 2}"', '"{2, 1}"')


def test_counts_and_lists_read_as_words() -> None:
    assert (counted(1, "file"), counted(0, "file")) == ("1 file", "0 files")
    assert some(["a", "b"]) == "a, b"
    assert some(list("abcdefg"), 3) == "a, b, c and 4 more"
