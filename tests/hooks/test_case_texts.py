"""A commit and a push are refused for what a case states and nothing reads, or can excuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ScratchRepo
from tests.hooks.installed import GOOD_TALK, TALK, Installed, make_installed

CONFIG = """\
version: 1
agents:
  talk:
    paths: [skills/talk/**]
    target: command
    options: {argv: [cat, SKILL.md], deterministic: true}
    cases: [evals/*.json]
    evaluators: [EVALUATOR]
"""
CHECKS = """\
from guard.plugin import evaluator


@evaluator(reads=("tone",))
def tone(observation, expected):
    return expected["tone"] in observation.reply


def plain(observation, expected):
    return {"key": "tone", "score": expected["tone"] in observation.reply}
"""
FILE = "evals/talk.json"


def talks(outputs: dict[str, Any], **metadata: Any) -> dict[str, str | bytes | None]:
    one = {"id": "greets", "inputs": {}, "outputs": outputs, "metadata": metadata}
    return {FILE: json.dumps({"examples": [one]}, indent=1)}


CALM = talks({"tone": "hello"})
UNDECLARED = talks({"tone": "hello", "tne": "hello"})
EXCUSED = talks({"tone": "hello"}, expected_baseline=[{"failing_keys": ["timeout"]}])


def installed_with(repo: ScratchRepo, evaluator: str, folder: Path) -> Installed:
    """Return the repository with its hooks, an evaluator, and a remote `up` that has main."""
    agent = {"guard.yaml": CONFIG.replace("EVALUATOR", f"evals/checks.py:{evaluator}")}
    found = make_installed(repo, {**agent, TALK: GOOD_TALK, "evals/checks.py": CHECKS, **CALM})
    found.git("init", "-q", "--bare", str(folder / "up"))
    found.git("remote", "add", "up", str(folder / "up"))
    found.git("push", "-q", "--no-verify", "up", "main")
    return found


@pytest.mark.parametrize(
    ("evaluator", "files", "said"),
    [
        ("tone", UNDECLARED, "reads `tne`, which greets states; did you mean `tone`?"),
        ("plain", UNDECLARED, "read `tne`, which greets states, when they were run"),
        ("tone", EXCUSED, "excuses `timeout`, which is never excused"),
    ],
)
def test_a_commit_and_a_push(
    repo: ScratchRepo, tmp_path: Path, evaluator: str, files: dict[str, str], said: str
) -> None:
    installed = installed_with(repo, evaluator, tmp_path)
    rule = "impossible-baseline" if "excuses" in said else "dead-expectation"
    installed.stage(files)
    refused = installed.refuse("test: more")
    assert f"guard: refused: {FILE}:" in refused
    assert said in refused
    assert f"({rule})" in refused
    assert refused.count("\n") <= 10
    installed.bypass("test: more", files)
    done = installed.run("git", "push", "up", "main")
    assert done.returncode != 0
    assert f"guard: not pushed: {FILE}:" in done.stderr
    assert said in done.stderr
    ci = installed.guard("ci", "--base", "up/main")
    assert ci.returncode == 1
    assert said in ci.stdout
    assert ci.stdout.count(said) == 1
    # Made good, all three let it go.
    installed.stage(CALM)
    installed.accept("test: as it was")
    assert installed.run("git", "push", "up", "main").returncode == 0


def test_what_states_nothing_is_ungraded(repo: ScratchRepo, tmp_path: Path) -> None:
    installed = installed_with(repo, "tone", tmp_path)
    installed.stage(talks({}))
    assert "UNGRADED" in installed.accept("test: nothing")
    done = installed.run("git", "push", "up", "main")
    assert done.returncode != 0
    assert "has no evidence" in done.stderr
    ci = installed.guard("ci", "--base", "up/main")
    assert ci.returncode == 1  # its evaluator has nothing to do either
    assert "UNGRADED" in ci.stdout
