"""Inclusion of globs: decided, and the same as what their matchers say of every path tried."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.glob_sets import find_path
from guard.globs import compile_globs

#: Globs, and others that cover them.
COVERED = {
    "s/**": ["s/*", "s/*/**"],
    "s/*": ["s/**"],
    "s/*.md": ["s/[a-m]*.md", "s/[!a-m]*.md", "s/.md"],
    "**/*.md": ["*.md", "**/*/*.md"],
    "a/**/z": ["a/z", "a/*/**/z"],
    "a/?": ["a/[!x]", "a/x"],
    "sk ü/*": ["sk ?*/**"],
    "**": [""],
    "s": ["s", "t"],
    "s/[]": ["s/**"],
}
#: Globs, others that don't cover them, and a path that shows it.
UNCOVERED = {
    "s/**": (["s/a", "s/x", "s/x/y", "s/a/b/c.md", "s/SKILL.md"], b"s/0"),
    "s/*": (["s/[xaS]*"], b"s/0"),
    "c/*.md": (["c/[bcx]*.md"], b"c/.md"),
    "**/SKILL.md": (["*/SKILL.md", "SKILL.md"], b"0/0/SKILL.md"),
    "s": (["s/**"], b"s"),
    "s/?": (["s/[!/a]"], b"s/a"),
}


@pytest.mark.parametrize("glob", COVERED)
def test_what_is_covered(glob: str) -> None:
    assert find_path([glob], outside=COVERED[glob]) is None


@pytest.mark.parametrize("glob", UNCOVERED)
def test_what_is_not_covered_is_shown_by_a_path(glob: str) -> None:
    others, path = UNCOVERED[glob]
    assert find_path([glob], outside=others) == path
    assert compile_globs([glob])(path)
    assert not compile_globs(others)(path)


def test_what_several_have_in_common() -> None:
    assert find_path(["s/**"], ["**/*.md"]) == b"s/.md"
    assert find_path(["s/**"], ["t/**", "*.md"]) is None
    assert find_path(["s/**"], ["s/t/**"], outside=["s/t/*"]) == b"s/t/0/0"


def test_no_path_has_an_empty_part() -> None:
    assert find_path(["s/*/t"], outside=["s/?*/t"]) is None
    assert find_path(["s/**"], outside=["s/?**"]) is None


def test_globs_that_take_too_long_are_different() -> None:
    started = time.process_time()
    many = "**a**b**c**d**e**f**"
    assert find_path([many], outside=["**?a????????????**", "**b?????????????????**"])
    assert time.process_time() - started < 20


_PARTS = st.sampled_from(["a", "b", "*", "**", "?", "[ab]", "[!a]", "a*", "*b"])
_GLOBS = st.lists(_PARTS, min_size=1, max_size=3).map("/".join)
_PATHS = st.lists(st.sampled_from(["a", "b", "c", "ab", "cb"]), min_size=1, max_size=4)


@given(_GLOBS, st.lists(_GLOBS, max_size=3), st.lists(_PATHS, min_size=20, max_size=20))
def test_a_decision_agrees_with_the_matchers(
    glob: str, others: list[str], paths: list[list[str]]
) -> None:
    inside, outside = compile_globs([glob]), compile_globs(others)
    found = find_path([glob], outside=others)
    if found is not None:
        assert inside(found)
        assert not outside(found)
        return
    for parts in paths:
        path = "/".join(parts).encode()
        assert outside(path) or not inside(path)
