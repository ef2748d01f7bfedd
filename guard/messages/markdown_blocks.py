"""The blocks of a Markdown body, by a scan of its lines, with white space normalised.

Made for `guard.messages.cosmetic`, so it errs to one side: what may be code is kept as it is, and a
body in which code can't be told from prose has no blocks at all. A Markdown parser has no
place on the hook's path.
"""

from __future__ import annotations

import re
from typing import NamedTuple

PROSE = "prose"
#: A table's row or a rule: white space is normalised, words aren't compared.
ROW = "row"
#: Indented, quoted or markup: kept as it is.
EXACT = "exact"
#: A line of a fenced block, its fences included: kept as it is.
FENCED = "fenced"
#: A blank line that parts what it would otherwise join.
GAP = "gap"

_MARK = r"(?:[-*+]|\d{1,9}[.)])"
_MARKER = _MARK + r"[ \t]+"
_PREFIX = r" {0,3}(?:" + _MARKER + r")?"
_HEADING = r" {0,3}#{1,6}(?:\s|$)"
#: A rule, a heading's underline, a table's second row.
_RULE = r" {0,3}(?:=+|-+|(?:[-*_]\s*){3,}|[|:-][|:\s-]*)"
_KEPT = r" {4}| {0,3}(?:\t|[<>]|" + _MARKER + r"(?: {4}|\t|>|" + _MARK + r"\s)|" + _MARK + "$)"
_OPENING_FENCE = r"(?P<indent>\s*(?:" + _MARK + r"\s+)*)(?P<mark>`{3,}(?=[^`]*$)|~{3,})"
_FENCE_LINE = r"(?P<indent>\s*)(?P<mark>`{3,}|~{3,})(?P<info>.*)"

#: A target has one of these; ``[must](always)`` is no link.
_LINKED = r"(?=[^\s()]*[/#.:])"
_LINK_TARGET = r"\]\((?:<[^<>\n]*>|" + _LINKED + r"[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)"
_DEFINITION = (
    r"( {0,3}\[[^\]^][^\]]*\]:[ \t]+)(?:\S*[/#:]\S*|\S+\.\w+)"
    r"""([ \t]+(?:"[^"]*"|'[^']*'|\([^)]*\)))?"""
)
CODE_SPAN = r"(?s)(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)"
_WHITE = " \t\r"
#: White space of a code span, kept apart from that which parts words.
_KEPT_WHITE = {9: "\x01", 10: "\x02", 13: "\x03", 32: "\x04"}


class Block(NamedTuple):
    """A paragraph, a list item, a heading, a row, or one line of what is kept as it is."""

    kind: str
    text: str


class _Doubt(Exception):
    """It isn't clear what is code."""


def markdown_blocks(text: str) -> list[Block] | None:
    """Cut a body into blocks; None where it isn't clear what is code.

    Words of a block are parted by one blank; code spans hold none. Control characters
    below the tab are not allowed in ``text``.
    """
    scan = _Scan()
    try:
        for line in text.split("\n"):
            scan.read(line)
        return [_normalised(block) for block in scan.blocks]
    except _Doubt:
        return None


def link_targets(text: str) -> list[str]:
    """Return the targets of a body's links, in order: what blocks don't hold of them."""
    found = re.finditer(f"{_LINK_TARGET}|(?m:^{_DEFINITION}$)", text)
    return [match[0] for match in found]


class _Scan:
    """Reads lines one by one."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.fence: re.Match[str] | None = None
        self.is_open = False
        self.is_markup = False
        self.blanks = 0

    def read(self, line: str) -> None:
        bare = line.rstrip(_WHITE)
        if self.fence:
            self.blocks.append(Block(FENCED, line))
            if _closes(self.fence, bare):
                self.fence = None
        elif not bare:
            self.is_open = self.is_markup = False
            self.blanks += 1
        else:
            self.fence = re.match(_OPENING_FENCE, bare)
            # What follows a line of markup, up to the next blank one, belongs to it.
            self.is_markup |= bare.lstrip().startswith("<")
            kind = EXACT if self.is_markup else _kind(bare, self.is_open)
            self.add(line, bare, FENCED if self.fence else kind)

    def add(self, line: str, bare: str, kind: str) -> None:
        self.part(kind)
        if kind == PROSE and self.is_open and not _begins_block(bare):
            self.blocks[-1] = Block(PROSE, f"{self.blocks[-1].text}\n{line}")
        else:
            self.blocks.append(Block(kind, line))
        self.is_open = kind == PROSE and not re.match(f"{_HEADING}|{_DEFINITION}$", bare)

    def part(self, kind: str) -> None:
        """Note the blank lines just read, where they tell code, tables or quotes apart."""
        last = self.blocks[-1].kind if self.blocks else PROSE
        pair = {kind, last}
        if EXACT in pair or (ROW in pair and FENCED not in pair):
            wanted = self.blanks if kind == last == EXACT else min(self.blanks, 1)
            self.blocks += [Block(GAP, "")] * wanted
        self.blanks = 0


def _closes(fence: re.Match[str], line: str) -> bool:
    indent: str = fence["indent"]
    if line and not line[: len(indent)].isspace() and indent:
        # The list that the fence stands in may have ended, and the fence with it.
        raise _Doubt
    match = re.fullmatch(_FENCE_LINE, line)
    mark: str = fence["mark"]
    if not match or match["mark"][0] != mark[0] or len(match["mark"]) < len(mark):
        return False
    if match["info"] or len(match["indent"]) != len(indent):
        # A fence in a fence, or an end that stands elsewhere than its beginning.
        raise _Doubt
    return True


def _kind(line: str, is_open: bool) -> str:
    if re.match(_KEPT, line):
        return EXACT
    # In an open paragraph a pipe is more likely code than the first row of a table.
    is_row = re.match(r" {0,3}\|", line) or ("|" in line and not is_open)
    return ROW if is_row or re.fullmatch(_RULE, line) else PROSE


def _begins_block(line: str) -> bool:
    return bool(re.match(f"{_HEADING}| {{0,3}}{_MARKER}", line) or re.fullmatch(_DEFINITION, line))


def _normalised(block: Block) -> Block:
    """Return the block with one blank for each run outside code, and without link targets."""
    if block.kind not in (PROSE, ROW):
        return block
    text = block.text.rstrip(_WHITE)
    definition = re.fullmatch(_DEFINITION, text)
    if definition:
        text = definition[1] + (definition[2] or "")
    prefix = re.match(_PREFIX, text)
    start = prefix.end() if prefix else 0
    # Prose, the marks of a code span, the code; again and again, and prose at the end.
    parts = re.split(CODE_SPAN, text[start:])
    if any("`" in part for part in parts[::3]):
        raise _Doubt
    for place in range(0, len(parts), 3):
        parts[place] = re.sub(r"[ \t\r\n]+", " ", re.sub(_LINK_TARGET, "](", parts[place]))
    for place in range(2, len(parts), 3):
        parts[place] = parts[place].translate(_KEPT_WHITE) + parts[place - 1]
    return Block(block.kind, text[:start] + "".join(parts))
