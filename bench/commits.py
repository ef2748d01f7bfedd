"""Whole commits, both hooks, on small and large repositories, beside other tools in one run.

Run alone: ``python -m bench.commits``. What counts is what a tool adds to a commit without hooks.
Hooks are exchanged between the commits of a round, all in one repository: so a busy machine, a
growing history and a warm cache are the same for all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.fixtures import CONFIG, git, write
from bench.peers import PEERS, STAGES, Peer, add_settings, find_peers, write_hook
from bench.timing import Spread, print_added, spread_of

SIZES = tuple(int(size) for size in os.environ.get("BENCH_SIZES", "20,5000,100000").split(","))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "15"))
NONE, EMPTY = "no hook", "two empty sh hooks"
QUIET, RULES = "guard, nothing guarded staged", "guard, rules on a touched skill"
SKILL = "skills/greeter/SKILL.md"
HEAD = "---\nname: greeter\ndescription: greets\n---\n"
#: Files of a repository whose index takes longer to read than git to start.
LARGE = 50_000
#: Files of a repository in one folder.
WIDTH = 50
MESSAGE = "docs: say more of it\n\nThis is what each of the tools takes for a good message.\n"
TRIES = 30
SIGN = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "b"), ("EMAIL", "b@example.com"))
}


class Way(NamedTuple):
    """One way to commit."""

    name: str
    hooks: Path
    """The folder that git takes its hooks from."""
    touched: str = "docs/page.md"


class Measured(NamedTuple):
    """What a size came to."""

    more: Spread
    """What a commit of nothing guarded takes more than with two empty hooks."""
    read: Spread
    """What it takes to start git and read the index."""


def measure_commits(folder: Path) -> None:
    """Measure all sizes; print what each way adds, and how that grows."""
    peers = find_peers()
    found: dict[int, Measured] = {}
    for size in SIZES:
        root = make_repository(folder / str(size), size)
        add_settings(root, [program for _, program in peers])
        ways = make_ways(root, folder / f"hooks-{size}", peers)
        rounds = ROUNDS if size <= 5000 else max(3, ROUNDS // 3)
        seconds = time_commits(root, ways, rounds)
        found[size] = Measured(seconds[QUIET].less(seconds[EMPTY]), time_index(root, rounds))
        report(size, seconds)
        shutil.rmtree(root)
    report_growth(found)


def make_repository(root: Path, size: int) -> Path:
    """A repository of ``size`` files, one of them a guarded skill that has no case yet."""
    root.mkdir(parents=True)
    git(root, "init", "-q")
    # Another process would else clean up beside a commit that is timed.
    for setting in ("gc.auto", "maintenance.auto"):
        git(root, "config", setting, "0" if setting == "gc.auto" else "false")
    own = {
        "guard.yaml": CONFIG.format(plugins="", argv="[cat, SKILL.md]"),
        SKILL: f"{HEAD}Say hello.\n",
        "docs/page.md": "text\n",
    }
    filler = range(max(0, size - len(own)))
    files = {f"src/{n // WIDTH**2}/{n // WIDTH}/file{n}.txt": f"{n}\n" for n in filler}
    write(root, {**own, **files})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "feat: base")
    git(root, "repack", "-a", "-d", "-q")
    return root


def make_ways(root: Path, folder: Path, peers: Sequence[tuple[Peer, str]]) -> list[Way]:
    """Make the hooks of each way in a folder of its own."""
    made = {name: folder / name for name in ("none", "empty", "guard")}
    for path in made.values():
        path.mkdir(parents=True)
    for stage in STAGES:
        write_hook(made["empty"] / stage, "exit 0\n")
    hooks = root / ".git" / "hooks"
    call = [sys.executable, "-P", "-m", "guard", "install"]
    subprocess.run(call, cwd=root, check=True, capture_output=True)
    for stage in STAGES:
        shutil.move(hooks / stage, made["guard"] / stage)
    ways = [Way(NONE, made["none"]), Way(EMPTY, made["empty"])]
    ways += [Way(QUIET, made["guard"]), Way(RULES, made["guard"], SKILL)]
    for peer, program in peers:
        shutil.rmtree(hooks)
        hooks.mkdir()
        (folder / peer.name).mkdir()
        peer.make(root, folder / peer.name, program)
        ways.append(Way(peer.name, folder / peer.name))
    shutil.rmtree(hooks)
    return ways


# Commits --------------------------------------------------------------------------------------


def time_commits(root: Path, ways: Sequence[Way], rounds: int) -> dict[str, Spread]:
    """Return name → what a commit took; the first round isn't counted."""
    seconds: dict[str, list[float]] = {way.name: [] for way in ways}
    for number in range(rounds + 1):
        for way in ways:
            taken = time_quiet(root, way) if way.name == QUIET else time_commit(root, way)
            if number:
                seconds[way.name].append(taken)
    return {name: spread_of(taken) for name, taken in seconds.items()}


def time_quiet(root: Path, way: Way) -> float:
    """Return the time of a commit that started no Python.

    The one before it may have: the skill was changed since.
    """
    for _ in range(TRIES):
        time_commit(root, way)
        taken = time_commit(root, way)
        # Python's own record has a digest on a second line.
        if (root / ".git" / "guard" / "judged").read_text(encoding="ascii").count("\n") == 1:
            return taken
        time.sleep(1)
    raise SystemExit("commits of nothing guarded keep starting Python: is guard being edited?")


def time_commit(root: Path, way: Way) -> float:
    """Stage a change, switch the hooks, commit; return the seconds of the commit alone."""
    with (root / way.touched).open("a", encoding="utf-8") as file:
        file.write(f"Line {time.monotonic_ns()}.\n")
    git(root, "add", way.touched)
    hooks = root / ".git" / "hooks"
    hooks.unlink(missing_ok=True)
    hooks.symlink_to(way.hooks)
    started = time.perf_counter()
    done = subprocess.run(
        ["git", "commit", "-q", "-m", MESSAGE],
        cwd=root,
        env=environment(root),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    taken = time.perf_counter() - started
    if done.returncode:
        said = (done.stdout + done.stderr).decode("utf-8", "replace")[-2000:]
        raise SystemExit(f"{way.name}: the commit was refused:\n{said}")
    return taken


def time_index(root: Path, rounds: int) -> Spread:
    """Return what git takes to start and to read the index."""
    seconds: list[float] = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        git(root, "ls-files", "no-such-file")
        seconds.append(time.perf_counter() - started)
    return spread_of(seconds[1:])


def environment(root: Path) -> Mapping[str, str]:
    """Return what a user's shell has: byte-code is kept, tools have a home for their caches."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GUARD_")}
    return {**kept, **SIGN, "PYTHONDONTWRITEBYTECODE": "", "HOME": str(root.parent)}


# Results --------------------------------------------------------------------------------------


def report(size: int, seconds: Mapping[str, Spread]) -> None:
    """Print what each way adds to a commit in a repository."""
    print(f"\n{size:,} files; a commit without hooks: {1000 * seconds[NONE].least:.1f} ms")
    added = {name: taken.less(seconds[NONE]) for name, taken in seconds.items() if name != NONE}
    for name, more in added.items():
        print(f"  {name:<38} adds {1000 * more.least:7.1f} ms ({1000 * more.median:.1f})")
    print_added(QUIET, added[QUIET], added[EMPTY], EMPTY, 4.5)
    if "prek" in added:
        print_added(QUIET, added[QUIET], added["prek"], "prek", 0.5 if size <= 5000 else 0)
    for peer in PEERS:
        if peer.name not in added:
            continue
        stages = len(peer.stages)
        per_stage = Spread(added[peer.name].least / stages, added[peer.name].median / stages)
        aim = 1 if peer.python else 0
        print_added(RULES, added[RULES], per_stage, f"{peer.name}, one stage", aim)


def report_growth(found: Mapping[int, Measured]) -> None:
    """Print how much more a large repository costs, in reads of its index."""
    small = min(found)
    # A smaller index is read in less time than anything here is measured to.
    for size in (size for size in found if size >= LARGE):
        grown = found[size].more.less(found[small].more)
        index = found[size].read.less(found[small].read)
        what = f"growth from {small} to {size:,} files"
        print_added(what, grown, index, "one read of the index", 2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="guard-bench-") as place:
        measure_commits(Path(place))
