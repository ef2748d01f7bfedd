"""What `guard.children` does where the system gives less; the rest is in test_process.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from guard.children import DirectStarter
from guard.process import run


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
