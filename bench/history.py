"""A long history, made at once, and judged beside git's own reading of the same history."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.fixtures import CASE, CONFIG, git
from bench.timing import Command, print_ratio, time_commands

COMMITS = int(os.environ.get("BENCH_COMMITS", "5000"))
FILES = 300
#: Times what git takes to list all that changed.
AIM = 60
SKILL = "skills/greeter/SKILL.md"
CASES = "evals/case{}.md"
HEAD = "---\nname: greeter\ndescription: greets\n---\n"
AUTHOR = "b <b@example.com>"


def measure_history(folder: Path) -> None:
    """``guard ci`` over a whole history, beside ``git log --raw`` of it.

    Its rules: no case is run. Every third commit touches a skill, so that its old and its new
    text are read and compared.
    """
    root = make_history(folder / "history", COMMITS, FILES)
    first = subprocess.run(
        ["git", "rev-list", "--max-parents=0", "HEAD"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    ours = [str(Path(sys.executable).parent / "guard"), "ci", "--base", first, "--report-only"]
    commands = [
        Command("ci", [*ours, "--max-seconds", "0"], str(root)),
        Command("log", ["git", "log", "--raw", "-z", "--no-renames"], str(root)),
    ]
    seconds = time_commands(commands, 3)
    what = f"guard ci, {COMMITS} commits of {FILES} files"
    print_ratio(what, seconds["ci"], seconds["log"], "git log --raw", AIM)


def make_history(root: Path, commits: int, files: int = FILES, *, careless: bool = False) -> Path:
    """Make a repository of so many commits on branch main, in one process of git.

    Of ten commits one is a fix with its case and record, two more touch the skill, and seven
    touch other files. ``careless``: every fifth fix forgets its record.
    """
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    stream = b"".join(_stream(commits, files, careless=careless))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=stream, check=True)
    git(root, "reset", "-q", "--hard", "main")
    return root


def _stream(commits: int, files: int, *, careless: bool) -> Iterator[bytes]:
    first = {f"src/part{n % 17}/file{n}.txt": f"file {n}\n" for n in range(files - 3)}
    first |= {"guard.yaml": CONFIG.format(plugins="", argv='["true"]'), SKILL: _skill(0)}
    yield commit_in_stream(0, "feat: base", {**first, "regressions.json": _records(())})
    known: list[int] = []
    for number in range(1, commits):
        if number % 10 == 3:
            if not (careless and number % 50 == 3):
                known.append(number)
            changed = {
                SKILL: _skill(number),
                CASES.format(number): CASE.format(id=f"case{number}"),
                "regressions.json": _records(known),
            }
            yield commit_in_stream(number, f"fix(greeter): mend {number}", changed)
        elif number % 10 in (6, 9):
            yield commit_in_stream(number, f"feat(greeter): say {number}", {SKILL: _skill(number)})
        else:
            at = number * 7 % (files - 3)
            path = f"src/part{at % 17}/file{at}.txt"
            yield commit_in_stream(number, f"docs: text {number}", {path: f"{number}\n"})


def _skill(number: int) -> str:
    """Return a skill of forty lines, of which each version rewords two."""
    lines = [f"Rule {n}: greet guests by their name, and never lie to them." for n in range(40)]
    lines[number % 40] = f"Rule {number}: say hello in {number} words, then stop and wait."
    lines[number * 3 % 40] = f"Rule {number}: never promise more than {number} things."
    return HEAD + "\n".join(lines) + "\n"


def _records(numbers: list[int] | tuple[()]) -> str:
    records: dict[str, Any] = {
        f"case{number}": {
            "agent": "greeter",
            "case": CASES.format(number),
            "incident": {"summary": f"it lied {number} times", "date": "2026-01-01", "issue": None},
            "before": {"kind": "parent"},
            "fails_on": ["no_changes"],
            "proof": None,
            "status": "active",
            "retirement": None,
        }
        for number in numbers
    }
    document = {"schema": "guard.regressions.v1", "incidents": {}, "regressions": records}
    return json.dumps({**document, "regressions": dict(sorted(records.items()))}, indent=2) + "\n"


def commit_in_stream(number: int, message: str, changed: dict[str, str]) -> bytes:
    """Return one commit as ``git fast-import`` reads it."""
    lines = [
        b"commit refs/heads/main",
        f"committer {AUTHOR} {1_600_000_000 + 60 * number} +0000".encode(),
        _data(message),
        *(f"M 100644 inline {path}\n".encode() + _data(text) for path, text in changed.items()),
    ]
    return b"\n".join(lines) + b"\n"


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s" % (len(content), content)
