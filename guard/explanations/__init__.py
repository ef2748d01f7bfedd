"""The texts behind ``guard explain``: one Markdown file a kind, a heading for each text.

A heading has several names, with commas between them, where one text tells them apart.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Final, NamedTuple

#: Kind → what `guard explain` calls it; the kind is the name of its file.
KINDS: Final = {
    "words": "a word",
    "rules": "a rule",
    "verdicts": "a verdict",
    "expectations": "an expectation",
}


class Explanation(NamedTuple):
    """What one word, rule, verdict or expectation key means, with an example."""

    name: str
    kind: str
    text: str

    @property
    def summary(self) -> str:
        """Its first sentence."""
        line = " ".join(self.text.partition("\n\n")[0].split())
        sentence, stop, _ = line.partition(". ")
        return sentence + "." if stop else line

    @property
    def example(self) -> str:
        """Its indented lines, without the indent."""
        shown = [line[4:] for line in self.text.splitlines() if line.startswith("    ")]
        return "\n".join(shown)


@cache
def all_explanations() -> tuple[Explanation, ...]:
    """Return every explanation, in the order of the files."""
    return tuple(item for kind in KINDS for item in _read(kind))


def find_explanations(name: str) -> list[Explanation]:
    """Return what goes by a name, whichever its case; ``anti-slop/x`` is found by its family."""
    wanted = {_folded(name), _folded(name.partition("/")[0])}
    return [item for item in all_explanations() if _folded(item.name) in wanted]


def _folded(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")


def _read(kind: str) -> list[Explanation]:
    path = os.path.join(os.path.dirname(__file__), f"{kind}.md")
    with open(path, encoding="utf-8") as stream:
        sections = ("\n" + stream.read()).split("\n## ")[1:]
    parted = (section.partition("\n") for section in sections)
    return [
        Explanation(name.strip(), kind, text.strip("\n"))
        for names, _, text in parted
        for name in names.split(",")
    ]
