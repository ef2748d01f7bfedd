"""near-miss-header: a commit that touches an agent, and whose header only looks like a fix.

It warns, and is broken under ``--strict``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from guard.messages.message import near_miss, squashed_fixes
from guard.messages.parts import short
from guard.model import Violation
from guard.rules.commit import JudgedCommit

RULE: Final = "near-miss-header"


def check(commit: JudgedCommit) -> Iterator[Violation]:
    """Yield a warning where a commit that is no fix by its message looks like one."""
    if not commit.owned or commit.fix:
        return
    said = near_miss(commit.message, commit.fix_types) or _squashed(commit)
    if said and commit.touched:
        yield Violation(
            rule=RULE,
            message=said,
            agent=", ".join(commit.touched),
            paths=tuple(dict.fromkeys(p for paths in commit.touched.values() for p in paths)),
            warning=True,
            agents=tuple(commit.touched),
        )


def _squashed(commit: JudgedCommit) -> str | None:
    squashed = squashed_fixes(commit.message, commit.fix_types)
    if not squashed:
        return None
    from guard.messages.near_misses import SUGGESTED

    number = len(squashed)
    held = f"{number} fixes" if number > 1 else "a fix"
    return (
        f"this squash holds {held} below a header that is none, so the fix and its case lose "
        f'each other: write "{short(squashed[0], SUGGESTED)}"'
    )
