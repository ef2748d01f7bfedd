from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guard.errors import UsageError
from guard.git import Repo
from guard.trials.runfolder import RunFolder, candidate_roots, is_usable, start_time


def repo_at(path: Path) -> Repo:
    return Repo(str(path), str(path / ".git"), str(path / ".git"), "sha1")


def test_a_run_has_a_private_folder_that_goes_with_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    with RunFolder(repo_at(tmp_path / "repo"), [str(root)]) as run:
        place = run.place()
        assert run.place() is place
        assert stat.S_IMODE(os.stat(place.path).st_mode) == 0o700
        one, two = place.new_folder("slot"), place.new_folder("slot")
        assert one != two
        assert os.path.isdir(one)
        assert not os.path.exists(place.new_path("template"))
    assert os.listdir(root) == []


def test_nothing_is_made_before_it_is_used(tmp_path: Path) -> None:
    with RunFolder(repo_at(tmp_path), [str(tmp_path / "root")]):
        assert os.listdir(tmp_path) == []


def test_a_root_in_a_repository_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "other/.git").mkdir(parents=True)
    inside = [str(tmp_path / "repo/tmp"), str(tmp_path / "other/a/b")]
    outside = str(tmp_path / "outside")
    with RunFolder(repo_at(tmp_path / "repo"), [*inside, outside]) as run:
        assert run.place().root == outside
    with RunFolder(repo_at(tmp_path / "repo"), inside) as run, pytest.raises(UsageError):
        run.place()


def test_a_root_without_room_is_passed_over(tmp_path: Path) -> None:
    with RunFolder(repo_at(tmp_path / "repo"), [str(tmp_path / "root")]) as run:
        assert run.place(1000).path
        with pytest.raises(UsageError, match="no folder outside a repository has room"):
            run.place(1 << 60)


def test_a_root_that_others_may_write_to_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o777)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    assert not is_usable(str(tmp_path / "open"), "/none")
    assert not is_usable(str(tmp_path / "link"), "/none")
    assert is_usable(str(tmp_path / "real"), "/none")


def test_memory_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1")
    roots = candidate_roots()
    assert roots[:2] == ["/run/user/1/guard", f"/dev/shm/guard-{os.getuid()}"]


def test_a_dead_runs_folder_is_swept_and_a_living_ones_is_not(tmp_path: Path) -> None:
    root = tmp_path / "root"
    me = os.getpid()
    keep = [f"run-{me}-{start_time(me)}-abcdef", "something-else", "run-x-1-2"]
    dead = subprocess.Popen(["true"])
    dead.wait()
    gone = [f"run-{dead.pid}-1-abcdef", f"run-{me}-1-abcdef"]
    for name in (*keep, *gone):
        (root / name / "d").mkdir(parents=True)
    root.chmod(0o700)
    with RunFolder(repo_at(tmp_path / "repo"), [str(root)]) as run:
        run.place()
        assert set(os.listdir(root)) > set(keep)
        assert not set(os.listdir(root)) & set(gone)


def test_what_a_trial_put_beside_the_slots_is_told_to_all_that_ran(tmp_path: Path) -> None:
    with RunFolder(repo_at(tmp_path / "repo"), [str(tmp_path / "root")]) as run:
        place = run.place()
        before = time.monotonic()
        place.new_folder("slot")
        assert place.strays_since(before) == []
        Path(place.path, "note").touch()
        Path(place.path, "dir/below").mkdir(parents=True)
        assert place.strays_since(before) == ["../../../dir", "../../../note"]
        assert place.strays_since(before) == ["../../../dir", "../../../note"]
        assert place.strays_since(time.monotonic()) == []


GUARD = """
import os, sys
from guard.git import find_repo
from guard.model import Agent, Case, Policy
from guard.results import Observation
from guard.plugin.api import Target
from guard.trials.runfolder import RunFolder
from guard.snapshot import worktree_tree
from guard.trials.stage import prepare_stage
from guard.trials.stopping import stopped_by_signals
from guard.trials.trial import run_trial
def sleep(trial):
    open(sys.argv[2], "w").write(str(os.getpid()))
    trial.run_program(["sleep", "60"])
    return Observation()
def no(path): return False
repo = find_repo(sys.argv[1])
case = Case("c", "x", "c.md", expected={"no_changes": True}, policy=Policy(timeout=60))
with stopped_by_signals(), RunFolder(repo, [sys.argv[3]]) as run:
    agent, target = Agent("x"), Target("t", sleep, "x")
    with prepare_stage(repo, worktree_tree(repo), agent, target, (), run=run,
                       hide_from_target=no, hide_from_workspace=no) as stage:
        run_trial(stage, case, 1)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "repo"], check=True)
    (tmp_path / "repo/f").touch()
    note, root = tmp_path / "note", tmp_path / "root"
    argv = [sys.executable, "-P", "-c", GUARD, str(tmp_path / "repo"), str(note), str(root)]
    guard = subprocess.Popen(argv, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 20
    while not note.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)
    began = time.monotonic()
    guard.send_signal(number)
    _, said = guard.communicate()
    assert guard.returncode != 0
    assert b"KeyboardInterrupt" in said
    assert time.monotonic() - began < 10
    assert os.listdir(root) == []
