"""A bisection in words."""

from __future__ import annotations

import os

import pytest

from guard.bisecting.text import agent_files, author_date, say_cost
from guard.session import Session
from tests.conftest import ScratchRepo
from tests.guard_command import case, clerk, config


@pytest.mark.parametrize(
    ("date", "told"),
    [
        ("2031-07-10T00:30:00+0200", "2031-07-10"),
        ("2031-07-10T23:30:00-0930", "2031-07-10"),
        ("1999-12-31T23:59:59+0000", "1999-12-31"),
    ],
)
def test_the_date_is_where_the_author_was(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch, date: str, told: str
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_DATE", date)
    commit = repo.commit("one", {"a": "1"})
    with Session.open(os.fspath(repo.root)) as session:
        assert author_date(session.repo, commit) == told


def test_a_date_that_is_none(repo: ScratchRepo) -> None:
    tree = repo.git("write-tree").strip()
    text = f"tree {tree}\nauthor A <a@x> 99999999999999999 +0000\ncommitter A <a@x> 1 +0000\n\nx\n"
    odd = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", input=text)
    with Session.open(os.fspath(repo.root)) as session:
        assert author_date(session.repo, odd.strip()) == "no date"


def test_files_are_the_agents_on_either_side_of_the_commit(repo: ScratchRepo) -> None:
    """Those that guard.yaml names before or after it; a case is never one of the agent's own."""
    wide = config(clerk(paths=["agent/**"]))
    repo.commit("start", {**wide, "agent/a.md": "1\n", "agent/b.md": "1\n", "out.md": "1\n"})
    changed = {"agent/a.md": None, "agent/b.md": "2\n", "agent/c.md": "1\n", "out.md": "2\n"}
    commit = repo.commit("narrow", {**config(), **changed, **case()})
    with Session.open(os.fspath(repo.root)) as session:
        project = session.project()
        files = agent_files(project, "clerk", commit)
        assert [entry.path for entry in files] == [b"agent/a.md", b"agent/b.md", b"agent/c.md"]
        first = agent_files(project, "clerk", repo.git("rev-parse", "HEAD~1").strip())
        assert b"agent/rules.md" in [entry.path for entry in first]


@pytest.mark.parametrize(
    ("trials", "known", "cost", "told"),
    [
        (0, 0, 0.0, "0 trials were run"),
        (1, 0, 0.0, "1 trial was run"),
        (4, 2, 0.5, "4 trials were run, about $0.50 at list price; 2 more were known"),
    ],
)
def test_what_was_paid(trials: int, known: int, cost: float, told: str) -> None:
    assert say_cost(trials, known, cost).startswith(told)
