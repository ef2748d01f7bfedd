"""A program can reach the process that started it; neither guard nor the next one suffers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from guard.errors import TargetError
from guard.process import run
from guard.trials.environment import TAG
from guard.trials.launching import OWN_MOUNT, state_of
from guard.trials.sandbox import Launcher, Layout, probe_namespaces
from tests.staging import is_alive

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has it")
needs_namespaces = pytest.mark.skipif(
    bool(probe_namespaces()), reason="this machine gives no mount namespaces"
)
#: Whoever the kernel takes for the owner of the namespace may mount there.
needs_mounts = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount in it")


@pytest.fixture
def launcher() -> Generator[Launcher]:
    """A launcher without a namespace."""
    made = Launcher(None)
    yield made
    made.close()


@pytest.fixture
def apart() -> Generator[Launcher]:
    """A launcher in a namespace of its own."""
    made = Launcher(Layout((), ()))
    yield made
    made.close()


def sh(launcher: Launcher, script: str, folder: str = "/", timeout: float = 30) -> str:
    env = {"PATH": os.environ["PATH"], TAG: folder}
    return run(launcher, ["sh", "-c", script], folder, env, timeout).finished.stdout


def pid_of(launcher: Launcher) -> int:
    return int(sh(launcher, "echo $PPID"))


def python(code: str) -> str:
    """A command that knows its launcher as P."""
    return (
        f"{sys.executable} -c 'import os, resource as r, sys; P = int(sys.argv[1]); {code}' $PPID"
    )


# One that is stopped --------------------------------------------------------------------------


def test_a_program_that_stops_its_parent_ends_as_any_other(launcher: Launcher) -> None:
    before, began = pid_of(launcher), time.monotonic()
    assert launcher.clean(0) == ()
    assert pid_of(launcher) == before
    assert sh(launcher, "kill -STOP $PPID; echo done") == "done\n"
    assert launcher.clean(0) == ()
    assert time.monotonic() - began < 10
    assert (launcher.usable, pid_of(launcher) == before) == (True, False)
    assert not is_alive(before)


def test_its_time_out_holds_though_it_stops_its_parent(launcher: Launcher) -> None:
    began = time.monotonic()
    env = {"PATH": os.environ["PATH"]}
    # What it prints keeps guard from looking out of boredom.
    script = "kill -STOP $PPID; while :; do echo; sleep 0.1; done"
    assert run(launcher, ["sh", "-c", script], "/", env, 1).timed_out
    assert time.monotonic() - began < 8


def test_one_that_is_stopped_again_and_again_is_killed_with_all_below_it(
    launcher: Launcher, tmp_path: Path
) -> None:
    pid, note = pid_of(launcher), tmp_path / "pid"
    stop = f"echo $$ >{note}; while :; do kill -STOP {pid}; done"
    began = time.monotonic()
    with pytest.raises(TargetError, match="was killed"):
        sh(launcher, f"env -i setsid sh -c '{stop}' & sleep 60", str(tmp_path))
    assert int(note.read_text()) in launcher.clean(0)
    assert time.monotonic() - began < 15
    assert not any(map(is_alive, (pid, int(note.read_text()))))
    assert not launcher.usable


def test_one_that_is_stopped_when_it_is_closed_ends(launcher: Launcher) -> None:
    os.kill(pid_of(launcher), signal.SIGSTOP)
    began = time.monotonic()
    launcher.close()
    assert time.monotonic() - began < 5


def test_one_that_is_stopped_takes_a_long_message(launcher: Launcher, tmp_path: Path) -> None:
    os.kill(pid_of(launcher), signal.SIGSTOP)
    env = {"PATH": os.environ["PATH"], **{f"V{n}": "x" * 100_000 for n in range(10)}}
    script = 'printf %s "$V9" | wc -c'
    done = run(launcher, ["sh", "-c", script], str(tmp_path), env, 30)
    assert done.finished.stdout.split() == ["100000"]


def test_what_nobody_wrote_is_no_answer(launcher: Launcher) -> None:
    script = "for fd in /proc/$PPID/fd/*; do echo ended x >$fd; done 2>/dev/null; sleep 60"
    with pytest.raises(TargetError, match="was killed"):
        sh(launcher, script)


GUARD = """
import os, sys
from guard.process import run
from guard.trials.sandbox import Launcher, Layout
launcher = Launcher(eval(sys.argv[2]))
script = f"{sys.argv[3]}; echo $PPID $$ >{sys.argv[1]}; setsid sleep 60 & wait"
run(launcher, ["sh", "-c", script], "/", dict(os.environ), 60)
"""


@pytest.mark.parametrize("layout", ["None", pytest.param("Layout((), ())", marks=needs_namespaces)])
@pytest.mark.parametrize("damage", [":", "(while kill -STOP $PPID; do sleep 0.2; done) &"])
def test_a_stopped_launcher_does_not_outlive_guard(
    tmp_path: Path, layout: str, damage: str
) -> None:
    note = tmp_path / "pids"
    guard = subprocess.Popen([sys.executable, "-P", "-c", GUARD, str(note), layout, damage + " :"])
    deadline = time.monotonic() + 20
    while not (note.exists() and note.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pids = [int(word) for word in note.read_text().split()]
    time.sleep(0.1)
    assert all(map(is_alive, pids))
    guard.send_signal(signal.SIGKILL)
    guard.wait()
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(is_alive, pids))


# One that is changed ---------------------------------------------------------------------------

NICE = python("os.setpriority(0, P, 7)")
LIMIT = python("r.prlimit(P, r.RLIMIT_NOFILE, (77, 77))")
OOM = "echo 999 >/proc/$PPID/oom_score_adj"
CPU = python("os.sched_setaffinity(P, {min(os.sched_getaffinity(0))})")
BATCH = python("os.sched_setscheduler(P, os.SCHED_BATCH, os.sched_param(0))")
OWN = python("os.nice(3); r.setrlimit(r.RLIMIT_NOFILE, (77, 77))")
CLASS = python("print(os.sched_getaffinity(0), os.sched_getscheduler(0))")
SAY = f"nice; ulimit -n; cat /proc/$PPID/oom_score_adj; {CLASS}"


@pytest.mark.parametrize(
    "damage", [NICE, LIMIT, OOM, BATCH, CPU], ids=["nice", "limit", "oom", "batch", "cpu"]
)
def test_what_a_program_makes_of_its_parent_does_not_reach_the_next(
    launcher: Launcher, damage: str
) -> None:
    said, before = sh(launcher, SAY), pid_of(launcher)
    if damage == CPU and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("there is only one processor")
    sh(launcher, damage)
    assert sh(launcher, SAY) != said
    assert launcher.clean(0) == ()
    assert sh(launcher, SAY) == said
    assert pid_of(launcher) != before


@pytest.mark.parametrize(
    "harmless", [":", OWN, "umask 077; cd /tmp", "sleep 60 &"], ids=["none", "own", "mask", "left"]
)
def test_what_a_program_makes_of_itself_costs_no_new_launcher(
    launcher: Launcher, harmless: str
) -> None:
    before = pid_of(launcher)
    sh(launcher, harmless)
    launcher.clean(0)
    assert pid_of(launcher) == before


@needs_namespaces
@needs_mounts
@pytest.mark.parametrize(
    "damage", ["mount -t tmpfs t {}", "mount --bind /dev/null {}/file", "mount --make-shared /"]
)
def test_what_a_program_mounts_does_not_reach_the_next(
    apart: Launcher, tmp_path: Path, damage: str
) -> None:
    (tmp_path / "file").write_text("here\n")
    say = f"cat {tmp_path}/file; grep -c shared: /proc/self/mountinfo"
    said, before = sh(apart, say), pid_of(apart)
    sh(apart, f"unshare -m {damage.format(tmp_path)}; :")
    apart.clean(0)
    assert pid_of(apart) == before
    sh(apart, damage.format(tmp_path))
    assert sh(apart, say) != said
    apart.clean(0)
    assert sh(apart, say) == said
    assert pid_of(apart) != before


@needs_namespaces
def test_one_that_cannot_be_replaced_is_not_used_again(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    launcher = Launcher(Layout((), ((str(tmp_path / "kept"), True),)))
    assert launcher.namespace_problem == ""
    os.rmdir(tmp_path / "kept")
    sh(launcher, LIMIT)
    launcher.clean(0)
    assert not launcher.usable
    launcher.close()


def test_what_guard_mounts_is_no_change() -> None:
    run_folder = b"/dev/shm/guard-0/run-12-345-abcdef"
    trial = run_folder + b"/slot3/0123456789abcdef"
    assert OWN_MOUNT.search(trial)
    assert OWN_MOUNT.search(run_folder + b"/probe2/ws")
    for other in (trial + b"/ws/x", run_folder + b"/slot3", b"/slot3/0123456789abcdef", b"/x"):
        assert not OWN_MOUNT.search(other)


def test_the_state_of_one_that_is_gone_is_another() -> None:
    assert state_of(os.getpid()) != state_of(2**22 + 1)
