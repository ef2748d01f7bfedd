"""Whether a change of a prose file is cosmetic: one that no agent could act on differently.

Any doubt means: not cosmetic. Equal are two texts that differ in white space outside code,
in link targets, in the order and quoting of front-matter keys; words may differ where one is
a misspelling of the other.
"""

from __future__ import annotations

import re

from guard.messages.markdown_blocks import CODE_SPAN, PROSE, Block, markdown_blocks

_PROSE_FILE = r"(?is).*\.(?:md|mdx|markdown|txt)"
#: Files of such an ending that programs read.
_PROGRAM_FILE = r"(?is)(?:.*/)?(?:(?:requirements|constraints)[^/]*|cmakelists|robots)\.txt"
#: White space counts inside these, wherever they begin and end.
_MARKUP_CODE = r"(?i)<(?:pre|code|script|style|textarea|samp|kbd)\b"
_MDX_CODE = r"(?m)^(?:import|export)\b|[{}]"
#: Larger files are not looked into: the scan is linear, the worst code spans aren't.
_MOST_BYTES = 1 << 18

#: A word, and around it marks that make it no code, no quotation and no command.
_PLAIN_WORD = r"([(*]*)([A-Za-zÀ-ÖØ-öø-ÿ]{2,40})([)*.,;:!?…]*)"
_MOST_EDITS = 2
#: Their loss or gain turns a sentence round.
_NEGATIONS = """
no not never nor none nobody nothing nowhere neither without unless except only cannot cant dont
wont doesnt isnt arent shouldnt mustnt avoid refuse stop
nicht nie niemals kein keine keinen keinem keiner ohne nur ne pas jamais sans sauf aucun aucune
nunca sin ni nada sem nem non mai senza
"""
#: They carry an amount, an order or a duty: one letter off is another rule.
_OPERATORS = """
all always and any at before after both by can could each either every few first for from if in
into last least less many may maximum max might minimum min more most must now of off on once one
or other out over same shall should some than then till to twice two three four five six seven
eight nine ten hundred thousand under until up when where while will with would yes
"""


def is_cosmetic(old: bytes, new: bytes, path: str) -> bool:
    """Say whether the change from ``old`` to ``new`` can't matter to a reader of ``path``.

    A changed mode, a symbolic link, an added or removed file is the caller's to refuse.
    """
    if old == new:
        return True
    if not re.fullmatch(_PROSE_FILE, path) or re.fullmatch(_PROGRAM_FILE, path):
        return False
    before, after = _prose(old, path), _prose(new, path)
    if before is None or after is None:
        return False
    front_before, body_before = _split_front_matter(before)
    front_after, body_after = _split_front_matter(after)
    return _is_same_front_matter(front_before, front_after, path) and _is_same_body(
        body_before, body_after, before
    )


def _prose(content: bytes, path: str) -> str | None:
    """Return the text, where it is nothing but prose that a scan of lines can read."""
    if len(content) > _MOST_BYTES:
        return None
    try:
        text = content.decode("utf-8")
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
    from guard.yamlfile import load_yaml

    try:
        before, after = load_yaml(old, path), load_yaml(new, path)
    except GuardError:
        return False
    # As JSON, because to Python 1, 1.0 and true are equal.
    return isinstance(before, dict) and (
        json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    )


def _comments(front_matter: str) -> list[str]:
    return sorted(line.rstrip() for line in re.findall(r"(?m)(?:^|(?<=\s))#.*$", front_matter))


def _is_same_body(old: str, new: str, whole: str) -> bool:
    before, after = markdown_blocks(old), markdown_blocks(new)
    if before is None or after is None or len(before) != len(after):
        return False
    replaced: list[tuple[str, str]] = []
    for one, other in zip(before, after, strict=True):
        if one != other:
            pairs = _replaced_words(one, other)
            if pairs is None:
                return False
            replaced += pairs
    return not replaced or _are_misspellings(replaced, whole, before)


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
    # in- and ex-, un-, de-: the beginning of a word may turn it round.
    if one[0] != other[0] or not one[1:].islower() or not other[1:].islower():
        return None
    return None if may_be_name and one[0].isupper() else (one.lower(), other.lower())


def _are_misspellings(replaced: list[tuple[str, str]], whole: str, before: list[Block]) -> bool:
    """Say whether each old word stands nowhere else in the file, and the new one in its prose."""
    from collections import Counter

    counts = Counter(_words(whole))
    prose = " ".join(block.text for block in before if block.kind == PROSE)
    known = set(_words(re.sub(CODE_SPAN, " ", prose)))
    weighty = {*_NEGATIONS.split(), *_OPERATORS.split()}
    taken = Counter(old for old, _ in replaced)
    return all(
        _is_near(old, new)
        and not weighty.intersection((old, new))
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
