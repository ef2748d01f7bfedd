"""The machine: which git is too old, which lacks a way to take a fix back."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.doctor.machine import (
    check_git,
    check_isolation,
    check_python,
    check_workspaces,
    judge_git,
)
from guard.git import find_repo
from guard.trials.sandbox import probe_namespaces
from tests.conftest import ScratchRepo
from tests.own_mounts import in_own_mounts, need_overlays


@pytest.mark.parametrize(
    ("told", "mark"),
    [
        ("git version 2.30.9", "✗"),
        ("git version 1.8.3.1", "✗"),
        ("git version 2.31.0", "!"),
        ("git version 2.37.1 (Apple Git-137.1)", "!"),
        ("git version 2.38.0", "✓"),
        ("git version 2.100.0.windows.1", "✓"),
        ("git version 3.0", "✓"),
        ("git version unknown", "?"),
    ],
)
def test_a_version_of_git(told: str, mark: str) -> None:
    assert judge_git(told).mark == mark


def test_this_git_and_no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_git().mark in "✓!"
    monkeypatch.setenv("PATH", "/nonexistent")
    found = check_git()
    assert (found.mark, found.text) == ("✗", "git is not on PATH")


def test_who_runs_guard() -> None:
    assert check_python().text.startswith("guard 0.")


def test_how_far_trials_are_kept_apart(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = "!" if probe_namespaces() else "✓"
    with find_repo(str(repo.root)) as found:
        assert [f.mark for f in check_isolation(found)] == [expected, "✓"]
    # A repository that holds the HOME can't be hidden without it.
    monkeypatch.setenv("HOME", str(repo.root / "home"))
    with find_repo(str(repo.root)) as found:
        assert [f.mark for f in check_isolation(found)] == ["!", "✓"]


def test_how_large_workspaces_are_laid(repo: ScratchRepo, tmp_path: Path) -> None:
    with find_repo(str(repo.root)) as found:
        finding = check_workspaces(found)
        assert finding.mark == "✓"
        # A test is another program, whose mounts are its own.
        assert finding.text.startswith("large workspaces: used again, and mended (no overlay: ")
        need_overlays(tmp_path)
        said: list[str] = []
        in_own_mounts(lambda: said.append(check_workspaces(found).text))
    assert said[0].startswith("large workspaces: overlays, in /")
