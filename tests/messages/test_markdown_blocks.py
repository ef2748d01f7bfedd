"""What is one block, what is code, and where the scan gives up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.messages.markdown_blocks import EXACT, FENCED, GAP, PROSE, ROW, Block, markdown_blocks


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in markdown_blocks(text) or []]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("# A\ntext  of\n  it \n\nmore", [(PROSE, "# A"), (PROSE, "text of it"), (PROSE, "more")]),
        ("text\r\nof it\r\n", [(PROSE, "text of it")]),
        (
            "- a\nlazy\n  b\n\n  - c\n1) d",
            [(PROSE, "- a lazy b"), (PROSE, "  - c"), (PROSE, "1) d")],
        ),
        ("-   a   b", [(PROSE, "-   a b")]),
        ("-     code", [(EXACT, "-     code")]),
        ("- - a", [(EXACT, "- - a")]),
        ("*\na", [(EXACT, "*"), (PROSE, "a")]),
        ("text\n> a  b\n\n> c", [(PROSE, "text"), (EXACT, "> a  b"), (GAP, ""), (EXACT, "> c")]),
        (
            "a\n\n\n    b\n\n\n\tc",
            [(PROSE, "a"), (GAP, ""), (EXACT, "    b"), *[(GAP, "")] * 2, (EXACT, "\tc")],
        ),
        ("a\n---\n\nb", [(PROSE, "a"), (ROW, "---"), (GAP, ""), (PROSE, "b")]),
        ("a\n\n***", [(PROSE, "a"), (GAP, ""), (ROW, "***")]),
        ("| a  | b |\n|--|--|\n", [(ROW, "| a | b |"), (ROW, "|--|--|")]),
        ("a | b\n-|-\nc | d", [(ROW, "a | b"), (ROW, "-|-"), (ROW, "c | d")]),
        ("a `b\nc|d` e\n-|-", [(PROSE, "a `b\x02c|d` e"), (ROW, "-|-")]),
        ("<x>\na  b\n\nc  d", [(EXACT, "<x>"), (EXACT, "a  b"), (GAP, ""), (PROSE, "c d")]),
        (
            "a\n```sh\nb  c\n\n```\n\n\nd",
            [
                (PROSE, "a"),
                (FENCED, "```sh"),
                (FENCED, "b  c"),
                (FENCED, ""),
                (FENCED, "```"),
                (PROSE, "d"),
            ],
        ),
        ("- ```\n  a\n  ```\n", [(FENCED, "- ```"), (FENCED, "  a"), (FENCED, "  ```")]),
        ("~~~~\n~~~\n```\n~~~~~", [(FENCED, line) for line in ("~~~~", "~~~", "```", "~~~~~")]),
        ("```a``` b  c", [(PROSE, "```a``` b c")]),
        ("```\nopen  to the end", [(FENCED, "```"), (FENCED, "open  to the end")]),
        ("a  `b  c\nd`  e", [(PROSE, "a `b\x04\x04c\x02d` e")]),
        (
            'see  [a](b.md "c"), [d](<e f>), ![g](h/(i).png)',
            [(PROSE, 'see [a]( "c"), [d](), ![g]()')],
        ),
        ("[must](always) [a](#b)", [(PROSE, "[must](always) [a]()")]),
        (
            "[a]: http://b  'c'\n[d]: ./e\n[f]: never",
            [(PROSE, "[a]: 'c'"), (PROSE, "[d]: "), (PROSE, "[f]: never")],
        ),
        ("[^1]: a.md is b", [(PROSE, "[^1]: a.md is b")]),
    ],
)
def test_cuts_a_body_into_blocks(text: str, expected: list[tuple[str, str]]) -> None:
    assert blocks(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a ` b",
        "| ` |",
        "a `` b ` c",
        "```md\n```sh\na\n```\n```\n",
        "```\na\n  ```\n",
        "- ```\n  a\n```\n",
        "- ```\nb\n  ```\n",
        "  ```\nb\n  ```\n",
    ],
)
def test_gives_up_where_code_is_not_clear(text: str) -> None:
    assert markdown_blocks(text) is None


@given(st.text(st.sampled_from(list("ab`~ \t\n-*>|#[]():./1"))))
def test_loses_no_letter_outside_link_targets(text: str) -> None:
    found = markdown_blocks(text)
    if found is None or "]" in text:
        return
    assert letters("".join(block.text for block in found)) == letters(text)


def letters(text: str) -> str:
    return "".join(char for char in text if char > " ")


def test_a_block_is_a_plain_tuple() -> None:
    assert Block(PROSE, "a") == (PROSE, "a")
