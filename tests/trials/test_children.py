"""What `guard.trials.children` does where the system gives less; the rest is in test_process.py."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from guard.model import FAIL, PASS
from guard.plugin.api import Trial
from guard.process import run
from guard.results import Observation
from guard.trials.children import DirectStarter
from guard.trials.sandbox import BY_TAG_ONLY, NOT_CONTROLLED, Layout, Sandbox
from tests.conftest import ScratchRepo
from tests.staging import FILES, case_of, is_alive, run_script, run_together, staged


def test_without_pidfd_the_end_is_noticed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    env = {"PATH": os.environ["PATH"]}
    ended = run(DirectStarter(), ["sh", "-c", "echo x; exit 2"], str(tmp_path), env, 10)
    assert (ended.finished.exit_status, ended.finished.stdout) == (2, "x\n")
    late = run(DirectStarter(), ["sleep", "60"], str(tmp_path), env, 0.2)
    assert late.timed_out


def test_nothing_is_left_open(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"]}
    run(DirectStarter(), ["true"], str(tmp_path), env, 10)
    before = sorted(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else []
    for _ in range(5):
        run(DirectStarter(), ["true"], str(tmp_path), env, 10)
    after = sorted(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else []
    assert before == after


@pytest.fixture
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behave as where there is no launcher (macOS)."""

    def open_none(layout: Layout | None) -> Sandbox:
        return Sandbox(DirectStarter(), False)

    monkeypatch.setattr("guard.trials.stage.open_sandbox", open_none)


@pytest.mark.usefixtures("no_launcher")
def test_without_a_launcher_the_tag_finds_daemons(repo: ScratchRepo) -> None:
    result = run_script(repo, "echo x; setsid sleep 60 & sleep 60 &")
    assert (result.verdict, result.failing) == (FAIL, ("orphans",))
    assert len(result.orphan_pids) == 2
    assert not any(map(is_alive, result.orphan_pids))
    assert result.isolation == BY_TAG_ONLY
    assert run_script(repo, "echo x").verdict == PASS


@pytest.mark.usefixtures("no_launcher")
def test_without_a_launcher_a_hang_leaves_nothing_either(repo: ScratchRepo) -> None:
    result = run_script(repo, "echo $$; setsid sleep 60 & echo $!; sleep 60", case_of(0.4))
    assert (result.verdict, result.failing) == (FAIL, ("timeout",))
    assert not any(is_alive(int(pid)) for pid in result.observation.stdout.split())


@pytest.mark.usefixtures("no_launcher")
def test_without_a_launcher_parallel_trials_keep_their_daemons_apart(repo: ScratchRepo) -> None:
    repo.write(FILES)
    script = 'if [ "$GUARD_TRIAL" = 2 ]; then setsid sleep 60 & fi; sleep 0.5'
    with staged(repo, script) as stage:
        results = run_together(stage, case_of(), 3)
    assert [r.verdict for r in results] == [PASS, FAIL, PASS]


def test_what_a_target_starts_by_itself_is_found_by_the_tag(repo: ScratchRepo) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(trial: Trial) -> Observation:
        argv = ["sleep", "60"]
        started.append(subprocess.Popen(argv, env={**trial.env}, start_new_session=True))
        return Observation()

    def start_none(trial: Trial) -> Observation:
        return Observation()

    result = run_script(repo, "", run=start)
    assert (result.verdict, result.failing) == (FAIL, ("orphans",))
    assert result.isolation == NOT_CONTROLLED
    assert result.orphan_pids == (started[0].pid,)
    assert started[0].wait(10) != 0
    assert run_script(repo, "", run=start_none).verdict == PASS
