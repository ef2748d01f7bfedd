"""A commit message, taken apart: header, body, trailers, reverts, closing keywords.

Header: Conventional Commits 1.0.0. Trailers: any line below the header that begins with a
key, for git's own reading of the last paragraph loses them beside ``Fixes #12``, below
GitHub's co-authors and in squash bodies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

# Pattern texts, compiled by `re` when first used: the hook path doesn't pay for all of them.
_PREFIXES = r"(?:(?:fixup|squash|amend)! )*"
_HEADER = r"(?P<type>[^\s():!]+)(?:\((?P<scope>[^()\r\n]+)\))?(?P<bang>!)?: +(?P<description>\S.*)"
_TRAILER = r"([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*)"
_REFERENCE = (
    r"(?:[\w.-]+(?:/[\w.-]+)+)?#\d+\b|GH-\d+\b"
    r"|https?://\S{1,300}/(?:issues|pull|merge_requests|work_items)/\d+"
)
_CLOSING = (
    r"(?<![\w-])(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?::[ \t]*|[ \t]+)(" + _REFERENCE + ")"
)
_QUOTED = r'(Revert|Reapply) "(.*)"(?: \(#\d+\))?'
_REVERTED = r"^This reverts commit\s+([0-9a-f]{4,64})\b"
_BLANK = " \t\r"
#: Quotes in quotes that are looked into.
_MOST_LAYERS = 20


class Header(NamedTuple):
    """The first line, taken apart; ``type`` is empty where it has none."""

    type: str = ""
    """In lower case."""
    scope: str = ""
    bang: bool = False
    description: str = ""


class Revert(NamedTuple):
    """What a revert says that it takes back, or brings back."""

    ids: tuple[str, ...]
    """Commits named in the body, maybe abbreviated."""
    subject: str
    """The innermost quoted subject; empty where there is none."""
    reapply: bool
    """Whether, all quotes counted, the change is brought back."""


class Message(NamedTuple):
    """A commit message; reads the same from the hook's file and from the stored commit."""

    header: str
    """The first line that isn't empty, with any leading blank."""
    autosquash: tuple[str, ...]
    """fixup, squash, amend: prefixes of the header, the outermost first."""
    subject: str
    """The header without them."""
    type: str
    """Conventional Commits type in lower case; empty where there is none."""
    scope: str
    breaking: bool
    description: str
    body: str
    """All below the header."""
    trailers: tuple[tuple[str, str], ...]
    """(key in lower case, value), in order; the value may be empty."""
    revert: Revert | None
    closing: tuple[tuple[str, str], ...]
    """(keyword in lower case, reference), of the subject and the body."""
    crowded: tuple[str, ...]
    """The lines that no blank line parts from the header."""

    @property
    def is_revert(self) -> bool:
        """Whether the message says that it takes back, or brings back, a commit."""
        return self.revert is not None

    def values(self, key: str) -> tuple[str, ...]:
        """Return the values of the trailer ``key``, in any case."""
        return tuple(value for name, value in self.trailers if name == key.lower())


def parse_message(text: str) -> Message:
    """Take a cleaned message apart; any text has a reading."""
    lines = [line.rstrip(_BLANK) for line in text.removeprefix("\ufeff").split("\n")]
    start = next((i for i, line in enumerate(lines) if line), 0)
    header, below = lines[start], lines[start + 1 :]
    autosquash, subject = split_prefixes(header)
    parsed = parse_header(subject)
    body = "\n".join(below).strip("\n")
    trailers = tuple(_trailers(below))
    revert = _revert(subject, parsed, f"{subject}\n{body}", trailers)
    # What a revert quotes is what is undone; with --reference it is in a line of the text.
    quoted = revert is not None and bool(revert.subject)
    said = re.sub(f"{_REVERTED}.*", "", body if quoted else f"{subject}\n{body}", flags=re.M)
    return Message(
        header=header,
        autosquash=autosquash,
        subject=subject,
        type=parsed.type,
        scope=parsed.scope,
        breaking=parsed.bang or re.search(r"^BREAKING[ -]CHANGE: ", body, re.M) is not None,
        description=parsed.description,
        body=body,
        trailers=trailers,
        revert=revert,
        closing=tuple(_closing(said)),
        crowded=tuple(takewhile(bool, below)),
    )


def split_prefixes(header: str) -> tuple[tuple[str, ...], str]:
    """Return the autosquash prefixes of a header, and what they stand before."""
    match = re.match(_PREFIXES, header)
    prefixes = match[0] if match else ""
    return tuple(prefixes.replace("!", "").split()), header[len(prefixes) :]


def parse_header(subject: str) -> Header:
    """Take one line apart by Conventional Commits."""
    match = re.fullmatch(_HEADER, subject)
    if not match:
        return Header()
    return Header(
        match["type"].lower(), match["scope"] or "", match["bang"] is not None, match["description"]
    )


def _trailers(lines: list[str]) -> Iterator[tuple[str, str]]:
    key, parts = "", list[str]()
    for line in [*lines, ""]:
        if key and line[:1] in (" ", "\t"):
            parts.append(line.strip())
            continue
        if key:
            yield key, " ".join(filter(None, parts))
        match = re.fullmatch(_TRAILER, line)
        key, parts = (match[1].lower(), [match[2].strip()]) if match else ("", [])


def _closing(text: str) -> Iterator[tuple[str, str]]:
    for match in re.finditer(_CLOSING, text, re.I):
        yield match[1].lower(), match[2]


def _revert(
    subject: str, header: Header, text: str, trailers: tuple[tuple[str, str], ...]
) -> Revert | None:
    ids = re.findall(_REVERTED, text, re.M)
    layers = 0
    taken_back = False
    inner = subject
    while layers < _MOST_LAYERS and (match := re.fullmatch(_QUOTED, inner)):
        layers += 1
        taken_back ^= match[1] == "Revert"
        inner = match[2]
    if header.type == "revert":
        references = (value for key, value in trailers if key == "refs")
        ids += re.findall(r"\b[0-9a-f]{7,64}\b", " ".join(references))
        return Revert(tuple(ids), header.description, reapply=False)
    if not layers and not ids:
        return None
    return Revert(tuple(ids), inner if layers else "", reapply=bool(layers) and not taken_back)


def short(text: str, most: int = 60) -> str:
    """Return a text for a message, cut where it is long."""
    return text if len(text) <= most else text[: most - 1] + "…"
