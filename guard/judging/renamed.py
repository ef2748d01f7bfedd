"""A change that was refused as a fix, and is committed unchanged under another name.

Noticed in the store of this machine alone, and said: a help for who forgot, no rule.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from guard.rules.commit import JudgedCommit

KIND: Final = "refused-fix"
#: Entries of a change that is remembered; a larger one is no single fix.
MOST_ENTRIES: Final = 200


def remember(commit: JudgedCommit, agents: Iterable[str]) -> None:
    """Keep that the change of these agents was refused as a fix."""
    told = {"at": int(time.time()), "header": commit.message.header}
    keys = [key for name in agents if (key := _key(commit, name))]
    if keys:
        commit.new.store.put_parsed(KIND, dict.fromkeys(keys, told))


def recall(commit: JudgedCommit) -> str | None:
    """Say that the very change was refused as a fix; None where it is a fix still, or was none.

    Nothing is said where the change brings a case after all.
    """
    if commit.fix or commit.new.case_paths(commit.change.paths):
        return None
    keys = [key for name in commit.owned if (key := _key(commit, name))]
    found = commit.new.store.get_parsed_many(KIND, keys)
    told: Any = next((found[key] for key in keys if key in found), None)
    if told is None:
        return None
    now = commit.message.type or f'"{commit.message.header}"'
    return (
        f'this is the change that was refused {_when(told["at"])} as a fix ("{told["header"]}"), '
        f"now called {now}: its bug is remembered by no case"
    )


def _key(commit: JudgedCommit, agent: str) -> str:
    """Return the agent and its own changed paths with what they were and are; or nothing."""
    entries = commit.owned.get(agent, ())
    if not entries or len(entries) > MOST_ENTRIES:
        return ""
    sides = (f"{entry.path!r} {entry.old} {entry.new}" for entry in entries)
    return "\n".join([agent, *sides])


def _when(seconds: int) -> str:
    then, today = time.localtime(seconds), time.localtime()
    day = "" if then[:3] == today[:3] else f" on {time.strftime('%Y-%m-%d', then)}"
    return f"at {time.strftime('%H:%M', then)}{day}"
