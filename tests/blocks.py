"""The fenced blocks of a Markdown page, so that tests can run what the pages say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One fenced block, and the heading that it stands under."""

    language: str
    text: str
    heading: str


def read_page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pages() -> list[str]:
    """Return every page for people, from the repository's root."""
    found = ["README.md", "AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    return found + sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))


def blocks(page: str, language: str | None = None) -> list[Block]:
    """Return the fenced blocks of a page, those of one language where it is named."""
    found: list[Block] = []
    for match in FENCED.finditer(page):
        headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page[: match.start()]), re.MULTILINE)
        if language in (None, match[1]):
            found.append(Block(match[1], match[2], headings[-1] if headings else ""))
    return found
