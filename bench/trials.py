"""What a trial costs beside its agent: guard, pytest with a copied folder, a bare call.

Of pytest the difference between many tests and one, so that its start counts for none; of guard
whole trials in one process. ``python -m bench.trials REPOSITORY`` prints the parts of one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.fixtures import CASE, CONFIG, git
from bench.timing import Command, print_ratio, time_commands

#: Files in the agent's folder → trials that are timed.
SIZES = {100: 40, 2_000: 20, 20_000: 6}
WAYS = ("overlay", "pool", "fresh")
SHELL = '["sh", "-c", ":"]'
SOURCE = "skills/greeter"

PEER = """\
import shutil, subprocess, pytest


@pytest.mark.parametrize("number", range({count}))
def test_case(number, tmp_path):
    workspace = tmp_path / "ws"
    shutil.copytree({source!r}, workspace, symlinks=True)
    done = subprocess.run(["sh", "-c", ":"], cwd=workspace, capture_output=True, timeout=300)
    assert done.returncode == 0
"""


def measure_trials(folder: Path, rounds: int = 3) -> None:
    """Print the overhead of a trial at each size, and its parts for each kind of workspace."""
    for files, count in SIZES.items():
        root = make_folder(folder / str(files), files)
        _compare(root, files, count, rounds)
        for way in WAYS:
            _print_parts(files, _parts(root, way))


def _compare(root: Path, files: int, count: int, rounds: int) -> None:
    """Print what is added to the agent's own time, beside what pytest adds, and a bare call."""
    with tempfile.TemporaryDirectory(dir=_memory()) as scratch:
        commands = [_pytest(root, Path(scratch), trials) for trials in (1, count)]
        seconds = time_commands(commands, rounds)
    theirs = (seconds[f"pytest {count}"] - seconds["pytest 1"]) / (count - 1)
    parts = _parts(root, "")
    whole, bare = parts["whole trial"], parts["bare"]
    what = f"one trial, {files} files"
    print_ratio(what, whole - bare, theirs - bare, "pytest, copied folder", 0.5)
    print_ratio(what, whole, bare, "a bare call", 30)


def _parts(root: Path, way: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "bench.trials", str(root)],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "GUARD_WORKSPACES": way},
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _print_parts(files: int, parts: dict[str, float]) -> None:
    bare, way = parts.pop("bare"), parts.pop("way")
    shown = "  ".join(f"{name} {seconds / bare:6.2f}" for name, seconds in parts.items())
    print(f"  {files} files, {way}, x a bare call: {shown}", flush=True)


def _pytest(root: Path, scratch: Path, trials: int) -> Command:
    test = scratch / f"test_peer_{trials}.py"
    test.write_text(PEER.format(count=trials, source=str(root / SOURCE)), encoding="utf-8")
    call = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    # In memory too; what it keeps of earlier runs would be removed in the next one's time.
    kept = ["--basetemp", str(scratch / "tmp"), "-o", "tmp_path_retention_policy=none"]
    quiet = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return Command(f"pytest {trials}", [*call, *kept, str(test)], str(scratch), quiet)


def make_folder(root: Path, files: int) -> Path:
    """Make a repository whose agent has so many files, 5 kB each, and one case."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    stream = b"".join(_stream(files))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=stream, check=True)
    git(root, "reset", "-q", "--hard", "main")
    return root


def _stream(files: int) -> Iterator[bytes]:
    yield b"commit refs/heads/main\ncommitter b <b@example.com> 1600000000 +0000\ndata 4\nbase\n"
    yield _file("guard.yaml", CONFIG.format(plugins="", argv=SHELL))
    yield _file("evals/one.md", CASE.format(id="one"))
    for number in range(files):
        name = f"{SOURCE}/part{number % 40}/group{number // 40 % 25}/file{number}.md"
        yield _file(name, f"Line {number} of a text that is no better than others.\n" * 90)


def _file(path: str, text: str) -> bytes:
    data = text.encode()
    return f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def time_parts(root: str, trials: int = 7) -> dict[str, float | str]:
    """Return the least seconds that each part of a trial takes here."""
    from guard.engine import Engine
    from guard.session import Session
    from guard.trials import own_mounts
    from guard.trials import trial as module
    from guard.workspace import Reuse

    own_mounts.enter()
    with Session.open(root) as session, Engine(session.project("index")) as engine:
        case = next(iter(engine.project.cases.values()))
        stage = engine.stage(engine.project.agents[case.agent])
        one = module.run_trial(stage, case, 1)
        parts: dict[str, list[float]] = {}
        for number in range(trials):
            with stage.slot() as slot:
                clock = _Clock(parts)
                workspace = stage.lay(slot, f"t{number}", ())
                clock.note("set-up")
                changes = workspace.changes(workspace.scan(time.time_ns()))
                clock.note("diff")
                workspace.remove(Reuse.AS_LISTED)
                clock.note("removal")
                assert not changes.files
            clock = _Clock(parts)
            subprocess.run(["sh", "-c", ":"], check=True, capture_output=True, timeout=60)
            clock.note("bare")
            module.run_trial(stage, case, 2)
            clock.note("whole trial")
        found: dict[str, float | str] = {name: min(taken) for name, taken in parts.items()}
        return {**found, "way": one.isolation.rpartition(" + ")[2]}


class _Clock:
    def __init__(self, parts: dict[str, list[float]]) -> None:
        self._parts = parts
        self._last = time.perf_counter()

    def note(self, name: str) -> None:
        now = time.perf_counter()
        self._parts.setdefault(name, []).append(now - self._last)
        self._last = time.perf_counter()


if __name__ == "__main__":
    print(json.dumps(time_parts(sys.argv[1])))
