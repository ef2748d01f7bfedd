"""Headers that only look like a fix: each with the header that is suggested."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.messages.message import fix_reason, near_miss, parse_message
from guard.messages.near_misses import plain, proper_header
from guard.messages.parts import parse_header, short

#: Header → what it would be as a fix.
SUGGESTED = {
    "fix:x": "fix: x",
    "fix : x": "fix: x",
    "fix(x) : y": "fix(x): y",
    "fix(): x": "fix: x",
    "Fix x": "fix: x",
    "FIX x": "fix: x",
    "Fixes x": "fix: x",
    "Fixed #12": "fix: #12",
    "fixing x": "fix: x",
    "bugfix: x": "fix: x",
    "hotfix(a)!: x": "fix(a)!: x",
    "quick-fix: x": "fix: x",
    "bug fix: x": "fix: x",
    "[fix] x": "fix: x",
    "(fix) x": "fix: x",
    "**fix**: x": "fix: x",
    "`fix: x`": "fix: x",
    "fix - x": "fix: x",
    "fix -- x": "fix: x",
    "fix\N{EN DASH}x": "fix: x",
    "fix \N{EM DASH} x": "fix: x",
    "fix; x": "fix: x",
    "fix, x": "fix: x",
    "fix. x": "fix: x",
    "fix->x": "fix: x",
    "fix => x": "fix: x",
    "fix!! x": "fix!: x",
    "fix (a): x": "fix(a): x",
    "fix[a]: x": "fix(a): x",
    "fix(a) x": "fix(a): x",
    "fix(a(b)): x": "fix(a b): x",
    "fix/a: x": "fix(a): x",
    "a/fix: x": "fix(a): x",
    "feat/fix: x": "fix: x",
    "feat, fix: x": "fix: x",
    "[a] fix: x": "fix(a): x",
    "[a][fix] x": "fix(a): x",
    "a: fix: x": "fix(a): x",
    "chore: fix(a): x": "fix(a): x",
    "WIP fix: x": "fix: x",
    "PROJ-12 fix: x": "fix: PROJ-12 x",
    "PROJ-12: fix x": "fix: PROJ-12 x",
    "#12 fix: x": "fix: #12 x",
    "[2.8.3] Fix x": "fix: [2.8.3] x",
    "v1.2.3.0 fix: /x of y": "fix: v1.2.3.0 /x of y",
    "v1.2.3.0 fix wave: x": "fix: v1.2.3.0 fix wave: x",
    "fix and mend x": "fix: fix and mend x",
    "fix(a)+docs(b): x": "fix(a): x",
    "fix(a), docs: x": "fix(a): x",
    "v1.2 fix: x": "fix: v1.2 x",
    ":bug: fix: x": "fix: :bug: x",
    "\N{BUG} fix: x": "fix: \N{BUG} x",
    "- fix: x": "fix: x",
    " fix: x": "fix: x",
    "\N{NO-BREAK SPACE}fix: x": "fix: x",
    "fix:\N{NO-BREAK SPACE}x": "fix: x",
    "fix:\tx": "fix: x",
    "fix\N{FULLWIDTH COLON}x": "fix: x",
    "fix\N{FULLWIDTH SEMICOLON}x": "fix: x",
    "fix\N{RATIO} x": "fix: x",
    "fix\N{SMALL COLON}x": "fix: x",
    "fix\N{FULLWIDTH LEFT PARENTHESIS}a\N{FULLWIDTH RIGHT PARENTHESIS}: x": "fix(a): x",
    "\N{FULLWIDTH LATIN SMALL LETTER F}ix: x": "fix: x",
    "f\N{ZERO WIDTH SPACE}ix: x": "fix: x",
    "fix\N{ZERO WIDTH JOINER}: x": "fix: x",
    "fix\N{SOFT HYPHEN}: x": "fix: x",
    "\N{WORD JOINER}fix: x": "fix: x",
    "f\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}x: a": "fix: a",
    "fi\N{CYRILLIC SMALL LETTER HA}: a": "fix: a",
    "f\N{LATIN SMALL LETTER I WITH ACUTE}x: a": "fix: a",
    "\N{LATIN SMALL LIGATURE FI}x: a": "fix: a",
    "fixup!fix: x": "fixup! fix: x",
    "squash! Fix x": "squash! fix: x",
    "Fix caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{BUG}": "fix: caf\xe9 \N{BUG}",
    "fix -": "",
    "fix": "",
    "Fixed.": "",
    "[fix]": "",
}
OTHER = [
    "prefix: x",
    "fixture: x",
    "fixed-width columns",
    "fixup: x",
    "suffix",
    "a fix: x",
    "docs: fix x",
    "docs: the fix: x",
    "revert: fix: x",
    'Revert "fix: x"',
    "Merge branch 'fix'",
    "[core] x",
    ":bug: x",
    "\N{BUG} x",
    "feat, docs: x",
    "PROJ-12: x",
    "",
]


@pytest.mark.parametrize("header", SUGGESTED)
def test_suggests_the_header_that_would_do(header: str) -> None:
    message = parse_message(header)
    assert proper_header(message) == SUGGESTED[header]
    said = near_miss(message)
    assert said is not None
    assert short(header) in said
    assert f'write "{SUGGESTED[header] or "fix: "}"' in said


@pytest.mark.parametrize("header", [name for name, proper in SUGGESTED.items() if proper])
def test_what_is_suggested_is_a_fix(header: str) -> None:
    proper = parse_message(SUGGESTED[header])
    assert fix_reason(proper) == "its header has the type fix"
    assert near_miss(proper) is None


@pytest.mark.parametrize("header", OTHER)
def test_other_headers_are_no_near_miss(header: str) -> None:
    assert near_miss(parse_message(header)) is None


def test_a_fix_in_the_first_paragraph() -> None:
    for text in ("feat: a\nfix: b\n", "feat: a\nmore\nfix: b\n\nbody"):
        said = near_miss(parse_message(text))
        assert said is not None
        assert said.startswith('"fix: b" stands below the header without a blank line')
    assert near_miss(parse_message("feat: a\n\nfix: b\n")) is None


def test_the_type_to_write_is_one_that_is_configured() -> None:
    assert 'write "repair: x"' in (near_miss(parse_message("fix: x"), ("repair",)) or "")
    assert 'write "fix: x"' in (near_miss(parse_message("fix:x"), ("repair", "FIX")) or "")
    assert near_miss(parse_message("repair: x"), ("repair",)) is None


def test_a_long_description_can_be_pasted() -> None:
    said = near_miss(parse_message("fix : " + "a" * 90))
    assert said is not None
    assert said.endswith(f'write "fix: {"a" * 90}"')


def test_plain_text_keeps_what_is_ascii() -> None:
    assert plain("Fix: a") == "Fix: a"


PIECES = [
    *(" ", ":", "!", "(", ")", "[", "]", "-", "/", "*", "#12", "PROJ-1", "WIP", "v1.2", "x"),
    *("fix", "Fixes", "hotfix", "feat", ": ", "fixup!", "\u200b", "\u00a0", "\uff1a", "\U0001f41b"),
]


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_any_suggestion_is_a_fix(text: str) -> None:
    message = parse_message(text)
    proper = proper_header(message)
    if proper:
        assert parse_message(proper).type == "fix", (text, proper)
    if message.type in ("", "feat") and parse_header(message.description).type == "fix":
        assert proper
