"""A message, taken apart; peers' slips in doing it are among the cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.messages.message import Revert, parse_message

SHA1 = "0123456789abcdef0123456789abcdef01234567"
SHA256 = SHA1[:32] * 2


def test_takes_a_conventional_header_apart() -> None:
    message = parse_message("FIX(@x/y, z)!: ask first\n\nWhy.\n")
    assert (message.type, message.scope, message.breaking) == ("fix", "@x/y, z", True)
    assert message.description == "ask first"
    assert message.body == "Why."
    assert not message.is_revert


@pytest.mark.parametrize(
    ("text", "breaking"),
    [
        ("fix: a\n\nBREAKING CHANGE: b", True),
        ("fix: a\n\nBREAKING-CHANGE: b", True),
        ("fix: a\n\nbreaking change: b", False),
        ("fix: a BREAKING CHANGE: b", False),
    ],
)
def test_breaking_is_upper_case_and_a_footer(text: str, breaking: bool) -> None:
    assert parse_message(text).breaking is breaking


@pytest.mark.parametrize(
    "text",
    [
        "\n\n  \nfix: a\n\nb",
        "\ufefffix: a\r\n\r\nb\r\n",
        "fix: a  \n\n\n\nb\n\n\n",
        "\r\n\t\nfix: a\n\nb",
    ],
)
def test_header_is_the_first_line_that_is_not_empty(text: str) -> None:
    message = parse_message(text)
    assert (message.header, message.body, message.crowded) == ("fix: a", "b", ())


def test_keeps_what_crowds_the_header() -> None:
    message = parse_message("feat: a\nfix: b\nc\n\nbody\n")
    assert (message.type, message.crowded) == ("feat", ("fix: b", "c"))


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_a_newline_ends_a_line(separator: str) -> None:
    assert parse_message(f"feat: a{separator}fix: b").header == f"feat: a{separator}fix: b"


@pytest.mark.parametrize(
    ("header", "prefixes", "subject"),
    [
        ("fixup! fix: a", ("fixup",), "fix: a"),
        ("squash! fixup! fix: a", ("squash", "fixup"), "fix: a"),
        ("amend! fix: a", ("amend",), "fix: a"),
        ("fixup! 0123abcd", ("fixup",), "0123abcd"),
        ("fixup!  fix: a", ("fixup",), " fix: a"),
        ("fixup!fix: a", (), "fixup!fix: a"),
        ("Fixup! fix: a", (), "Fixup! fix: a"),
        ("fixup! ", (), "fixup!"),
    ],
)
def test_splits_autosquash_prefixes(header: str, prefixes: tuple[str, ...], subject: str) -> None:
    message = parse_message(header)
    assert (message.autosquash, message.subject) == (prefixes, subject)


SQUASH_BODY = """\
feat: expenses (#12)

* feat: a

Guard-Exempt: reason of the first
commit, folded

* fix: b

guard-exempt :  a reason
\tthat is folded
  twice
Fixes #12

(cherry picked from commit 0123456789abcdef0123456789abcdef01234567)

Co-authored-by: A <a@example.com>
"""


def test_finds_trailers_where_git_finds_none() -> None:
    message = parse_message(SQUASH_BODY)
    assert message.values("Guard-Exempt") == (
        "reason of the first",
        "a reason that is folded twice",
    )
    assert message.values("CO-AUTHORED-BY") == ("A <a@example.com>",)
    assert message.closing == (("fixes", "#12"),)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Regression-Case: a", ()),
        ("x\nRegression-Case: a", ("a",)),
        ("x\n\nRegression-Case:\n a", ("a",)),
        ("x\n\nRegression-Case:\n\n a", ("",)),
        ("x\n\nRegression-Case:a\nRegression-Case: b", ("a", "b")),
        ("x\n\n Regression-Case: a", ()),
        ("x\n\n* Regression-Case: a", ()),
        ("x\n\nsee Regression-Case: a", ()),
        ("x\n\nRegression-Cases: a", ()),
        ("x\n\ndiff --git a/b b/b\n--- a/b\nRegression-Case: a", ("a",)),
    ],
)
def test_a_trailer_begins_its_line_below_the_header(text: str, values: tuple[str, ...]) -> None:
    assert parse_message(text).values("regression-case") == values


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        ("Fixes #12", [("fixes", "#12")]),
        (
            "x\n\nFIXED: owner/repo.x#3, closes GH-4",
            [("fixed", "owner/repo.x#3"), ("closes", "GH-4")],
        ),
        (
            "x (resolve https://example.com/o/r/issues/7)",
            [("resolve", "https://example.com/o/r/issues/7")],
        ),
        (
            "fix https://gitlab.com/g/s/r/-/issues/7",
            [("fix", "https://gitlab.com/g/s/r/-/issues/7")],
        ),
        ("a prefix #12, bug-fix #13, fixing #14, the fix (#15), fix12", []),
        ("fixes 12, fixes #x, fixes #12a, fixes\n#13", []),
        ('Revert "Fixes #12"\n\nFixes #13', [("fixes", "#13")]),
        ("revert: x, fixes #12", []),
        ("This reverts commit 0123abc (x, fixes #12, 2031-07-10).", []),
        ("Undo\n\nThis reverts commit 0123abc (x, fixes #12, 2031-07-10).\n", []),
        ("Undo\n\nThis reverts commit 0123abc.\nFixes #13\n", [("fixes", "#13")]),
        ("Fix group/sub/project#3", [("fix", "group/sub/project#3")]),
    ],
)
def test_finds_closing_keywords_with_a_reference(text: str, closing: list[tuple[str, str]]) -> None:
    assert list(parse_message(text).closing) == closing


@pytest.mark.parametrize(
    ("text", "revert"),
    [
        (f'Revert "fix: a"\n\nThis reverts commit {SHA1}.\n', Revert((SHA1,), "fix: a", False)),
        (f'Reapply "fix: a"\n\nThis reverts commit {SHA256}.\n', Revert((SHA256,), "fix: a", True)),
        ('Revert "Revert "fix: a""', Revert((), "fix: a", True)),
        ('Revert "Reapply "fix: a""', Revert((), "fix: a", False)),
        ('Revert "fix: "a"" (#13)\n\nReverts o/r#12', Revert((), 'fix: "a"', False)),
        (
            f"Undo\n\nThis reverts commit {SHA1}, reversing\nchanges made to {SHA256}.\n",
            Revert((SHA1,), "", False),
        ),
        (
            "Undo\n\nThis reverts commit 0123abc (fix: a, 2026-07-10).",
            Revert(("0123abc",), "", False),
        ),
        (
            "This reverts commit 0123abc (fix: a, 2031-07-10).",
            Revert(("0123abc",), "", False),
        ),
        (
            "revert(expense): fix: a\n\nRefs: 0123abc, 89abcdef",
            Revert(("0123abc", "89abcdef"), "fix: a", False),
        ),
        ("Revert to the old parser, fixes #3", None),
        ("reverted: x", None),
        ('revert "x"', None),
        ("feat: a\n\nsee 'This reverts commit 0123abc'", None),
    ],
)
def test_reads_reverts(text: str, revert: Revert | None) -> None:
    message = parse_message(text)
    assert message.revert == revert
    assert message.is_revert is (revert is not None)


@given(
    st.text()
    | st.lists(st.sampled_from([*' \t\n\r:!()"#-*aF1\ufeff', "fix", "Revert "])).map("".join)
)
def test_any_text_has_a_reading(text: str) -> None:
    message = parse_message(text)
    assert message.header == message.header.rstrip(" \t\r")
    assert not message.type or message.type in message.subject.lower()
    assert all(key == key.lower() for key, _ in message.trailers)


def test_a_value_goes_on_in_indented_lines() -> None:
    message = parse_message("x\n\nOutput:\n  one\n \t\n  two\nKey: a\n b\n")
    assert message.trailers == (("output", "one"), ("key", "a b"))


@pytest.mark.parametrize(
    "unit",
    [
        *('Revert "', "fixup! ", "fix #", "(", "a:", "fix https://", "fix:https://"),
        *("Output:\n" + " a line\n" * 100_000, "fix http://x/issues/", "fix a/b"),
    ],
)
def test_a_megabyte_of_nonsense_takes_no_time(unit: str) -> None:
    parse_message(unit * (1_000_000 // len(unit)))
