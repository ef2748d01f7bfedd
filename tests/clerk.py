"""An agent that does what its skill says: a small program in a repository built for proofs.

It reads SKILL.md from its workspace at each trial, so that a sentence added or taken away
changes what it replies, writes, or how it ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

CLERK = '''\
"""Answer a message as the skills in this folder say."""
import os
import pathlib
import sys
import time

found = sorted(pathlib.Path("skills").rglob("*.md"))
text = "\\n".join(path.read_text() for path in found)
trial = int(os.environ.get("GUARD_TRIAL", "1"))
if "sleep" in text:
    time.sleep(60)
if "crash" in text:
    sys.exit(3)
if "not executable" in text:
    sys.exit(126)
if "write down" in text:
    pathlib.Path("notes.md").write_text("400 euro\\n")
if "stubborn" in text:
    print("I change nothing, ever.")
elif "moody" in text and trial % 2 == 0:
    print("Which currency? I changed nothing.")
elif "Ask which currency" in text or "Never assume a currency" in text:
    print("Which currency? I changed nothing.")
else:
    print("Booked 4600 crowns.")
'''
CONFIG = """\
version: 1
agents:
  clerk:
    paths: [agent/skills/clerk/**]
    workspace: agent
    target: command
    options: {argv: [python3, clerk.py, "{utterance}"], deterministic: true}
    cases: [evals/*.md]
"""
SKILL = """\
---
name: clerk
description: Books what people paid.
---
# Clerk

Book every amount in crowns.

Keep the budget in order.

Say what you did.
"""
FIX = "Ask which currency before you convert.\n"
SECOND_GUARD = "Never assume a currency.\n"
BROKEN = SKILL
FIXED = SKILL.replace("Keep the budget", FIX + "\nKeep the budget")
SKILL_PATH = "agent/skills/clerk/SKILL.md"
CASE_PATH = "evals/taxi.md"
#: All that stands in the repository before the bug is known.
BASE: Mapping[str, str] = {
    "guard.yaml": CONFIG,
    "agent/clerk.py": CLERK,
    "agent/notes.md": "empty\n",
    SKILL_PATH: BROKEN,
}


def case(
    expected: str = '{reply_contains: ["Which currency"]}', more: str = "", name: str = "taxi"
) -> str:
    """Return a case file; ``more`` are further lines of its front matter."""
    return (
        f"---\nid: {name}\nutterance: the taxi was 400 euro\nexpected: {expected}\n{more}---\n"
        "It converted 400 euro on its own authority. Nobody had asked for that.\n"
    )


def record(**changes: Any) -> dict[str, Any]:
    """Return the record of the case; a key given as None is left out."""
    fields: dict[str, Any] = {
        "agent": "clerk",
        "case": CASE_PATH,
        "before": {"kind": "parent"},
        "fails_on": ["reply_contains"],
        "proof": None,
        "status": "active",
    }
    return {key: value for key, value in {**fields, **changes}.items() if value is not None}


def regressions(**records: Mapping[str, Any]) -> str:
    """Return regressions.json; keywords are ids, an underscore for a dash."""
    named = {name.replace("_", "-"): fields for name, fields in records.items()}
    document = {"schema": "guard.regressions.v1", "incidents": {}, "regressions": named}
    return json.dumps(document, indent=2) + "\n"


def fix(**changes: str) -> dict[str, str]:
    """Return the files of the fix commit: the sentence, its case and its record."""
    files = {SKILL_PATH: FIXED, CASE_PATH: case(), "regressions.json": regressions(taxi=record())}
    return {**files, **changes}
