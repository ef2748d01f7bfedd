"""What needs no case, and above all what does."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guard.messages.cosmetic import cosmetic_reason, is_cosmetic

SKILL = """\
---
name: expense
description: "Books an expense that the user reports"
allowed-tools: [Read, Edit]
model: small
license: MIT
---

# Expenses

Read the budget first. Then book the
expense in `budget.md`; see [the guide](references/guide.md "Guide").

1. Ask about a foreign currency.
2. Never convert an amount, unless 2 people agree.
   The recieved amount is booked as it was received.

| word | means |
|------|-------|
| EUR  | euro  |

```sh
python3 book.py  --dry-run
    # indented
```

> Quoted   as it is.

    indented   code
"""


def cosmetic(old: str, new: str, path: str = "agent/SKILL.md") -> bool:
    return is_cosmetic(old.encode(), new.encode(), path)


def changed(old: str, new: str) -> str:
    assert SKILL.count(old) == 1, old
    return SKILL.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Then book the\nexpense", "Then\nbook   the expense"),
        ("first. Then", "first.  Then"),
        ("   The recieved", " The recieved"),
        ("# Expenses\n\n", "# Expenses\n"),
        ("# Expenses\n", "\n\n# Expenses  \n"),
        ("1. Ask about a foreign currency.\n", "1. Ask about a foreign currency.\n\n"),
        ("| EUR  | euro  |", "| EUR | euro |"),
        ("\n```sh", "```sh"),
        ("references/guide.md", "../docs/guide-2.md#top"),
        ("(references/guide.md", "(<the guide/guide.md>"),
        ('"Books an expense that the user reports"', "Books an expense that the user reports"),
        ('"Books an expense that the user reports"', " 'Books an expense that the user reports'"),
        ("model: small\nlicense: MIT", "license: MIT\nmodel: small"),
        ("[Read, Edit]", "\n  - Read\n  - Edit"),
    ],
)
def test_leaves_white_space_links_and_front_matter_style(old: str, new: str) -> None:
    after = changed(old, new)
    assert cosmetic(SKILL, after)
    assert cosmetic(after, SKILL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("book.py  --dry", "book.py --dry"),
        ("    # indented", "  # indented"),
        ("indented   code", "indented code"),
        ("\n    indented", "\n   indented"),
        ("Quoted   as", "Quoted as"),
        ("`budget.md`", "`budget.txt`"),
        ("`budget.md`", "budget.md"),
        ("[the guide]", "[a guide]"),
        ('"Guide"', '"Guides"'),
        ("Never convert", "Convert"),
        ("Never convert", "Never  ever convert"),
        ("unless 2", "unless 3"),
        ("unless 2", "if 2"),
        ("   The recieved", "\n   The recieved"),
        ("2. Never", "3. Never"),
        ("2. Never", "- Never"),
        ("| euro  |", "| dollar |"),
        ("|------|", "|:-----|"),
        ("first.", "first!"),
        ("EUR  |", "EUR  \\|"),
        ("# Expenses", "## Expenses"),
        ("first. Then", "first.\n\nThen"),
        ("first. Then", "first.\N{NO-BREAK SPACE}Then"),
        ("> Quoted", "Quoted"),
        ("Ask about", "*Ask* about"),
        ("name: expense", "name: expenses"),
        ("that the user reports", "the user reports"),
        ("[Read, Edit]", "[Edit, Read]"),
        ("[Read, Edit]", "Read, Edit"),
        ("model: small", "model: large"),
        ("license: MIT", "license: BSD"),
        ("license: MIT", "license: MIT # really"),
        ("license: MIT", "licence: MIT"),
        ("license: MIT", "license: MIT\nuser-invocable: true"),
        ("---\n\n# Exp", "\n# Exp"),
    ],
)
def test_sees_what_may_matter(old: str, new: str) -> None:
    after = changed(old, new)
    assert not cosmetic(SKILL, after)
    assert not cosmetic(after, SKILL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("license: true", "license: 1"),
        ("license: 1", "license: 1.0"),
        ("license: 'true'", "license: true"),
        ("license: [", "license:  ["),
        ("license: a\nlicense: b", "license: b\nlicense: b"),
        ("description: Use it when: asked", "description: 'Use it when: asked'"),
        ("license: !x a", "license: !x 'a'"),
        ("license: 'a #1'", 'license: "a #1"'),
        ("license: " + "[" * 99 + "]" * 99, "license: " + "[" * 98 + "]" * 98),
    ],
)
def test_front_matter_in_doubt_is_changed(old: str, new: str) -> None:
    assert not cosmetic(f"---\n{old}\n---\nbody\n", f"---\n{new}\n---\nbody\n")


@pytest.mark.parametrize(
    "value",
    [
        *("no", "Yes", "on", "OFF", "y", "010", "1:30", "12:30:00", "2031-01-01", "1_000", "0x1F"),
        *(".inf", "-.5", "1e3", "="),
    ],
)
def test_quotes_of_what_other_readers_take_for_no_text_matter(value: str) -> None:
    for form in ('"{}"', "'{}'"):
        quoted = form.format(value)
        old, new = (f"---\nlicense: {v}\nx: [{v}, a]\n---\nbody\n" for v in (value, quoted))
        assert not cosmetic(old, new)
        assert not cosmetic(new, old)
    told = f"---\na: {value}\nb: '{value}'\n---\nbody\n"
    assert not cosmetic(told, f"---\na: '{value}'\nb: {value}\n---\nbody\n")
    assert cosmetic(told, f"---\nb: '{value}'\na:   {value}\n---\nbody\n")


@pytest.mark.parametrize("before", ["\ufeff", "\n", " ", "\ufeff\n", "\r\n"])
def test_front_matter_behind_something_is_no_prose(before: str) -> None:
    text = before + SKILL
    assert not cosmetic(text.replace("name: expense", "name: expence"), text)
    # A mark alone is read as none; what follows white space is front matter to some.
    assert cosmetic(text, text.replace("  --dry", " --dry") + "\n") is False
    assert cosmetic(text, text.replace("first. Then", "first.  Then")) is (before == "\ufeff")


def test_a_mark_that_comes_or_goes_matters() -> None:
    assert not cosmetic(SKILL, "\ufeff" + SKILL)
    assert not cosmetic("\ufeff" + SKILL, SKILL)


@pytest.mark.parametrize("front", ['+++\nname = "{}"\n+++', '{{"name": "{}"}}', "----\nname: {}"])
def test_front_matter_of_another_kind_is_no_prose(front: str) -> None:
    old, new = (f"{front.format(name)}\n\nWe book a book.\n" for name in ("bock", "book"))
    assert not cosmetic(old, new)
    body = "# Title\n\n{}\n\nWe book a book.\n"
    assert cosmetic(body.format("We bock it."), body.format("We book it."))


def test_lines_of_plain_text_stay_lines() -> None:
    old = "Q: may I?\nA: ask first\n\nQ: and now?\n"
    assert not cosmetic(old, "Q: may I? A: ask first\n\nQ: and now?\n", "prompt.txt")
    assert not cosmetic("Say it.\n", "Say\nit.\n", "a.TXT")
    assert cosmetic("Say it.\n", "Say\nit.\n", "a.md")
    assert cosmetic(old, old.replace("ask first", "ask  first") + "\n\n", "prompt.txt")
    assert not cosmetic("a\n    b  c\n", "a\n    b c\n", "prompt.txt")


def test_broken_front_matter_that_stays_is_no_change() -> None:
    assert cosmetic("---\na: [\n---\nthe body\n", "---\na: [\n---\nthe  body\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The recieved amount is received.", "The received amount is received."),
        ("Read teh mail of the user.", "Read the mail of the user."),
        ("- Ask for **reciepts** and *receipts*.", "- Ask for **receipts** and *receipts*."),
        (
            "A recieved mail. Recieved mails are received.",
            "A received mail. Received mails are received.",
        ),
        ("See (the expence), an expense.", "See (the expense), an expense."),
        ("Read hte mail of the user.", "Read the mail of the user."),
        ("Pay wiht cash, with care.", "Pay with cash, with care."),
        ("Buy milk adn eggs, and bread.", "Buy milk and eggs, and bread."),
        (
            "Der Betrag wird geprüfft, wenn er geprüft ist.",
            "Der Betrag wird geprüft, wenn er geprüft ist.",
        ),
    ],
)
def test_leaves_misspelt_words(old: str, new: str) -> None:
    assert cosmetic(old, new)
    # The other way round it takes a known word away.
    assert not cosmetic(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The new word stands nowhere else, or the old one does.
        ("The recieved amount.", "The received amount."),
        (
            "The recieved amount is received, `recieved`.",
            "The received amount is received, `recieved`.",
        ),
        ("The recieved amount is `received`.", "The received amount is `received`."),
        ("recieved, recieved, received", "received, recieved, received"),
        # Three letters off.
        ("The reciefd amount is received.", "The received amount is received."),
        # Code, commands, names, placeholders, quotations, rows.
        ("Call `recieve` to receive.", "Call `receive` to receive."),
        ("Call recieve() to receive.", "Call receive() to receive."),
        ("Call /recieve to receive.", "Call /receive to receive."),
        ("Call --recieve to receive.", "Call --receive to receive."),
        ("Call recieve_it to receive it.", "Call receive_it to receive it."),
        ("Put [recieved] for received.", "Put [received] for received."),
        ("Put {recieved} for received.", "Put {received} for received."),
        ("Put <recieved> for received.", "Put <received> for received."),
        ('Say "recieved" when received.', 'Say "received" when received.'),
        ("Ask Markus or Marcus.", "Ask Marcus or Marcus."),
        ("Book EURO as EUR, euro as eur.", "Book EUR as EUR, euro as eur."),
        ("| recieved | received |", "| received | received |"),
        # Digits, numbers, amounts.
        ("Ask v2 of us, not v3.", "Ask v3 of us, not v3."),
        ("Ask tow of us, or two.", "Ask two of us, or two."),
        ("Ask four for us.", "Ask for for us."),
        ("On the sixth book sixty.", "On the sixty book sixty."),
        ("In june, not in july.", "In july, not in july."),
        ("Book an item, or any.", "Book any item, or any."),
        # Negations, duties, orders.
        ("Do nto ask, do not.", "Do not ask, do not."),
        ("Do now ask, do not.", "Do not ask, do not."),
        ("You can ask, you cant.", "You cant ask, you cant."),
        ("It isnt ist.", "It ist ist."),
        ("The most book, must.", "The must book, must."),
        ("Ask any or all.", "Ask all or all."),
        ("Es ist nich so, nicht.", "Es ist nicht so, nicht."),
        # The beginning of a word.
        ("Include it, or exclude.", "Exclude it, or exclude."),
        ("A valid one is invalid.", "A invalid one is invalid."),
        ("Increase it; we decrease.", "Decrease it; we decrease."),
        ("It is safe or unsafe.", "It is unsafe or unsafe."),
        # Case, and words joined or cut.
        ("Use the Form or form.", "Use the form or form."),
        ("Log in or login.", "Login or login."),
        ("Some thing, something.", "Something, something."),
        ("It doesn't matter, does it.", "It does matter, does it."),
        ("他不说 他说", "他说 他说"),
    ],
)
def test_sees_words_that_may_matter(old: str, new: str) -> None:
    assert not cosmetic(old, new)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("SKILL.md", True),
        ("a/b.MD", True),
        ("a.mdx", True),
        ("a.markdown", True),
        ("notes.txt", True),
        ("requirements.txt", False),
        ("a/requirements-dev.txt", False),
        ("CMakeLists.txt", False),
        ("a.py", False),
        ("a.yaml", False),
        ("md", False),
        ("a.md.sh", False),
        ("a\nb.md", True),
    ],
)
def test_only_prose_may_change_cosmetically(path: str, expected: bool) -> None:
    assert is_cosmetic(b"a  b\n", b"a b\n", path) is expected
    assert is_cosmetic(b"a b\n", b"a b\n", path)


@pytest.mark.parametrize(
    "text",
    [
        "a  b \xff",
        "a  b \x00",
        "a  b <pre>c</pre>",
        "a  b\n<script>\n",
        "a  b " + "c" * (1 << 18),
        "a  b\n\n```\n",
        "a  b `",
    ],
)
def test_text_in_doubt_is_changed(text: str) -> None:
    old = text.encode("latin-1")
    expected = text.endswith("```\n")  # An open fence lets all that follows be code.
    assert is_cosmetic(old, old.replace(b"a  b", b"a b"), "SKILL.md") is expected


@pytest.mark.parametrize("text", ["a  {b}", "import x  from y", "export  const a = 1"])
def test_code_of_mdx_is_no_prose(text: str) -> None:
    assert not cosmetic(text, text.replace("  ", " "), "a.mdx")
    assert cosmetic(text, text.replace("  ", " "), "a.md")


LINES = st.sampled_from(
    [
        *(
            "",
            "",
            "text of it",
            "  more text",
            "# Heading",
            "- item",
            "  - item",
            "1. one",
            "> quote",
        ),
        *(
            "| a | b |",
            "---",
            "```",
            "~~~",
            "```sh",
            "    code",
            "`span  x`",
            "a `b` c",
            "[x](y.md)",
        ),
        *("[x]: http://y", "<tag>", "not  a word", "``", "\tcode", "---\r"),
    ]
)
TEXTS = st.lists(LINES, max_size=12).map("\n".join) | st.text(max_size=60)


@given(TEXTS)
def test_no_change_is_cosmetic(text: str) -> None:
    assert cosmetic(text, text)
    assert is_cosmetic(text.encode(), text.encode(), "a.py")


@given(TEXTS, st.data())
def test_white_space_is_judged_alike_both_ways(text: str, data: st.DataObject) -> None:
    parts = re.split(r"([ \t\n]+)", text)
    for place in range(1, len(parts), 2):
        if data.draw(st.booleans()):
            parts[place] = data.draw(st.sampled_from([" ", "  ", "\n", "\n\n", "\t", "\n    "]))
    new = "".join(parts)
    assert cosmetic(text, new) is cosmetic(new, text)


@given(TEXTS, st.data())
def test_a_digit_or_a_negation_is_never_cosmetic(text: str, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(["not", "never", "7", "v2", "without", "n't"]))
    tokens = text.split(" ")
    place = data.draw(st.integers(0, len(tokens)))
    with_it = " ".join([*tokens[:place], word, *tokens[place:]])
    assume("](" not in text and "]:" not in text)
    assert not cosmetic(text, with_it)
    assert not cosmetic(with_it, text)
    other = data.draw(st.sampled_from(["now", "ever", "8", "v3", "with", "nt"]))
    swapped = " ".join([*tokens[:place], other, *tokens[place:]])
    assert not cosmetic(with_it, swapped)
    assert not cosmetic(swapped, with_it)


@given(TEXTS)
def test_code_is_kept_to_the_letter(text: str) -> None:
    fenced = f"````\n{text}\n\na  b\n````\n"
    assert not cosmetic(fenced, fenced.replace("a  b", "a b"))
    spanned = f"{text}\n\nsee `a  b` here\n"
    assert not cosmetic(spanned, spanned.replace("`a  b`", "`a b`"))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Then book the\nexpense", "Then\nbook   the expense", "white space"),
        ("references/guide.md", "guide.md", "link targets"),
        ("The recieved", "The received", "1 word of prose"),
        ("[Read, Edit]", "\n  - Read\n  - Edit", "order and quotes of the front matter"),
        ("model: small\nlicense: MIT", "license: MIT\nmodel: small", "order and quotes of the"),
    ],
)
def test_says_what_alone_differs(old: str, new: str, reason: str) -> None:
    said = cosmetic_reason(SKILL.encode(), changed(old, new).encode(), "SKILL.md")
    assert said is not None
    assert said.startswith(reason)
    assert "," not in said


def test_says_all_that_differs() -> None:
    old = "---\na: 1\nb: 2\n---\nRecieve [a recieved](x.md) mail, and  receive, received it.\n"
    new = "---\nb: 2\na: 1\n---\nReceive [a recieved](y.md) mail, and receive, received it.\n"
    said = cosmetic_reason(old.encode(), new.encode(), "SKILL.md")
    assert said == "1 word of prose, link targets, order and quotes of the front matter"
    two = cosmetic_reason(
        b"Wiht teh mail, with the mail.", b"With the mail, with the mail.", "a.md"
    )
    assert two == "2 words of prose"
    assert cosmetic_reason(b"a", b"b", "SKILL.md") is None


WORDS = st.lists(st.sampled_from(("read", "the", "budget", "and", "book", "it")), min_size=1)
FENCE = "```sh\nrun  it\n\n\n  now\n```"
PARAGRAPHS = st.lists(WORDS.map(tuple) | st.just(("`a  b`",)) | st.just(FENCE), max_size=6)


@given(PARAGRAPHS, st.data())
def test_wrapping_and_white_space_outside_code_are_always_cosmetic(
    paragraphs: list[tuple[str, ...] | str], data: st.DataObject
) -> None:
    def drawn() -> str:
        parts: list[str] = []
        for paragraph in paragraphs:
            white = st.sampled_from([" ", "  ", "\n", " \n", "\t", "\n  ", "\r\n"])
            text = paragraph if isinstance(paragraph, str) else paragraph[0]
            for word in () if isinstance(paragraph, str) else paragraph[1:]:
                text += data.draw(white) + word
            parts.append(text)
        gap = data.draw(st.sampled_from(["\n\n", "\n\n\n", "\n \n"]))
        return "---\nname: a\n---\n" + gap.join(parts) + data.draw(st.sampled_from(["", "\n"]))

    old, new = drawn(), drawn()
    assert cosmetic(old, new), (old, new)
    assert old == new or cosmetic_reason(old.encode(), new.encode(), "a.md") == "white space"


@given(st.sampled_from(["name", "description", "allowed-tools", "model"]), st.text(), st.text())
def test_a_front_matter_value_is_never_cosmetic(key: str, old: str, new: str) -> None:
    def skill(value: str) -> str:
        return f"---\n{key}: {json.dumps(value)}\nother: 1\n---\nbody\n"

    assume(old != new)
    assert not cosmetic(skill(old), skill(new))
    assert not cosmetic(skill(old), skill(old).replace(f"{key}:", "x:"))


@given(
    TEXTS,
    st.sampled_from(["`{}`", "\n```\n{}\n```\n", "\n\n    {}\n"]),
    st.text("abc ", min_size=1),
)
def test_code_in_spans_and_fences_is_never_cosmetic(text: str, form: str, code: str) -> None:
    other = code + "x"
    assert not cosmetic(f"{text}\n{form.format('x' + code)}", f"{text}\n{form.format('x' + other)}")


@pytest.mark.parametrize("unit", ["`", "[", "](", "- ", "> ", "a ", "#", "``` ", "---\n", "a`b``"])
def test_a_large_file_takes_no_time(unit: str) -> None:
    text = unit * ((1 << 18) // len(unit) - 8)
    cosmetic(text + "\na  b", text + "\na b")
