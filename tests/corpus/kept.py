"""Broken states that lie in the repository or are a command: patches, commands, capsules."""

from __future__ import annotations

from typing import Any

from tests.corpus.story import (
    BROKEN,
    CASE,
    FIXED,
    SCRIPT,
    Build,
    Files,
    Story,
    fix,
    history,
    start,
)

PATCH = "regressions/taxi.patch"
PATCHED = {"kind": "patch", "path": PATCH}
SHELL = ["sh", "-c"]


def patch(old: str, new: str, path: str = SCRIPT) -> str:
    """Return a patch of a file of one line."""
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}+{new}"


def patched(content: str | None, *later: Files) -> Build:
    """Return a repository whose one commit has the fixed agent, and a patch that breaks it."""
    files: dict[str, str] = {} if content is None else {PATCH: content}
    return history({**start(FIXED), **fix(before=PATCHED), **files}, *later)


def by_command(script: str, *, fixed: str = FIXED, **expected: Any) -> Build:
    """Return a repository whose record has a command for its broken state."""
    before = {"kind": "command", "argv": [*SHELL, script], **expected}
    return history({**start(fixed), **fix(fixed, before=before)})


STORIES = (
    Story(
        "a patch that doesn't apply any more",
        patched(patch("echo Which currency, please?\n", BROKEN)),
        "STALE",
        "doesn't apply to today's tree",
        hint="guard prove taxi --before REV",
        twin=patched(patch(FIXED, BROKEN)),
    ),
    Story(
        "a patch that changes nothing",
        patched(patch(FIXED, FIXED)),
        "DEGENERATE",
        "changes nothing of today's tree",
    ),
    Story(
        "a patch that breaks nothing",
        patched(patch(FIXED, "echo Which currency, Sir?\n")),
        "VACUOUS",
    ),
    Story(
        "a patch of a file that isn't the agent's",
        patched(patch("taxi 400\n", "taxi 4600\n", "agent/budget.md")),
        "STALE",
        "agent/budget.md",
    ),
    Story(
        "a patch of the case itself",
        patched(patch(FIXED, BROKEN) + patch("---\n", "--- \n", CASE)),
        "STALE",
    ),
    Story("a patch that isn't there", patched(None), "STALE", f"its patch {PATCH} is not there"),
    Story("a patch that is none", patched("It was broken, believe me.\n"), "STALE"),
    Story(
        "a patch that leaves a program which can't be started",
        patched(patch(FIXED, "book-a-taxi\n")),
        "INCONCLUSIVE",
        "can't be started (127)",
    ),
    Story(
        "a patch that takes the agent away",
        patched(f"--- a/{SCRIPT}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{FIXED}"),
        "STALE",
        "there was no agent before",
    ),
    Story(
        "a command whose program is missing",
        by_command("show-the-bug", expect_exit=1),
        "INCONCLUSIVE",
        "127",
        twin=by_command("echo Booked; exit 3", expect_exit=3, expect_output="Booked"),
    ),
    Story(
        "a command that is killed",
        by_command("kill -9 $$", expect_exit=1),
        "INCONCLUSIVE",
        "signal 9",
    ),
    Story(
        "a command that can't test it",
        by_command("exit 125"),
        "INCONCLUSIVE",
        "125",
    ),
    Story(
        "a command that ends in another code",
        by_command("echo Booked; exit 1", expect_exit=3, expect_output="Booked"),
        "WRONG_REASON",
        "it ended in 1, not in 3",
    ),
    Story(
        "a command that prints another text",
        by_command("echo no module named ledger; exit 3", expect_exit=3, expect_output="Booked"),
        "WRONG_REASON",
        "it didn't print",
    ),
    Story(
        "a command that catches nothing",
        by_command("echo all is well", expect_exit=3),
        "VACUOUS",
    ),
    Story(
        "a command that catches it, and the case fails now",
        by_command("echo Booked; exit 3", fixed=BROKEN, expect_exit=3),
        "BROKEN_NOW",
    ),
)
