"""Whether a change of a prose file is cosmetic: one that no agent could act on differently.

Any doubt means: not cosmetic. Equal are two texts that differ in white space outside code,
in link targets, in the order and quoting of front-matter keys; words may differ where one is
a misspelling of the other.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator

from guard.messages.markdown_blocks import CODE_SPAN, PROSE, Block, link_targets, markdown_blocks

_PROSE_FILE = r"(?is).*\.(?:md|mdx|markdown|txt)"
#: Files of such an ending that programs read.
_PROGRAM_FILE = r"(?is)(?:.*/)?(?:(?:requirements|constraints)[^/]*|cmakelists|robots)\.txt"
#: What begins a text may be front matter that some reader knows and this one doesn't.
_MAY_BE_FRONT = ("---", "+++", "{")
#: White space counts inside these, wherever they begin and end.
_MARKUP_CODE = r"(?i)<(?:pre|code|script|style|textarea|samp|kbd)\b"
_MDX_CODE = r"(?m)^(?:import|export)\b|[{}]"
#: Larger files are not looked into: the scan is linear, the worst code spans aren't.
_MOST_BYTES = 1 << 18

#: A word, and around it marks that make it no code, no quotation and no command.
_PLAIN_WORD = r"([(*]*)([A-Za-zÀ-ÖØ-öø-ÿ]{2,40})([)*.,;:!?…]*)"
_MOST_EDITS = 2
#: Neither a misspelling of these nor what one is mended to is a detail: negations and numbers.
_NEGATIONS = """
no not never nor none nobody nothing nowhere neither without unless except only cannot cant dont
wont doesnt isnt arent shouldnt mustnt avoid refuse stop
nicht nie niemals kein keine keinen keinem keiner ohne nur ne pas jamais sans sauf aucun aucune
nunca sin ni nada sem nem non mai senza
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
hundred thousand million billion first second third fourth fifth sixth seventh eighth ninth
tenth eleventh twelfth twentieth thirtieth sixtieth ninetieth hundredth once twice thrice half
quarter double triple dozen single both january february march april may june july august
september october november december monday tuesday wednesday thursday friday saturday sunday
"""
#: Words that are right as they stand, and one letter off are another rule; `wiht` is no such word.
_OPERATORS = """
all always an and any at before after both by can could each either every few first for from if in
into last least less many may maximum max might minimum min more most must now of off on
or other out over same shall should some than then till to under until up when where while will
with would yes
"""


def is_cosmetic(old: bytes, new: bytes, path: str) -> bool:
    """Say whether the change from ``old`` to ``new`` can't matter to a reader of ``path``.

    A changed mode, a symbolic link, an added or removed file is the caller's to refuse.
    """
    return old == new or cosmetic_reason(old, new, path) is not None


def cosmetic_reason(old: bytes, new: bytes, path: str) -> str | None:
    """Say in a few words what alone differs, where none of it can matter; else None."""
    if not re.fullmatch(_PROSE_FILE, path) or re.fullmatch(_PROGRAM_FILE, path):
        return None
    before, after = _prose(old, path), _prose(new, path)
    if before is None or after is None or old.startswith(BOM_UTF8) != new.startswith(BOM_UTF8):
        return None
    front_before, body_before = _split_front_matter(before)
    front_after, body_after = _split_front_matter(after)
    if any(body.lstrip().startswith(_MAY_BE_FRONT) for body in (body_before, body_after)):
        return None
    if not _is_same_front_matter(front_before, front_after, path):
        return None
    apart = _lines_apart(body_before, path), _lines_apart(body_after, path)
    words = _misspelt_words(*apart, before)
    if words is None:
        return None
    return ", ".join(_told(words, (front_before, front_after), (body_before, body_after)))


def _lines_apart(body: str, path: str) -> str:
    """Return the body; where nothing joins its lines, with a blank one between any two."""
    return body.replace("\n", "\n\n") if path.lower().endswith(".txt") else body


def _told(
    words: int, fronts: tuple[str | None, str | None], bodies: tuple[str, str]
) -> Iterator[str]:
    """Yield what differs; white space where nothing else does."""
    if words:
        yield f"{words} word{'s' if words > 1 else ''} of prose"
    links, others = (link_targets(body) for body in bodies)
    if links != others:
        yield "link targets"
    if _bare(fronts[0]) != _bare(fronts[1]):
        yield "order and quotes of the front matter"
    elif not words and links == others:
        yield "white space"


def _bare(front_matter: str | None) -> str:
    return "".join((front_matter or "").split())


def _prose(content: bytes, path: str) -> str | None:
    """Return the text, where it is nothing but prose that a scan of lines can read."""
    if len(content) > _MOST_BYTES:
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if re.search(r"[\x00-\x08]", text) or re.search(_MARKUP_CODE, text):
        return None
    is_program = path.lower().endswith(".mdx") and re.search(_MDX_CODE, text)
    return None if is_program else text


def _split_front_matter(text: str) -> tuple[str | None, str]:
    match = re.match(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t\r]*$\n?", text, re.S | re.M)
    if not match or re.search(r"^(?:```|~~~)", match[1], re.M):
        return None, text
    return match[1], text[match.end() :]


def _is_same_front_matter(old: str | None, new: str | None, path: str) -> bool:
    if old == new:
        return True
    if old is None or new is None or _comments(old) != _comments(new):
        return False
    import json

    from guard.errors import GuardError
    from guard.yamlfile import load_yaml, maybe_no_text

    try:
        before, after = load_yaml(old, path), load_yaml(new, path)
    except GuardError:
        return False
    # As JSON, because to Python 1, 1.0 and true are equal.
    same = json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    return isinstance(before, dict) and same and maybe_no_text(old) == maybe_no_text(new)


def _comments(front_matter: str) -> list[str]:
    return sorted(line.rstrip() for line in re.findall(r"(?m)(?:^|(?<=\s))#.*$", front_matter))


def _misspelt_words(old: str, new: str, whole: str) -> int | None:
    """Return in how many words two bodies differ, all of them misspelt; None where in more."""
    before, after = markdown_blocks(old), markdown_blocks(new)
    if before is None or after is None or len(before) != len(after):
        return None
    replaced: list[tuple[str, str]] = []
    for one, other in zip(before, after, strict=True):
        if one != other:
            pairs = _replaced_words(one, other)
            if pairs is None:
                return None
            replaced += pairs
    return len(replaced) if not replaced or _are_misspellings(replaced, whole, before) else None


def _replaced_words(old: Block, new: Block) -> list[tuple[str, str]] | None:
    """Return (old, new) of the single words that differ; None where more does."""
    if old.kind != PROSE or new.kind != PROSE:
        return None
    before, after = old.text.split(" "), new.text.split(" ")
    if len(before) != len(after):
        return None
    pairs: list[tuple[str, str]] = []
    for place, (one, other) in enumerate(zip(before, after, strict=True)):
        if one != other:
            pair = _word_pair(one, other, may_be_name=not _begins_sentence(before, place))
            if pair is None:
                return None
            pairs.append(pair)
    return pairs


def _begins_sentence(tokens: list[str], place: int) -> bool:
    return place == 0 or tokens[place - 1][-1:] in ("", ".", "!", "?", ":", "#", "-", "*", "+")


def _word_pair(old: str, new: str, *, may_be_name: bool) -> tuple[str, str] | None:
    before, after = re.fullmatch(_PLAIN_WORD, old), re.fullmatch(_PLAIN_WORD, new)
    if not before or not after or before[1] != after[1] or before[3] != after[3]:
        return None
    one, other = before[2], after[2]
    # in- and ex-, un-, de-: the beginning of a word may turn it round, unless it is transposed.
    if (
        (one[0] != other[0] and one[:2] != other[1::-1])
        or not one[1:].islower()
        or not other[1:].islower()
    ):
        return None
    return None if may_be_name and one[0].isupper() else (one.lower(), other.lower())


def _are_misspellings(replaced: list[tuple[str, str]], whole: str, before: list[Block]) -> bool:
    """Say whether each old word stands nowhere else in the file, and the new one in its prose."""
    from collections import Counter

    counts = Counter(_words(whole))
    prose = " ".join(block.text for block in before if block.kind == PROSE)
    known = set(_words(re.sub(CODE_SPAN, " ", prose)))
    never, right = set(_NEGATIONS.split()), set(_OPERATORS.split())
    taken = Counter(old for old, _ in replaced)
    return all(
        _is_near(old, new)
        and not never.intersection((old, new))
        and old not in right
        and counts[old] == taken[old]
        and new in known
        for old, new in set(replaced)
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.lower())


def _is_near(old: str, new: str) -> bool:
    """Say whether at most `_MOST_EDITS` letters have to be put in, left out or replaced."""
    row = list(range(len(new) + 1))
    for i, one in enumerate(old, start=1):
        above, row[0] = row[0], i
        for j, other in enumerate(new, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (one != other))
    return row[-1] <= _MOST_EDITS
