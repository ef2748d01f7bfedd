"""Globs against their definition, and against git's own pathspecs where the two agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.globs import compile_globs, folders_above, literal, literal_prefix
from tests.conftest import ScratchRepo

CASES = [
    ("CLAUDE.md", "CLAUDE.md", True),
    ("CLAUDE.md", "sub/CLAUDE.md", False),
    ("agent", "agent/a/b.md", True),
    ("agent", "agents/a", False),
    ("agent/", "agent/a", True),
    ("./agent", "agent/a", True),
    ("*.md", "a.md", True),
    ("*.md", "sub/a.md", False),
    ("**/*.md", "a.md", True),
    ("**/*.md", "x/y/a.md", True),
    ("a/**", "a/b", True),
    ("a/**", "a", False),
    ("a/**/z", "a/z", True),
    ("a/**/z", "a/b/c/z", True),
    ("a/**/z", "a/bz", False),
    ("a/*/z", "a/b/z", True),
    ("a/*/z", "a/b/c/z", False),
    ("a/?.md", "a/x.md", True),
    ("a/?.md", "a//.md", False),
    ("[ab].md", "a.md", True),
    ("[!ab].md", "a.md", False),
    ("[!ab].md", "c.md", True),
    ("[^ab].md", "c.md", True),
    ("a[.]md", "axmd", False),
    ("sk ü/*", "sk ü/SKILL.md", True),
    ("a\nb/*", "a\nb/SKILL.md", True),
    ("", "anything/at/all", True),
    (".", "anything", True),
    ("[", "[", True),
    ("(a|b)", "a", False),
]


@pytest.mark.parametrize(("glob", "path", "expected"), CASES)
def test_globs_match_as_design_says(glob: str, path: str, expected: bool) -> None:
    assert compile_globs([glob])(path.encode()) is expected


def test_no_glob_matches_nothing() -> None:
    assert not compile_globs([])(b"a")


def test_a_path_that_is_not_utf8_matches_by_its_bytes() -> None:
    assert compile_globs(["skills/**"])(b"skills/\xff/SKILL.md")
    assert compile_globs([b"\xff.md".decode("utf-8", "surrogateescape")])(b"\xff.md")


@pytest.mark.parametrize(
    ("glob", "prefix"),
    [("a/b/*.md", "a/b"), ("a/b.md", "a/b.md"), ("*.md", ""), ("a/**/b", "a"), ("./a/", "a")],
)
def test_literal_prefix_is_the_deepest_fixed_folder(glob: str, prefix: str) -> None:
    assert literal_prefix(glob) == prefix


_NAMES = st.text(alphabet="abz.-_ü ", min_size=1, max_size=4).filter(
    lambda name: name.strip(". ") != "" and name == name.strip()
)
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)
_GLOBS = st.lists(
    st.one_of(_NAMES, st.sampled_from(["*", "**", "*.md", "a*", "?"])), min_size=1, max_size=4
).map("/".join)


@given(_PATHS)
def test_a_literal_matches_itself_and_what_is_below(path: str) -> None:
    matches = compile_globs([literal(path)])
    assert matches(path.encode())
    assert matches(path.encode() + b"/below")
    assert not matches(path.encode() + b"x")


@given(_GLOBS, _PATHS)
def test_the_prefix_is_never_narrower_than_the_glob(glob: str, path: str) -> None:
    prefix = literal_prefix(glob)
    if compile_globs([glob])(path.encode()):
        assert path == prefix or path.startswith(f"{prefix}/") or not prefix


def test_wildcards_agree_with_git(repo: ScratchRepo) -> None:
    paths = ["a.md", "a/b.md", "a/c/b.md", "a/c/d/b.txt", "ab/x.md", "z"]
    repo.write(dict.fromkeys(paths, "x"))
    repo.git("add", "--all")
    for glob in ["*.md", "a/*", "a/**", "**/b.md", "a/*/b.md", "a?/x.md", "[az]*", "**"]:
        ours = [path for path in paths if compile_globs([glob])(path.encode())]
        theirs = repo.git("ls-files", "-z", "--", f":(top,glob){glob}").split("\0")[:-1]
        # git takes a wildcard's match as a folder too; ours doesn't.
        assert ours == [p for p in theirs if _same_depth(glob, p)], glob


def _same_depth(glob: str, path: str) -> bool:
    return "**" in glob or glob.count("/") == path.count("/")


@pytest.mark.parametrize(
    ("glob", "matching", "other"),
    [
        ("[z-a]x", (), ("ax", "zx", "-x")),
        ("[!z-a]x", ("ax", "-x"), ("/x",)),
        ("[z-ab]x", ("bx",), ("ax", "zx")),
        ("[a-]x", ("ax", "-x"), ("bx",)),
        ("[[a]x", ("[x", "ax"), ("bx",)),
        ("[a&&b]x", ("&x", "ax", "bx"), ("cx",)),
        ("[a--]x", (), ("ax", "-x")),
        ("[^a]x", ("bx",), ("ax", "/x")),
        (r"[\\]x", ("\\x",), ("x",)),
    ],
)
def test_odd_classes_match_what_they_say_and_raise_nothing(
    glob: str, matching: tuple[str, ...], other: tuple[str, ...]
) -> None:
    matches = compile_globs([glob])
    assert [path for path in (*matching, *other) if matches(path.encode())] == list(matching)


def test_folders_above_hold_all_that_a_glob_matches() -> None:
    assert folders_above(["a/b/**", "c/*/d", "*.md"]) == {b"a", b"a/b", b"c"}


def test_names_are_taken_as_they_stand() -> None:
    matches = compile_globs(["evals/*.md"], ["regressions/[a]*", "./one.md", "deep/folder/"])
    for path in (b"evals/x.md", b"regressions/[a]*", b"regressions/[a]*/x", b"one.md", b"one.md/x"):
        assert matches(path)
    assert matches(b"deep/folder/below/it")
    for path in (b"regressions/ab", b"one.mdx", b"deep", b"evals/x/y.md", b"x/one.md", b""):
        assert not matches(path)
    assert not compile_globs([], ["a"])(b"b")


@given(st.lists(st.text("ab/[*", min_size=1), max_size=5), st.text("ab/[*"))
def test_a_name_matches_what_its_literal_glob_does(names: list[str], path: str) -> None:
    plain = [name for name in names if name.strip("/.")]
    by_globs = compile_globs(map(literal, plain))
    assert compile_globs((), plain)(path.encode()) == by_globs(path.encode())
