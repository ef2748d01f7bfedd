"""Runs that are killed, stopped or doubled: at most the trial in flight is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from guard.store import Store
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, cases, config
from tests.own_mounts import need_overlays


def wait_for(path: Path) -> None:
    """Wait until a trial has left its mark."""
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)


def wait_for_trial(repo: ScratchRepo, number: int, case: str = "one") -> None:
    """Wait until a trial is written down: that is done while the next one runs."""
    store = Store.open(str(repo.root / ".git"))
    deadline = time.monotonic() + 30
    while number not in [trial.number for trial in store.get_trials(case)]:
        assert time.monotonic() < deadline, f"trial {number} was never written down"
        time.sleep(0.01)
    store.close()


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all runs of this test, and of no one else's."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path / "runtime" / "guard"


def sleepers(seconds: str) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", seconds]]


def end(running: subprocess.Popen[str], number: int) -> tuple[int, str, str]:
    """Send a signal; return how guard ended, and what it printed."""
    os.kill(running.pid, number)
    out, err = running.communicate(timeout=30)
    return running.returncode, out, err


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where each trial writes its case and number as it starts."""
    return tmp_path / "log"


def slow_from(number: int, log: Path, gate: Path, name: str = "one") -> str:
    """Return a script whose trials hang from a number on, until ``gate`` is there."""
    wait = f"touch {gate}.wanted; until [ -e {gate} ]; do sleep .02; done"
    return (
        f"echo {name}$GUARD_TRIAL >> {log}; "
        f"if [ $GUARD_TRIAL -ge {number} ]; then {wait}; fi; echo hello"
    )


def test_resume_after_a_kill_loses_at_most_the_trial_in_flight(
    repo: ScratchRepo, guard: GuardCommand, log: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    files = {
        **case(f"echo done$GUARD_TRIAL >> {log}; echo hello", id="done", trials=2),
        **case(slow_from(3, log, gate, "half"), id="half", trials=4),
        **case(f"echo late$GUARD_TRIAL >> {log}; echo hello", id="late", trials=1),
    }
    repo.commit("feat: clerk", {**config(), **files})
    running = guard.start("run", "--jobs", "1")
    wait_for(Path(f"{gate}.wanted"))
    wait_for_trial(repo, 2, "half")
    code, _, _ = end(running, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert log.read_text().split() == ["done1", "done2", "half1", "half2", "half3"]
    gate.touch()
    report = guard.report("--resume", "--jobs", "1")
    assert [(c["id"], c["verdict"], c["trials"]) for c in report["cases"]] == [
        ("done", "PASS", 2),
        ("half", "PASS", 4),
        ("late", "PASS", 1),
    ]
    assert log.read_text().split()[5:] == ["half3", "half4", "late1"]
    numbers = [run["execution_provenance"]["number"] for run in report["cases"][1]["runs"]]
    assert numbers == [1, 2, 3, 4]
    assert "half#1" in guard("show", "half").ends_in(0).out


def test_a_run_may_be_killed_and_resumed_again(
    repo: ScratchRepo, guard: GuardCommand, log: Path, tmp_path: Path
) -> None:
    second, third = tmp_path / "second", tmp_path / "third"
    script = (
        f"echo $GUARD_TRIAL >> {log}; case $GUARD_TRIAL in "
        f"2) touch {second}.wanted; until [ -e {second} ]; do sleep .02; done;; "
        f"3) touch {third}.wanted; until [ -e {third} ]; do sleep .02; done;; esac; echo hello"
    )
    repo.commit("feat: clerk", {**config(), **case(script, trials=3)})
    for finished, gate in enumerate((second, third), 1):
        running = guard.start("run", "--resume", "--jobs", "1")
        wait_for(Path(f"{gate}.wanted"))
        wait_for_trial(repo, finished)
        end(running, signal.SIGKILL)
        gate.touch()
    assert guard.verdicts("--resume", "--jobs", "1") == {"one": "PASS"}
    assert log.read_text().split() == ["1", "2", "2", "3", "3"]


def test_paying_what_is_owed_goes_on_where_it_was_stopped(
    repo: ScratchRepo, guard: GuardCommand, log: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    repo.commit("feat: clerk", {**config(), **case(slow_from(3, log, gate), trials=4)})
    running = guard.start("run", "--owed", "--jobs", "1")
    wait_for(Path(f"{gate}.wanted"))
    end(running, signal.SIGINT)
    gate.touch()
    guard("run", "--owed", "--jobs", "1").ends_in(0).says("4 of 4 passed")
    assert log.read_text().split() == ["one1", "one2", "one3", "one3", "one4"]
    guard("run", "--owed").ends_in(0).says("nothing is owed")


def test_without_resume_an_interrupted_case_starts_afresh(
    repo: ScratchRepo, guard: GuardCommand, log: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    repo.commit("feat: clerk", {**config(), **case(slow_from(2, log, gate), trials=2)})
    running = guard.start("run", "--jobs", "1")
    wait_for(Path(f"{gate}.wanted"))
    end(running, signal.SIGKILL)
    gate.touch()
    guard.verdicts("--jobs", "1")
    assert log.read_text().split() == ["one1", "one2", "one1", "one2"]


def test_resume_takes_nothing_from_other_files(
    repo: ScratchRepo, guard: GuardCommand, log: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    repo.commit("feat: clerk", {**config(), **case(slow_from(2, log, gate), trials=2)})
    running = guard.start("run", "--jobs", "1")
    wait_for(Path(f"{gate}.wanted"))
    end(running, signal.SIGKILL)
    gate.touch()
    repo.write({"agent/rules.md": "Be stern.\n"})
    guard.verdicts("--resume", "--jobs", "1")
    assert log.read_text().split() == ["one1", "one2", "one1", "one2"]


def test_resume_repeats_no_failure_that_was_judged(
    repo: ScratchRepo, guard: GuardCommand, log: Path
) -> None:
    script = f"echo $GUARD_TRIAL >> {log}; echo no"
    repo.commit("feat: clerk", {**config(), **case(script, trials=1)})
    for _ in range(2):
        assert guard.verdicts("--resume", ends_in=1) == {"one": "FAIL"}
    assert log.read_text().split() == ["1", "1"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_at_once_with_130(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path, runs: Path, number: signal.Signals
) -> None:
    mark, seconds = tmp_path / "mark", f"{os.getpid()}424{number.value}"
    script = f"trap '' INT TERM HUP; sleep {seconds} & touch {mark}; wait; sleep {seconds}"
    repo.commit("feat: clerk", {**config(), **cases({"one": script, "two": script}, trials=2)})
    running = guard.start("run", "--jobs", "2")
    wait_for(mark)
    began = time.monotonic()
    code, out, err = end(running, number)
    assert (code, out, err) == (130, "", "guard: interrupted\n")
    assert time.monotonic() - began < 10
    assert sleepers(seconds) == []
    assert os.listdir(runs) == []
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("again", ["", "(while kill -STOP $PPID; do sleep 0.01; done) & "])
def test_a_signal_ends_a_run_whose_programs_stop_their_parent(
    repo: ScratchRepo,
    guard: GuardCommand,
    tmp_path: Path,
    runs: Path,
    again: str,
    number: signal.Signals,
) -> None:
    mark, seconds = tmp_path / "mark", f"{os.getpid()}454{number.value}"
    script = f"{again}kill -STOP $PPID; touch {mark}; sleep {seconds}"
    repo.commit("feat: clerk", {**config(), **case(script, trials=1)})
    running = guard.start("run")
    wait_for(mark)
    began = time.monotonic()
    code, out, err = end(running, number)
    assert (code, out, err) == (130, "", "guard: interrupted\n")
    assert time.monotonic() - began < 6
    assert sleepers(seconds) == []
    assert os.listdir(runs) == []


@pytest.mark.parametrize("way", ["fresh", "pool", "overlay"])
def test_a_killed_run_is_swept_by_the_next(
    repo: ScratchRepo,
    guard: GuardCommand,
    tmp_path: Path,
    runs: Path,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GUARD_WORKSPACES", way)
    mark = tmp_path / "mark"
    repo.commit("feat: clerk", {**config(), **case(f"touch {mark}; sleep 434343", trials=1)})
    running = guard.start("run")
    wait_for(mark)
    end(running, signal.SIGKILL)
    assert os.listdir(runs) != []
    assert "/runtime/guard/" not in Path("/proc/mounts").read_text()
    repo.write(case(trials=1))
    guard.verdicts()
    assert os.listdir(runs) == []
    deadline = time.monotonic() + 5
    while sleepers("434343") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sleepers("434343") == []


def test_a_command_has_overlays_where_they_are_to_be_had(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_overlays(tmp_path)
    monkeypatch.setenv("GUARD_WORKSPACES", "overlay")
    repo.commit("feat: clerk", {**config(), **case("echo hello", trials=2)})
    told = json.dumps(guard.report())
    assert told.count('+ workspace: overlay"') == 2


def test_a_fallback_is_told_with_its_reason(
    repo: ScratchRepo, guard: GuardCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARD_WORKSPACES", "overlay")
    repo.commit("feat: clerk", {**config(), **case("echo hello", trials=1)})
    # A repository that holds the HOME can't be hidden, so nothing may lie below an overlay.
    monkeypatch.setenv("HOME", str(repo.root / "home"))
    reason = "workspace: reused (no overlay: the repository holds your HOME)"
    assert reason in guard("run").ends_in(0).out


def test_two_runs_at_once_hold_both(repo: ScratchRepo, guard: GuardCommand, runs: Path) -> None:
    scripts = {f"c{number}": "echo hello" for number in range(6)}
    repo.commit("feat: clerk", {**config(), **cases(scripts, trials=2)})
    both = [guard.start("run", "--no-cache") for _ in range(2)]
    for running in both:
        out, err = running.communicate(timeout=60)
        assert (running.returncode, err) == (0, ""), out + err
        assert "6 of 6 cases hold" in out
    assert os.listdir(runs) == []
    assert guard.report()["counts"]["PASS"] == 6
