"""Memory over many trials of one agent in guard's own process: 1,000 beside 10,000.

By hand: ``python -m bench.memory``; or ``BENCH_MEMORY=1 make bench``. It takes minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.fixtures import git
from bench.timing import print_ratio

FEW, MANY = 1_000, 10_000
CASES = 100
AIM = 1.5
CONFIG = """\
version: 1
plugins: [plugins/talker.py]
agents:
  talker:
    paths: [skills/talker/**]
    target: talker
    cases: [evals/*.md]
"""
#: Each trial prints 8 KB.
PLUGIN = """\
from guard.plugin import Observation, Target, hookimpl


def run(trial):
    return Observation(stdout=str(trial.number) + "tea " * 2000, loaded=True)


@hookimpl
def guard_targets():
    return [Target("talker", run, "a function")]
"""
CASE = "---\nid: case{number}\nutterance: hello\nexpected: {{no_changes: true}}\n---\nWhy.\n"
RUN = """\
import resource, sys
from guard.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def measure_memory(folder: Path) -> None:
    """Print the ratio of the peaks."""
    root = _make_repository(folder)
    few, many = _peak(root, FEW), _peak(root, MANY)
    print_ratio(f"guard run, peak memory of {MANY:,} trials", many, few, f"of {FEW:,}", AIM)


def _make_repository(root: Path) -> Path:
    files = {f"evals/case{n}.md": CASE.format(number=n) for n in range(CASES)}
    files |= {"guard.yaml": CONFIG, "plugins/talker.py": PLUGIN, "skills/talker/SKILL.md": "tea\n"}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "feat: base")
    return root


def _peak(root: Path, trials: int) -> float:
    """Return the peak of a run's resident memory, in KiB (bytes on macOS)."""
    each = str(trials // CASES)
    command = [sys.executable, "-c", RUN, "run", "--no-cache", "--trials", each]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"guard run ended in {done.returncode}:\n{done.stderr[-2000:]}")
    return float(done.stderr.split()[-1])


def measure_where_asked(folder: Path) -> None:
    """Do so where ``BENCH_MEMORY`` is set."""
    if os.environ.get("BENCH_MEMORY"):
        measure_memory(folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="guard-bench-") as made:
        measure_memory(Path(made))
