"""A long history is judged by few processes, and as if each tree had been read by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench.history import make_history
from guard.git import find_repo
from guard.judging.ranges import RangeJudge, own_commits
from guard.store import Store
from tests.commands.calling import call_guard

COMMITS = 1000


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_history(tmp_path_factory.mktemp("long") / "repo", COMMITS, 60, careless=True)


def root_of(history: Path) -> str:
    call = ["git", "rev-list", "--max-parents=0", "HEAD"]
    return subprocess.run(call, cwd=history, capture_output=True, text=True, check=True).stdout[:40]


def test_a_history_takes_no_process_for_each_commit(
    history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    outcome = call_guard(
        history, "ci", "--base", root_of(history), "--report-only", "--max-seconds", "0"
    )
    assert outcome.code == 0, outcome
    assert f"{COMMITS - 1} commits since" in outcome.err
    assert "100 of 300 behaviour changes carried a case" in outcome.out
    assert "fix-needs-record" in outcome.out
    called = [line for line in trace.read_text().splitlines() if "built-in: git " in line]
    assert len(called) < COMMITS / 10
    assert sum("diff-tree" in line for line in called) <= COMMITS / 500 + 2


def test_what_is_told_by_difference_is_what_each_tree_tells(history: Path) -> None:
    with find_repo(str(history)) as repo:
        commits = own_commits(repo, ["HEAD"], [])[:400]
        store = Store.open(repo.common_dir)
        quick, slow = (RangeJudge(repo, commits, store, today="2031-01-01") for _ in range(2))
        slow.by_difference = False
        found = quick.judge()
        assert found == slow.judge()
    # Of forty fixes every fifth brings no record.
    assert [v.rule for v in found.violations] == ["fix-needs-record"] * 8
