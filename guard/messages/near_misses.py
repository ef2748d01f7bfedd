"""Headers that look like a fix and aren't written as one, and how they would be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from guard.messages.parts import Message, parse_header, short

_FIX_WORD = r"(?:(?:bug|hot|quick)[ -]?)?fix(?:e[sd]|ing)?(?!\w|-\w)"
_MARKED = r"[\[({<*_:]+\s*" + _FIX_WORD + r"\s*[\])}>*_:]"
_TAG = r"\[([^\]]*)\]|\(([^)]*)\)"
#: PROJ-123, #12, a version, a :gitmoji: are kept as words of the description.
_KEPT = r":[a-z0-9_+-]+:|[A-Z][A-Z0-9]+-\d+\b|#\d+\b|v?\d+(?:\.\d+)+\b"
_DROPPED = r"(?:fixup|squash|amend)!\s*|(?i:wip)\b|[\W_]"
#: A ticket or a version where a type would stand.
_NO_TYPE = r"[a-z][a-z0-9]+-\d+|v?\d[\d.]*"
_SEVERAL_TYPES = r"\w+(?:\s*[,&+/|]\s*\w+)+(?=\s*[(!:])"
#: A scope behind the word, in brackets of any kind.
_SCOPE = r"[(\[{<]([^\])}>]*)[\])}>]+|\s+[(\[{<]([^\])}>]*)[\])}>]+(?=\s*[:!])"
_SEPARATORS = "[\\s!]*(?:[:;,.=>|~*_\\])}\u2013\u2014\u2192-]+\\s*)?"
#: A further type behind the scope: ``fix(a)+docs(b): x``.
_OTHER_TYPE = r"\s*[,&+/|]\s*\w+(?:\([^)]*\))?(?=\s*[:!,&+/|])"
#: Words that need the one before them: "fix and improve".
_JOINING = r"(?:and|or|for|in|of|on|to|up|wave)\b"
#: Types that say what a commit does; any other word before a colon is more likely a scope.
_TYPES = "build chore ci docs feat feature perf refactor revert style test tests wip"
#: Letters and colons of other scripts that pass for those of a header.
_LOOK_ALIKE = (
    ("f", "\u0192\u03dd"),
    ("i", "\u0456\u0406\u0131\u03b9\u0399"),
    ("x", "\u0445\u0425\u03c7\u03a7\xd7"),
    ("e", "\u0435\u0415\u03b5\u0395"),
    ("s", "\u0455\u0405"),
    ("d", "\u0501"),
    ("o", "\u043e\u041e\u03bf\u039f"),
    ("t", "\u0442\u0422\u03c4\u03a4"),
    ("h", "\u04bb\u041d"),
    (":", "\u2236\ua789\u02d0\u0589\u05c3\u205a"),
)
#: Characters of a header: enough for a near miss, and no work for a megabyte of symbols.
_LOOKED_AT = 200
#: Characters of a header that is suggested: to be pasted it has to be whole.
SUGGESTED = 120


class Proper(NamedTuple):
    """What a header says, to be written as it would be read."""

    scopes: tuple[str, ...]
    bang: bool
    description: str


class _Looked(NamedTuple):
    """A header in plain letters, and where each of its characters came from."""

    text: str
    places: tuple[int, ...]


def near_miss(message: Message, types: Collection[str] = ("fix",)) -> str | None:
    """Say in a sentence how a header that is no fix looks like one; None where it doesn't.

    Meant for a message that `fix_reason` finds nothing in. ``types`` are those of fixes.
    """
    wanted = [name.lower() for name in types] or ["fix"]
    crowding = [line for line in message.crowded if parse_header(line).type in wanted]
    if crowding:
        return (
            f'"{short(crowding[0])}" stands below the header without a blank line, and is no '
            "header there: put it first, or a blank line before it"
        )
    if message.type in (*wanted, "revert"):
        return None
    word = "fix" if "fix" in wanted else wanted[0]
    proper = proper_header(message, word)
    if proper is None:
        return None
    do = f'write "{short(proper, SUGGESTED)}"' if proper else f'write "{word}: " and what it mends'
    return f'"{short(message.header)}" looks like a fix and is not written as one: {do}'


def proper_header(message: Message, word: str = "fix") -> str | None:
    """Return the header as the fix that it looks like, empty where it says no more than that.

    None where it doesn't look like a fix. ``word`` is the type to write.
    """
    is_typed = message.type and not re.fullmatch(_NO_TYPE, message.type)
    found = _in_a_type(message) if is_typed else _in_a_line(message)
    if found is None or not plain(found.description).strip():
        return None if found is None else ""
    scope = re.sub(r"[()\s]+", " ", " ".join(found.scopes)).strip()
    prefixes = message.autosquash or re.findall(r"^(fixup|squash|amend)!", message.subject)
    start = "".join(f"{prefix}! " for prefix in prefixes)
    quote = message.subject[0] if message.subject[0] in "\"'`" else ""
    said = found.description.strip().removesuffix(quote)
    marks = f"({scope})" * bool(scope) + "!" * found.bang
    return f"{start}{word}{marks}: {said}"


def _in_a_type(message: Message) -> Proper | None:
    """Read a type such as hotfix or fix/scope, and what follows one: ``scope: fix: x``."""
    header, inner = parse_header(message.subject), parse_header(message.description)
    scopes = (header.scope, inner.scope) if inner.type else (header.scope,)
    names = plain(message.type).lower()
    is_fix = re.fullmatch(_FIX_WORD, names)
    others = () if is_fix else _without_fix(re.split(r"\W+", names))
    if others is not None:
        return Proper((*others, header.scope), header.bang, message.description)
    if inner.type != "fix":
        return None
    outer = () if message.type in _TYPES.split() else (message.type,)
    return Proper((*outer, *filter(None, scopes)), header.bang or inner.bang, inner.description)


def _without_fix(words: Iterable[str]) -> tuple[str, ...] | None:
    """Return the words that may be a scope, where one of them names a fix; else None."""
    parts = [part for word in words for part in word.split("_") if part]
    others = [part for part in parts if not re.fullmatch(_FIX_WORD, part)]
    if len(others) == len(parts):
        return None
    return tuple(word for word in others if word not in _TYPES.split())


def _in_a_line(message: Message) -> Proper | None:
    """Read a line without a type, past all that people put before the word."""
    looked = _look(message.subject[:_LOOKED_AT])
    scopes: list[str] = []
    kept: list[str] = []
    at = 0
    while at < len(looked.text):
        rest = looked.text[at:]
        word = re.match(f"{_FIX_WORD}|{_MARKED}", rest, re.I)
        if word:
            return _behind(message, looked, at + word.end(), scopes, kept)
        several = re.match(_SEVERAL_TYPES, rest)
        if several:
            others = _without_fix(re.split(r"\W+", several[0].lower()))
            if others is None:
                return None
            return _behind(message, looked, at + several.end(), [*scopes, *others], kept)
        step = re.match(f"{_TAG}|{_KEPT}|{_DROPPED}", rest)
        if step is None:
            return None
        tag = (step[1] or step[2] or "").strip()
        if tag and not re.fullmatch(_KEPT, tag):
            scopes.append(tag)
        elif tag or re.fullmatch(_KEPT, step[0]) or _is_emoji(step[0]):
            kept.append(step[0])
        at += step.end()
    return None


def _behind(
    message: Message, looked: _Looked, end: int, scopes: list[str], kept: list[str]
) -> Proper:
    """Read what stands behind the word."""
    scope = re.match(_SCOPE, looked.text[end:])
    if scope:
        scopes.append(scope[1] or scope[2] or "")
        end += scope.end()
    while other := re.match(_OTHER_TYPE, looked.text[end:]):
        end += other.end()
    parted = re.match(_SEPARATORS, looked.text[end:])
    marks = parted[0] if parted else ""
    start = looked.places[end + len(marks)] if end + len(marks) < len(looked.places) else None
    said = "" if start is None else message.subject[start:]
    if re.match(_JOINING, said, re.I) and not marks.strip():
        kept = [*kept, "fix"]
    description = " ".join([*kept, said]) if said.strip() else ""
    return Proper(tuple(scopes), marks.lstrip().startswith("!"), description)


def _is_emoji(text: str) -> bool:
    if text.isascii():
        return False
    import unicodedata

    return unicodedata.category(text[0]) == "So"


def plain(text: str) -> str:
    """Return the text without full-width, invisible and foreign look-alikes."""
    return text if text.isascii() else _look(text).text


def _look(text: str) -> _Looked:
    if text.isascii():
        return _Looked(text, tuple(range(len(text))))
    import unicodedata

    table = {ord(char): letter for letter, chars in _LOOK_ALIKE for char in chars}
    found: list[tuple[str, int]] = []
    for place, char in enumerate(text):
        for part in unicodedata.normalize("NFKD", char.translate(table)):
            if unicodedata.category(part) not in ("Cf", "Mn"):
                found.append((part, place))
    return _Looked("".join(part for part, _ in found), tuple(place for _, place in found))
