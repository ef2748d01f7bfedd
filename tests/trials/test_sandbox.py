from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from guard.errors import TargetError
from guard.process import run
from guard.trials import launcher, sandbox
from guard.trials.children import DirectStarter
from guard.trials.environment import TAG
from guard.trials.launching import LauncherProcess
from guard.trials.sandbox import (
    BY_TAG_ONLY,
    CONTROLLED,
    NOT_CONTROLLED,
    Layout,
    Sandbox,
    open_sandbox,
    plan_hidden,
    plan_kept,
)
from tests.staging import is_alive

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has it")
needs_namespaces = pytest.mark.skipif(
    bool(sandbox.probe_namespaces()), reason="this machine gives no mount namespaces"
)


@pytest.fixture
def opened() -> Generator[list[Sandbox]]:
    """Sandboxes that the test opened, closed after it."""
    made: list[Sandbox] = []
    yield made
    for each in made:
        each.starter.close()


def sh(box: Sandbox, script: str, folder: Path, timeout: float = 20) -> str:
    env = {"PATH": os.environ["PATH"], TAG: str(folder)}
    return run(box.starter, ["sh", "-c", script], str(folder), env, timeout).finished.stdout


# What is hidden, and what stays -------------------------------------------------------------


def test_a_checkout_is_hidden_but_not_one_that_holds_home(tmp_path: Path) -> None:
    checkout, home = str(tmp_path / "repo"), str(tmp_path / "home")
    assert plan_hidden([checkout, "", checkout], home) == (os.path.realpath(checkout),)
    assert plan_hidden([checkout], checkout) is None
    assert plan_hidden([checkout], checkout + "/home") is None
    assert plan_hidden([str(tmp_path)], home) is None
    assert plan_hidden(["/"], home) is None


def test_environments_on_path_stay(tmp_path: Path) -> None:
    for name in (".venv/bin", "node_modules/.bin", "bin", "other/bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".venv/pyvenv.cfg").touch()
    names = (".venv/bin", "node_modules/.bin", "bin", "other/bin")
    path = ":".join([*(str(tmp_path / name) for name in names), "/usr/bin"])
    kept = plan_kept([str(tmp_path)], path, "")
    assert kept == ((str(tmp_path / ".venv"), True), (str(tmp_path / "node_modules"), True))
    assert plan_kept(["/elsewhere"], path, "") == ()


def test_the_agents_own_interpreter_stays_with_its_base(tmp_path: Path) -> None:
    base, venv = tmp_path / "pythons/3.12", tmp_path / "env"
    for folder in (base, venv):
        (folder / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").touch()
    (base / "bin/python3").touch()
    (venv / "bin/python").symlink_to(base / "bin/python3")
    kept = plan_kept([str(tmp_path)], "/usr/bin", str(venv / "bin/python"))
    assert kept == ((str(venv), True), (str(base), True))


# Namespaces ---------------------------------------------------------------------------------


@needs_namespaces
def test_hidden_folders_are_empty_and_kept_ones_are_there(
    tmp_path: Path, opened: list[Sandbox]
) -> None:
    for name in ("hidden/secret", "hidden/slot", "hidden/deep/er/repo", "seen"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "hidden/deep/er/repo/f").write_text("read me\n")
    hidden, slot = tmp_path / "hidden", tmp_path / "hidden/slot"
    repo = tmp_path / "hidden/deep/er/repo"
    layout = Layout((str(hidden),), ((str(slot), False), (str(repo), True)))
    opened.append(box := open_sandbox(layout))
    assert (box.controlled, box.isolation) == (True, CONTROLLED)
    assert sh(box, f"ls {hidden}; cat {repo}/f", slot) == "deep\nslot\nread me\n"
    refused = f"(echo x >{hidden}/x) 2>&1 | grep -c Read-only; (echo x >{repo}/x) 2>&1 | grep -c Re"
    assert sh(box, refused, slot) == "1\n1\n"
    sh(box, f"echo x >x; echo y >{tmp_path}/seen/y", slot)
    assert (slot / "x").exists()
    assert (tmp_path / "seen/y").exists()
    assert (hidden / "secret").exists()


@needs_namespaces
def test_no_mount_can_be_undone_from_inside(tmp_path: Path, opened: list[Sandbox]) -> None:
    (tmp_path / "hidden/slot").mkdir(parents=True)
    (tmp_path / "hidden/secret").touch()
    slot = tmp_path / "hidden/slot"
    opened.append(box := open_sandbox(Layout((str(slot.parent),), ((str(slot), False),))))
    script = f"umount {slot.parent}; umount -l {slot.parent}; mount -o remount,rw {slot.parent}; "
    assert sh(box, f"({script}) 2>/dev/null; ls {slot.parent}; id -u", slot) == (
        f"slot\n{os.getuid()}\n"
    )


SEGMENT = """\
import ctypes
print(ctypes.CDLL(None).shmget(0x67756172, 64, 0o3600))  # IPC_CREAT | IPC_EXCL
"""


def has_ipc_namespaces() -> bool:
    try:
        return int(Path("/proc/sys/user/max_ipc_namespaces").read_text()) > 0
    except OSError:
        return False


@needs_namespaces
@pytest.mark.skipif(not has_ipc_namespaces(), reason="this machine gives no IPC namespaces")
def test_shared_segments_are_gone_in_the_next_trial(tmp_path: Path, opened: list[Sandbox]) -> None:
    script = f"{sys.executable} -c '{SEGMENT}'"
    opened.append(box := open_sandbox(Layout((), ())))
    found: list[bool] = []
    for _ in range(2):
        found += [int(sh(box, script, tmp_path)) >= 0 for _ in range(2)]
        box.starter.clean(0)
    assert found == [True, False] * 2
    assert ctypes.CDLL(None).shmget(0x67756172, 64, 0o600) == -1, "it is on this machine now"


@needs_namespaces
def test_paths_with_spaces_and_newlines_are_hidden(tmp_path: Path, opened: list[Sandbox]) -> None:
    hidden = tmp_path / "a b\nü"
    (hidden / "slot").mkdir(parents=True)
    (hidden / "secret").touch()
    opened.append(box := open_sandbox(Layout((str(hidden),), ((str(hidden / "slot"), False),))))
    assert sh(box, "ls ..", hidden / "slot") == "slot\n"


def test_without_namespaces_the_report_says_so(
    tmp_path: Path, opened: list[Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_no_namespaces", "switched off in this test")
    opened.append(box := open_sandbox(Layout((str(tmp_path),), ())))
    assert not box.controlled
    assert box.isolation.startswith(NOT_CONTROLLED)


@linux
def test_a_namespace_that_fails_is_not_tried_again(
    tmp_path: Path, opened: list[Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_no_namespaces", "")
    gone = str(tmp_path / "gone")
    opened.append(box := open_sandbox(Layout((), ((gone, True),))))
    assert (box.controlled, box.isolation) == (False, NOT_CONTROLLED)
    assert vars(sandbox)["_no_namespaces"] == "No such file or directory"
    assert sh(box, "echo runs", tmp_path) == "runs\n"


def test_off_linux_guard_starts_programs_itself(
    tmp_path: Path, opened: list[Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    opened.append(box := open_sandbox(Layout((str(tmp_path),), ())))
    assert isinstance(box.starter, DirectStarter)
    assert box.isolation == BY_TAG_ONLY
    assert sandbox.probe_namespaces() == "only Linux has them"


# The launcher -------------------------------------------------------------------------------


@linux
def test_a_daemon_that_drops_everything_is_found(tmp_path: Path, opened: list[Sandbox]) -> None:
    opened.append(box := open_sandbox(None))
    script = f"cd /; exec env -i setsid sh -c 'echo $$ >{tmp_path}/pid; exec sleep 60' &"
    sh(box, f"({script}) & sleep 0.3", tmp_path)
    pid = int((tmp_path / "pid").read_text())
    assert is_alive(pid)
    assert pid in box.starter.clean(0)
    assert not is_alive(pid)


@linux
def test_several_programs_may_run_at_once(tmp_path: Path, opened: list[Sandbox]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    opened.append(box := open_sandbox(None))
    with ThreadPoolExecutor(4) as pool:
        pending = [pool.submit(sh, box, f"sleep 0.1; echo {n}", tmp_path) for n in range(8)]
        assert [future.result() for future in pending] == [f"{n}\n" for n in range(8)]


@linux
def test_a_launcher_that_is_killed_is_the_targets_error(
    tmp_path: Path, opened: list[Sandbox]
) -> None:
    opened.append(box := open_sandbox(None))
    with pytest.raises(TargetError, match="was killed"):
        sh(box, f"echo $$ >{tmp_path}/pid; kill -KILL $PPID; sleep 60", tmp_path)
    assert not box.starter.usable
    pid = int((tmp_path / "pid").read_text())
    assert pid in box.starter.clean(0)
    assert not is_alive(pid)
    with pytest.raises(TargetError, match="was killed"):
        sh(box, "true", tmp_path)


@linux
def test_a_launcher_that_dies_before_it_answers_is_not_used_again(
    tmp_path: Path, opened: list[Sandbox]
) -> None:
    opened.append(box := open_sandbox(None))
    pid = int(sh(box, "echo $PPID", tmp_path))
    os.kill(pid, signal.SIGSTOP)
    killer = threading.Timer(0.1, os.kill, (pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(TargetError, match="was killed"):
        sh(box, "true", tmp_path)
    assert not box.starter.usable
    killer.join()


@linux
@pytest.mark.parametrize("layout", [None, Layout((), ())])
def test_one_that_ends_before_it_is_asked_is_done_without(
    tmp_path: Path,
    opened: list[Sandbox],
    monkeypatch: pytest.MonkeyPatch,
    layout: Layout | None,
) -> None:
    class EndsFirst(LauncherProcess):
        def __init__(self) -> None:
            super().__init__()
            self._process.wait()

    monkeypatch.setattr(sandbox, "LauncherProcess", EndsFirst)
    monkeypatch.setattr(sandbox, "_no_namespaces", "")
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    opened.append(box := open_sandbox(layout))
    assert isinstance(box.starter, DirectStarter)
    assert sh(box, "echo ran", tmp_path) == "ran\n"


@linux
def test_a_launcher_that_is_stopped_by_a_trial_holds_nobody_up(
    tmp_path: Path, opened: list[Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.append(box := open_sandbox(None))
    pid = int(sh(box, f"echo $PPID; sleep 300 >/dev/null 2>&1 & echo $! >{tmp_path}/pid", tmp_path))
    os.kill(pid, signal.SIGSTOP)
    # No time at all: woken in a tenth of a second it may just have answered.
    monkeypatch.setattr(sandbox, "ANSWER_SECONDS", 0)
    left = int((tmp_path / "pid").read_text())
    # It is woken first, and may have ended the program before it was killed: then nobody tells.
    assert set(box.starter.clean(0)) <= {left}
    assert not is_alive(left)
    assert not box.starter.usable
    box.starter.close()
    assert not is_alive(pid)


@linux
def test_a_launcher_that_was_stopped_says_nothing_of_the_next(
    tmp_path: Path, opened: list[Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_no_namespaces", "")
    monkeypatch.setattr(sandbox, "ANSWER_SECONDS", 0.0)
    opened.append(open_sandbox(Layout((), ())))
    monkeypatch.undo()
    assert not vars(sandbox)["_no_namespaces"]


GUARD = """
import os, sys
from guard.process import run
from guard.trials.sandbox import open_sandbox
box = open_sandbox(None)
script = f"echo $$ >{sys.argv[1]}/pids; setsid sleep 60 & echo $! >>{sys.argv[1]}/pids; sleep 60"
run(box.starter, ["sh", "-c", script], sys.argv[1], dict(os.environ), 60)
"""


@linux
def test_nothing_outlives_a_guard_that_is_killed(tmp_path: Path) -> None:
    guard = subprocess.Popen([sys.executable, "-P", "-c", GUARD, str(tmp_path)])
    pids = wait_for_pids(tmp_path / "pids", 2)
    assert all(map(is_alive, pids))
    guard.send_signal(signal.SIGKILL)
    guard.wait()
    deadline = time.monotonic() + 10
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(is_alive, pids))


def wait_for_pids(note: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        words = note.read_text().split() if note.exists() else []
        if len(words) == count:
            return [int(word) for word in words]
        time.sleep(0.02)
    raise AssertionError("the program never started")


@linux
def test_a_launcher_leaves_nothing_open(tmp_path: Path) -> None:
    open_sandbox(None).starter.close()
    before = sorted(os.listdir("/proc/self/fd"))
    box = open_sandbox(None)
    for _ in range(3):
        sh(box, "true", tmp_path)
        box.starter.clean(0)
    box.starter.close()
    assert sorted(os.listdir("/proc/self/fd")) == before


@linux
def test_children_are_found_on_a_kernel_without_their_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert child.pid in launcher.descendants(os.getpid())

        def missing(path: str) -> list[str]:
            if path == "/proc":
                return real(path)
            raise FileNotFoundError(path)

        real = os.listdir
        monkeypatch.setattr(os, "listdir", missing)
        assert child.pid in launcher.descendants(os.getpid())
    finally:
        child.kill()
        child.wait()
    assert child.pid not in launcher.descendants(os.getpid())


@linux
def test_a_python_without_setsid_starts_programs_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert launcher.choose_spawn() is launcher.spawn

    def too_old(*arguments: object, **more: object) -> int:
        raise NotImplementedError("argument unavailable: setsid")

    monkeypatch.setattr(os, "posix_spawn", too_old)
    assert launcher.choose_spawn() is launcher.spawn_slowly
    note = os.open(tmp_path / "note", os.O_RDWR | os.O_CREAT)
    argv = [b"sh", b"-c", b"ps -o pid=,sid= -p $$; exit 3"]
    pid = launcher.spawn_slowly(b"/bin/sh", argv, {b"PATH": b"/bin:/usr/bin"}, [note] * 3)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    os.close(note)
    assert (tmp_path / "note").read_text().split() == [str(pid), str(pid)]
