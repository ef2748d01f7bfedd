"""Honest regressions whose history isn't all here: BLOCKED, and the command that is said helps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clerk import record, regressions
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.corpus.honest_histories import spread_over_a_branch
from tests.corpus.honest_records import with_capsule
from tests.corpus.honest_repos import (
    CASE,
    FIXED,
    RECORDS,
    SKILL,
    case,
    clone_of,
    fix,
    polish,
    start,
)
from tests.invariants import unchanged

Build = Callable[[ScratchRepo], ScratchRepo]


def depth_one(repo: ScratchRepo) -> ScratchRepo:
    start(repo)
    fix(repo)
    polish(repo)
    return clone_of(repo, "--depth=1")


def depth_that_ends_at_the_fix(repo: ScratchRepo) -> ScratchRepo:
    """The fix's own commit is here, and looks as if nothing were before it."""
    start(repo)
    fix(repo)
    return clone_of(repo, "--depth=1")


def merge_of_depth_two(repo: ScratchRepo) -> ScratchRepo:
    spread_over_a_branch(repo)
    return clone_of(repo, "--depth=2")


def capsule_that_is_gone(repo: ScratchRepo) -> ScratchRepo:
    with_capsule(repo)
    repo.commit("chore: clean up", {RECORDS: regressions(taxi=record())})
    return clone_of(repo, "--depth=1")


def history_without_files(repo: ScratchRepo) -> ScratchRepo:
    start(repo)
    fix(repo)
    polish(repo)
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = clone_of(repo, "--filter=blob:none")
    # What is fetched anew is packed anew, behind our back unless told otherwise.
    clone.git("config", "gc.autoDetach", "false")
    return clone


def named_by(repo: ScratchRepo, rev: str, *arguments: str) -> ScratchRepo:
    repo.commit("feat(clerk): ask first", {SKILL: FIXED})
    named = record(before={"kind": "revision", "rev": rev})
    repo.commit("test: keep it", {CASE: case(), RECORDS: regressions(taxi=named)})
    return clone_of(repo, *arguments)


def tag_not_fetched(repo: ScratchRepo) -> ScratchRepo:
    start(repo)
    repo.git("tag", "-a", "v1/with-bug", "-m", "it shipped")
    return named_by(repo, "v1/with-bug", "--no-tags")


def tag_beyond_the_depth(repo: ScratchRepo) -> ScratchRepo:
    start(repo)
    repo.git("tag", "bug-7")
    return named_by(repo, "bug-7", "--depth=1")


def commit_beyond_the_depth(repo: ScratchRepo) -> ScratchRepo:
    return named_by(repo, start(repo), "--depth=1")


@pytest.mark.parametrize(
    ("build", "state"),
    [
        (depth_one, "live"),
        (depth_that_ends_at_the_fix, "live"),
        (merge_of_depth_two, "branch"),
        (capsule_that_is_gone, "live"),
        (history_without_files, "live"),
        (tag_not_fetched, "revision"),
        (tag_beyond_the_depth, "revision"),
        (commit_beyond_the_depth, "revision"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_blocked_until_it_is_fetched(build: Build, state: str, repo: ScratchRepo) -> None:
    clone = build(repo)
    with unchanged(clone):
        blocked = call_guard(clone.root, "verify")
    assert blocked.code == 3, blocked
    assert "taxi BLOCKED" in blocked.out
    found = re.search(r"^ +do +(git fetch .*)$", blocked.out, re.MULTILINE)
    assert found, blocked.out
    fetched = clone.run("sh", "-c", found[1])
    assert fetched.returncode == 0, fetched.stderr
    with unchanged(clone):
        proven = call_guard(clone.root, "verify", "--strict")
    assert (proven.code, f"taxi PROVEN ({state})" in proven.out) == (0, True), proven


def test_a_capsule_stands_in_until_then(repo: ScratchRepo) -> None:
    """With all of the history here the same record is proven by today's text again."""
    with_capsule(repo)
    clone = clone_of(repo, "--depth=1")
    states: list[str] = []
    for fetch in (("--depth=1",), ("--unshallow",)):
        clone.git("fetch", "-q", *fetch)
        proven = call_guard(clone.root, "verify", "--strict", "--live")
        assert proven.code == 0, proven
        states += re.findall(r"taxi PROVEN \((\w+)\)", proven.out)
    assert states == ["capsule", "live"]


def test_no_receipt_is_lost_by_a_rebase(repo: ScratchRepo, tmp_path: Path) -> None:
    """The commits are others, and what was run is the same: nothing is run again."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    fix(repo)
    assert call_guard(repo.root, "verify", "--strict").code == 0
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main")
    answered = call_guard(repo.root, "verify", "--strict", "--max-seconds", "0")
    assert (answered.code, "taxi PROVEN (live)" in answered.out) == (0, True), answered
