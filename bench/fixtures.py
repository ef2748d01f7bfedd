"""Repositories to measure on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

AGENT = "import pathlib; print(pathlib.Path('SKILL.md').read_text())\n"
CONFIG = """\
version: 1
{plugins}agents:
  greeter:
    paths: [skills/greeter/**]
    target: command
    options: {{argv: {argv}, deterministic: true}}
    cases: [evals/*.md]
    trials: 1
"""
PLUGIN = """\
from guard.plugin import hookimpl


@hookimpl
def guard_is_fix(commit):
    return "it says mend" if commit.message.startswith("mend") else None
"""
CASE = "---\nid: {id}\nutterance: hello\nexpected:\n  no_changes: true\n---\nWhy it exists.\n"
RECORD = """\
{
  "schema": "guard.regressions.v1",
  "incidents": {},
  "regressions": {
    "one": {
      "agent": "greeter",
      "case": "evals/one.md",
      "incident": {"summary": "it lied", "date": "2026-01-01", "issue": null},
      "before": {"kind": "parent"},
      "fails_on": ["no_changes"],
      "proof": null,
      "status": "active",
      "retirement": null
    }
  }
}
"""


def git(root: Path, *args: str) -> None:
    """Run git in a repository with settings of its own."""
    settings = ["-c", "user.name=b", "-c", "user.email=b@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *args], cwd=root, check=True, capture_output=True)


def write(root: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def touched_skill(root: Path, *, plugin: bool) -> Path:
    """A repository in which a fix is staged: the skill, its case and its record."""
    root.mkdir()
    git(root, "init", "-q")
    files = {f"docs/page{number}.md": "text\n" for number in range(15)}
    named = "plugins: [evals/guard_plugin.py]\n" if plugin else ""
    files["guard.yaml"] = CONFIG.format(plugins=named, argv="[cat, SKILL.md]")
    files["skills/greeter/SKILL.md"] = "---\nname: greeter\ndescription: greets\n---\nSay hello.\n"
    if plugin:
        files["evals/guard_plugin.py"] = PLUGIN
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "feat: base")
    write(
        root,
        {
            "skills/greeter/SKILL.md": files["skills/greeter/SKILL.md"] + "Never lie to anyone.\n",
            "evals/one.md": CASE.format(id="one"),
            "regressions.json": RECORD,
            ".git/message": "fix: say hello and never lie\n",
        },
    )
    git(root, "add", "-A")
    return root


def trivial_cases(root: Path, count: int) -> Path:
    """A repository with ``count`` cases of an agent of 20 files that does nothing."""
    root.mkdir()
    git(root, "init", "-q")
    files = {f"skills/greeter/part{number}.md": "text\n" * 20 for number in range(20)}
    files["guard.yaml"] = CONFIG.format(plugins="", argv='["true"]')
    files |= {f"evals/case{number}.md": CASE.format(id=f"c{number}") for number in range(count)}
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "feat: base")
    return root


PYTEST_CASES = """\
import shutil, subprocess, pathlib, pytest
SOURCE = pathlib.Path(__file__).parent / "skills" / "greeter"


@pytest.mark.parametrize("number", range({count}))
def test_case(number, tmp_path):
    workspace = tmp_path / "ws"
    shutil.copytree(SOURCE, workspace)
    done = subprocess.run(["true"], cwd=workspace, capture_output=True, timeout=300)
    assert done.returncode == 0
    before = {{p.name: p.read_bytes() for p in SOURCE.iterdir()}}
    assert {{p.name: p.read_bytes() for p in workspace.iterdir()}} == before
"""


def pytest_peer(root: Path, count: int) -> str:
    """Write the same cases as pytest tests; return the file."""
    path = root / f"test_peer_{count}.py"
    path.write_text(PYTEST_CASES.format(count=count), encoding="utf-8")
    return os.fspath(path)
