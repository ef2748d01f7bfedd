"""What a merge breaks by itself: the same before it is committed and in a range."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping

import pytest

from guard.change import staged_change
from guard.git import Repo, find_repo
from guard.judging.judge import judge_commit
from guard.judging.merge_faults import merge_faults
from guard.judging.merges import parents_of
from guard.judging.ranges import judge_range, own_commits
from guard.messages.message import parse_message
from guard.project import Project
from guard.snapshot import index_tree
from guard.store import Store
from tests.guarded_repo import (
    CASE,
    CASE_TEXT,
    GUARD_YAML,
    RECORDS,
    RETAINED,
    SKILL,
    record,
    records,
)
from tests.scratch_repo import ScratchRepo

TRAVEL = GUARD_YAML.split("agents:\n")[1].replace("expense", "travel").replace("cases/", "travel/")
OTHER = "evals/cases/other.md"
OTHER_CASE = CASE_TEXT.replace("eur-taxi", "other")
Files = Mapping[str, str | None]


class Merge:
    """A merge of topic into main that is not committed yet."""

    def __init__(self, repo: ScratchRepo, opened: Repo) -> None:
        self.repo = repo
        self.opened = opened

    def begin(self, main: Files, topic: Files) -> None:
        """Give both branches a commit, and merge them as far as git does."""
        self.repo.git("checkout", "-q", "-b", "topic")
        self.repo.commit("chore: topic", {"topic": "1\n", **topic})
        self.repo.git("checkout", "-q", "main")
        self.repo.commit("chore: main", {"main": "1\n", **main})
        self.repo.git("merge", "-q", "--no-ff", "--no-commit", "topic")

    def faults(self, files: Files) -> list[str]:
        """Return what its own edit breaks, which all who judge it must say alike."""
        self.repo.write(files)
        self.repo.git("add", "--all")
        parents = ("HEAD", "MERGE_HEAD")
        oids = tuple(self.opened.resolve(name) or "" for name in parents)
        store = Store.open(self.opened.common_dir)
        change = staged_change(self.opened, "HEAD")._replace(parents=oids)
        base, new = (Project(self.opened, t, store) for t in (change.base, change.new))
        whole = change._replace(new=index_tree(self.opened))
        before = merge_faults(parents_of(new, whole), Project(self.opened, whole.new, store))
        message = parse_message("Merge topic")
        staged = judge_commit(base, new, change, message, today="2031-01-01").violations
        self.repo.git("commit", "-qm", "Merge topic")
        commits = own_commits(self.opened, ["HEAD"], oids)
        judged = judge_range(self.opened, commits, store, today="2031-01-01").violations
        found = [violation.message for violation in judged]
        assert [v.message for v in staged] == found
        assert {v.message for v in before} <= set(found)
        return found


@pytest.fixture
def merge(repo: ScratchRepo) -> Generator[Merge]:
    repo.commit("fix: base", RETAINED)
    with find_repo(str(repo.root)) as opened:
        yield Merge(repo, opened)


def begun(merge: Merge) -> None:
    merge.begin({}, {})


def with_other(merge: Merge) -> None:
    both = records(eur_taxi=record(), other=record(case=OTHER))
    merge.begin({}, {OTHER: OTHER_CASE, RECORDS: both})


BROKEN: dict[str, tuple[Callable[[Merge], None], Files, str]] = {
    "an emptied record": (
        begun,
        {RECORDS: records(eur_taxi=record(fails_on=[]))},
        "record eur-taxi guards nothing: its fails_on is empty",
    ),
    "a key that its case never writes": (
        begun,
        {RECORDS: records(eur_taxi=record(fails_on=["no_changes", "exit_code"]))},
        "record eur-taxi guards nothing: its case never writes exit_code",
    ),
    "a record that the other side brings": (
        with_other,
        {RECORDS: records(eur_taxi=record(), other=record(case=OTHER, agent="trvel"))},
        "record other guards nothing: there is no agent",
    ),
    "an agent without a case": (
        begun,
        {"guard.yaml": GUARD_YAML + TRAVEL},
        "this adds, without a case, agent travel",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_a_merge_breaks_by_itself(merge: Merge, what: str) -> None:
    begin, files, said = BROKEN[what]
    begin(merge)
    (found,) = merge.faults(files)
    assert found.startswith(said)


@pytest.mark.parametrize("begin", [begun, with_other])
def test_a_merge_that_git_makes_breaks_nothing(
    merge: Merge, begin: Callable[[Merge], None]
) -> None:
    begin(merge)
    assert merge.faults({}) == []


def test_an_agent_comes_with_its_case_in_a_merge(merge: Merge) -> None:
    begun(merge)
    files = {"guard.yaml": GUARD_YAML + TRAVEL, "evals/travel/other.md": OTHER_CASE}
    assert merge.faults(files) == []


def test_what_was_wrong_on_one_side_is_said_there_alone(merge: Merge) -> None:
    empty = records(eur_taxi=record(fails_on=[]))
    merge.begin({}, {RECORDS: empty, "guard.yaml": GUARD_YAML + TRAVEL})
    assert merge.faults({}) == []


def test_a_record_that_one_side_brings_for_a_case_that_the_other_drops(merge: Merge) -> None:
    merge.repo.commit("test: other", {OTHER: OTHER_CASE})
    both = records(eur_taxi=record(), other=record(case=OTHER))
    merge.begin({OTHER: None}, {RECORDS: both})
    *_, found = merge.faults({})
    assert found == f"record other guards nothing: {OTHER} is no case of any agent"


def test_sides_that_each_drop_one_of_two_cases_leave_none(merge: Merge) -> None:
    third = "evals/cases/third.md"
    over = {"reason": "gone", "date": "2031-01-01"}
    retired = {RECORDS: records(eur_taxi=record(status="retired", retirement=over))}
    cases = {OTHER: OTHER_CASE, third: OTHER_CASE.replace("other", "third"), CASE: None}
    merge.repo.commit("test: two", {**cases, **retired})
    merge.begin({OTHER: None}, {third: None})
    assert merge.faults({}) == ["this takes away the last case of agent expense"]


def test_a_patch_that_a_merge_drops_is_missed(merge: Merge) -> None:
    patch = "regressions/eur-taxi/before.patch"
    patched = records(eur_taxi=record(before={"kind": "patch", "path": patch}))
    merge.repo.commit("test: patch", {patch: "diff\n", RECORDS: patched})
    merge.begin({SKILL: "a\n"}, {})
    found = merge.faults({patch: None})
    assert found == [f"record eur-taxi guards nothing: its patch {patch} is not there"]
