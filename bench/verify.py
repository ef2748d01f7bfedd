"""``guard verify`` of many records that receipts answer, beside reading those receipts.

Each record has a fix commit of its own: its skill gets one rule more, and the case looks for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.fixtures import git
from bench.history import commit_in_stream
from bench.timing import Command, print_ratio, time_commands

RECORDS = 500
ROUNDS = 5
AIM = 3
CONFIG = """\
  a{agent}:
    paths: [skills/a{agent}/**]
    target: command
    options: {{argv: [sh, -c, 'grep -qx "{{utterance}}" SKILL.md || : > broken']}}
    deterministic: true
    cases: [evals/a{agent}/*.md]
"""
CASE = "---\nid: {id}\nutterance: {rule}\nexpected:\n  no_changes: true\n---\nWhy it exists.\n"
#: All that reading them takes: the rows, their JSON, and whether each fits its own digest.
READING = """\
import hashlib, json, sqlite3, sys
used = "SELECT body FROM receipts WHERE kind = 'receipt' OR key LIKE 'kept:%'"
for (body,) in sqlite3.connect(sys.argv[1]).execute(used).fetchall():
    receipt = json.loads(body)
    digest = receipt.pop("digest")
    text = json.dumps(receipt, sort_keys=True, separators=(",", ":"))
    assert digest == "sha256:" + hashlib.sha256(text.encode()).hexdigest()
"""


class Shape(NamedTuple):
    """How records spread over agents."""

    agents: int
    each: int

    @property
    def said(self) -> str:
        """The shape in words."""
        of = f"{self.agents} agents of {self.each}" if self.agents > 1 else "one agent"
        return f"guard verify, {self.agents * self.each} records of {of}"


def measure_verify(folder: Path) -> None:
    """Verify twice: the first run makes the receipts, the second is timed."""
    for number, shape in enumerate((Shape(1, RECORDS), Shape(RECORDS // 10, 10))):
        root = make_retained(folder / f"verify{number}", shape)
        guard = [str(Path(sys.executable).parent / "guard"), "verify"]
        subprocess.run(guard, cwd=root, check=True, capture_output=True)
        store = str(root / ".git/guard/store.sqlite3")
        commands = [
            Command("verify", guard, str(root)),
            Command("reading", [sys.executable, "-I", "-S", "-c", READING, store], str(root)),
        ]
        seconds = time_commands(commands, ROUNDS)
        print_ratio(shape.said, seconds["verify"], seconds["reading"], "reading the receipts", AIM)


def make_retained(
    root: Path, shape: Shape, config: str = CONFIG, files: Mapping[str, str] = {}
) -> Path:
    """Make a repository of so many fixes, in one process of git.

    ``config`` is of one agent; ``files`` are plugins.
    """
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    stream = b"".join(_stream(shape, config, files))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=stream, check=True)
    git(root, "reset", "-q", "--hard", "main")
    return root


def _stream(shape: Shape, config: str, files: Mapping[str, str]) -> Iterator[bytes]:
    head = "version: 1\n" + "".join(f"plugins: [{path}]\n" for path in files)
    whole = head + "agents:\n" + "".join(config.format(agent=n) for n in range(shape.agents))
    first = {skill_path(agent): _rules(agent, 0) for agent in range(shape.agents)}
    yield commit_in_stream(0, "feat: base", {"guard.yaml": whole, **files, **first})
    records: dict[str, Any] = {}
    for number in range(shape.agents * shape.each):
        agent, rule = number % shape.agents, number // shape.agents + 1
        name = f"a{agent}-rule{rule}"
        records[name] = _record(agent, name)
        changed = {
            skill_path(agent): _rules(agent, rule),
            f"evals/a{agent}/{name}.md": CASE.format(id=name, rule=f"Rule {rule}."),
            "regressions.json": _document(records),
        }
        yield commit_in_stream(number + 1, f"fix(a{agent}): rule {rule}", changed)


def skill_path(agent: int) -> str:
    """Return where the skill of an agent stands."""
    return f"skills/a{agent}/SKILL.md"


def _rules(agent: int, count: int) -> str:
    head = f"---\nname: a{agent}\ndescription: follows rules\n---\n"
    return head + "".join(f"Rule {number}.\n" for number in range(1, count + 1))


def _record(agent: int, name: str) -> dict[str, Any]:
    return {
        "agent": f"a{agent}",
        "case": f"evals/a{agent}/{name}.md",
        "incident": {"summary": "it broke a rule", "date": "2026-01-01", "issue": None},
        "before": {"kind": "parent"},
        "fails_on": ["no_changes"],
        "proof": None,
        "status": "active",
        "retirement": None,
    }


def _document(records: dict[str, Any]) -> str:
    document: dict[str, Any] = {"schema": "guard.regressions.v1", "incidents": {}}
    return json.dumps({**document, "regressions": dict(sorted(records.items()))}, indent=2) + "\n"
