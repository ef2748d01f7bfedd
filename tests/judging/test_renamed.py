from __future__ import annotations

import re
import time
from collections.abc import Generator

import pytest

from guard.change import staged_change
from guard.git import find_repo
from guard.judging import renamed
from guard.judging.renamed import recall, remember
from guard.messages.message import parse_message
from guard.rules.commit import JudgedCommit
from tests.conftest import ScratchRepo
from tests.guarded_repo import BASE, CASE, CASE_TEXT, FIXED_SKILL, SKILL
from tests.judged_repo import Bench


def commit(bench: Bench, message: str) -> JudgedCommit:
    change = staged_change(bench.opened, "HEAD")
    return JudgedCommit(
        bench.project(change.base), bench.project(change.new), change, parse_message(message)
    )


@pytest.fixture
def bench(repo: ScratchRepo) -> Generator[Bench]:
    repo.commit("feat: base", BASE)
    with find_repo(str(repo.root)) as opened:
        yield Bench(repo, opened)


@pytest.fixture
def refused(bench: Bench) -> Bench:
    """A bench whose staged change was refused as a fix."""
    bench.repo.write({SKILL: FIXED_SKILL})
    bench.repo.git("add", "--all")
    remember(commit(bench, "fix: ask first"), ["expense"])
    return bench


@pytest.mark.parametrize(
    ("message", "now"), [("chore: x", "chore"), ("Feat(a): x", "feat"), ("Ask", '"Ask"')]
)
def test_the_same_change_by_another_name(refused: Bench, message: str, now: str) -> None:
    said = recall(commit(refused, message))
    assert said is not None
    assert re.fullmatch(
        r"this is the change that was refused at \d\d:\d\d as a fix \(\"fix: ask first\"\), "
        rf"now called {re.escape(now)}: its bug is remembered by no case",
        re.sub(r" on \d{4}-\d\d-\d\d", "", said),
    )


def test_a_fix_is_no_other_name(refused: Bench) -> None:
    assert recall(commit(refused, "fix: ask")) is None


def test_what_else_is_in_the_commit_does_not_matter(refused: Bench) -> None:
    refused.repo.write({"README.md": "x\n"})
    refused.repo.git("add", "--all")
    assert recall(commit(refused, "chore: x"))


def test_another_change_or_a_case_is_not_noticed(refused: Bench) -> None:
    refused.repo.write({CASE: CASE_TEXT})
    refused.repo.git("add", "--all")
    assert recall(commit(refused, "chore: x")) is None
    refused.repo.write({CASE: None, SKILL: FIXED_SKILL + "More.\n"})
    refused.repo.git("add", "--all")
    assert recall(commit(refused, "chore: x")) is None


def test_an_earlier_day_is_named(refused: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 3 * 86400)
    remember(commit(refused, "fix: ask first"), ["expense"])
    monkeypatch.undo()
    said = recall(commit(refused, "chore: x"))
    assert said is not None
    assert re.search(r"refused at \d\d:\d\d on \d{4}-\d\d-\d\d as a fix", said)


def test_a_change_of_very_many_files_is_not_kept(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renamed, "MOST_ENTRIES", 0)
    bench.repo.write({SKILL: FIXED_SKILL})
    bench.repo.git("add", "--all")
    remember(commit(bench, "fix: x"), ["expense", "nobody"])
    monkeypatch.undo()
    assert recall(commit(bench, "chore: x")) is None
