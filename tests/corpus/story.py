"""Stories: scratch repositories with a known truth, and what the command line must say of them.

The agent is a shell script, its bug and its fix are a line each; a story changes one thing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo

Files = Mapping[str, str | bytes | None]
Build = Callable[[ScratchRepo], object]

SCRIPT = "agent/act.sh"
CASE = "evals/taxi.md"
RECORDS = "regressions.json"
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
#: A target whose answers vary: the gates decide.
VARYING = CONFIG.replace("deterministic: true", "deterministic: false")
BROKEN = "echo Booked 4600 crowns.\n"
FIXED = "echo Which currency?\n"
ASKS = '{reply_contains: ["Which currency"]}'


class Story(NamedTuple):
    """One repository, and the truth about its one record."""

    name: str
    build: Build
    verdict: str
    says: str = ""
    """In the report, whatever else is."""
    state: str | None = None
    """The rung that decides, where it matters."""
    twin: Build | None = None
    """The same repository with the one wrong thing mended: PROVEN."""
    command: tuple[str, ...] = ("verify",)
    code: int | None = None
    """Where it isn't the one that the verdict has with ``guard verify``."""
    hint: str = ""
    """The command that is printed below."""


def case(expected: str = ASKS, more: str = "", name: str = "taxi") -> str:
    """Return a case; ``more`` are further lines of its front matter."""
    return f"---\nid: {name}\nutterance: 400 euro\nexpected: {expected}\n{more}---\nIt converted.\n"


def record(**changes: Any) -> dict[str, Any]:
    """Return the record of the case, as a person types it."""
    fields: dict[str, Any] = {
        "agent": "clerk",
        "case": CASE,
        "before": {"kind": "parent"},
        "fails_on": ["reply_contains"],
        "status": "active",
    }
    return {**fields, **changes}


def records(**changes: Any) -> dict[str, str]:
    """Return regressions.json with the one record, changed."""
    document = {
        "schema": "guard.regressions.v1",
        "incidents": {},
        "regressions": {"taxi": record(**changes)},
    }
    return {RECORDS: json.dumps(document, indent=2) + "\n"}


def start(broken: str = BROKEN, config: str = CONFIG, **files: str) -> dict[str, str]:
    """Return the files of the first commit: the bug is in, nobody knows it yet."""
    return {"guard.yaml": config, SCRIPT: broken, "agent/budget.md": "taxi 400\n", **files}


def fix(fixed: str = FIXED, asked: str | None = None, **changes: Any) -> dict[str, str]:
    """Return the files of the fix: the agent, its case and its record."""
    return {SCRIPT: fixed, CASE: asked or case(), **records(**changes)}


def history(*commits: Files) -> Build:
    """Return what builds a repository commit by commit."""

    def build(repo: ScratchRepo) -> None:
        for number, files in enumerate(commits):
            repo.commit(f"commit {number}", files)

    return build


def asked_of(broken: str, expected: str, *keys: str, fixed: str = FIXED, more: str = "") -> Build:
    """Return the two commits of an agent with the case given."""
    return history(start(broken), fix(fixed, case(expected, more), fails_on=list(keys)))


def told(repo: ScratchRepo, *command: str) -> tuple[dict[str, Any], Outcome]:
    """Return what the JSON report says of the one record, and how the call ended."""
    kept = repo.root / ".git" / "report.json"
    read = call_guard(repo.root, *command, "--json", str(kept))
    report = json.loads(kept.read_text())
    assert report["exit_code"] == read.code, read
    (found,) = report["regressions"]
    return found, read
