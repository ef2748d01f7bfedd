"""Reading 10,000 Markdown cases, cold and from the index, beside a bare CSafeLoader loop."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import yaml

from bench.fixtures import CASE, CONFIG, git, write

COUNT = 10_000
CASES = CASE.replace(
    "expected:\n",
    "preconditions:\n  - file_exists: a.md\n  - no_match_word: EUR\n"
    "input: {{amount: 12, currency: EUR}}\ntype: negative\nexpected:\n"
    "  reply_contains: [ask, currency]\n",
)
LOAD = """
import time
from guard.session import Session
with Session.open() as session:
    tree = session.tree("HEAD")
    tree.entries()
    project = session.project_of(tree)
    project.agents
    started = time.perf_counter()
    assert len(project.cases) == {count}
    print(time.perf_counter() - started)
"""


def loading_ratios(folder: Path) -> Iterator[tuple[str, float, float]]:
    """Yield (what, ratio to the bare loop, aim)."""
    root = folder / "loading"
    root.mkdir()
    git(root, "init", "-q")
    files = {f"evals/{n % 100}/case{n}.md": CASES.format(id=f"c{n}") for n in range(COUNT)}
    config = CONFIG.format(plugins="", argv="[cat]").replace("evals/*.md", "evals/**/*.md")
    write(root, {**files, "guard.yaml": config})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "feat: cases")
    bare = min(_bare_loop(root) for _ in range(3))
    cold = min(_load_cold(root) for _ in range(3))
    warm = min(_load(root) for _ in range(3))
    yield "10,000 Markdown cases, cold", cold / bare, 1.5
    yield "10,000 Markdown cases, warm", warm / bare, 0.15


def _bare_loop(root: Path) -> float:
    started = time.perf_counter()
    for path in root.glob("evals/*/*.md"):
        yaml.load(path.read_text(encoding="utf-8").split("---\n")[1], Loader=yaml.CSafeLoader)
    return time.perf_counter() - started


def _load_cold(root: Path) -> float:
    shutil.rmtree(root / ".git" / "guard", ignore_errors=True)
    return _load(root)


def _load(root: Path) -> float:
    code = LOAD.format(count=COUNT)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    return float(done.stdout)
