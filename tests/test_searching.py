from __future__ import annotations

import re
import time

import pytest

from guard import searching
from guard.errors import TargetError
from guard.searching import found_in


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("a+b", "xaab", True),
        ("a{3}", "aab", False),
        (r"\udcff+", "\udcff", True),
        (r"^b+$", "a\nb\n", False),
        ("x*", "", True),
    ],
)
def test_a_pattern_is_found_as_re_finds_it(pattern: str, text: str, found: bool) -> None:
    assert found_in(text, pattern) is found
    assert (re.search(pattern, text) is not None) is found


def test_flags_are_kept() -> None:
    assert found_in("a\nb\n", "^b+$", re.MULTILINE)


def test_one_that_backtracks_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SECONDS", 0.3)
    began = time.monotonic()
    with pytest.raises(TargetError, match=r'the pattern "\(a\+\)\+\$" finds no end'):
        found_in("a" * 40 + "!", "(a+)+$")
    assert time.monotonic() - began < 5


def test_one_that_cant_be_searched_for_is_no_answer() -> None:
    with pytest.raises(TargetError, match="can't be searched for"):
        found_in("text", "(+")
