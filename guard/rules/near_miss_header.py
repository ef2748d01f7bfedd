"""near-miss-header: a commit that touches an agent, and whose header only looks like a fix.

It warns, and is broken under ``--strict``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from guard.messages.message import near_miss, squashed_fixes
from guard.model import Violation
from guard.rules.commit import JudgedCommit

RULE: Final = "near-miss-header"


def check(commit: JudgedCommit) -> Iterator[Violation]:
    """Yield a warning where a commit that is no fix by its message looks like one."""
    if not commit.owned or commit.fix:
        return
    said = near_miss(commit.message) or _squashed(commit)
    if said and commit.touched:
        yield Violation(
            rule=RULE,
            message=said,
            agent=", ".join(commit.touched),
            paths=tuple(dict.fromkeys(p for paths in commit.touched.values() for p in paths)),
            warning=True,
        )


def _squashed(commit: JudgedCommit) -> str | None:
    squashed = squashed_fixes(commit.message, commit.fix_types)
    if not squashed:
        return None
    return (
        f'this squash holds a fix ("{squashed[0]}") below a header that is none: '
        "the fix and its case lose each other"
    )
