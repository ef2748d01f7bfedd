"""A repository whose one regression was proven by `guard prove`: its observations are kept.

The agent is a shell script; the bug and its fix are what the test says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo

SCRIPT = "agent/act.sh"
CASE = "evals/taxi.md"
RECORDS = "regressions.json"
REJECTED = "regressions/taxi/rejected.json"
ACCEPTED = "regressions/taxi/accepted.json"
CHECKS = "evals/checks.py"
CONFIG = """\
version: 1
agents:
  clerk:
    paths: [agent/act.sh]
    workspace: agent
    target: command
    options: {argv: [sh, act.sh], deterministic: true}
    cases: [evals/*.md]
"""
#: What the agent does: the bug changes a file that nobody may change.
BROKEN = "sed -i s/400/457/ budget.md\necho booked 457\n"
FIXED = "echo which currency?\n"


def case(expected: str = "{no_changes: true, reply_contains: [currency]}", more: str = "") -> str:
    """Return the case's file; ``more`` are further lines of its front matter."""
    return f"---\nid: taxi\nutterance: 400 euro\nexpected: {expected}\n{more}---\nIt converted.\n"


def guard(repo: ScratchRepo, *arguments: str) -> Outcome:
    return call_guard(repo.root, *arguments)


def prove(
    repo: ScratchRepo,
    expected: str = "{no_changes: true, reply_contains: [currency]}",
    *,
    broken: str = BROKEN,
    fixed: str = FIXED,
    config: str = CONFIG,
    files: Mapping[str, str | bytes] = {},
    more: str = "",
) -> Outcome:
    """Commit the bug, and prove its fix; both sides are run by one call."""
    base = {"guard.yaml": config, SCRIPT: broken, "agent/budget.md": "taxi 400\n", **files}
    repo.commit("start", base)
    repo.write({CASE: case(expected, more), SCRIPT: fixed})
    proven = guard(repo, "prove", "taxi")
    assert proven.code == 0, proven
    return proven


def edit(repo: ScratchRepo, path: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a JSON file of the repository."""
    document = json.loads((repo.root / path).read_text())
    change(document)
    repo.write({path: json.dumps(document, indent=2) + "\n"})


def record_of(repo: ScratchRepo) -> dict[str, Any]:
    """Return the record as it is on disk."""
    found: dict[str, Any] = json.loads((repo.root / RECORDS).read_text())["regressions"]["taxi"]
    return found


def observation(repo: ScratchRepo, path: str = REJECTED) -> dict[str, Any]:
    """Return a kept observation."""
    found: dict[str, Any] = json.loads((repo.root / path).read_text())
    return found
