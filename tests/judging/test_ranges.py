from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from guard.errors import ConfigError, GuardError, UnreadableError, UsageError
from guard.git import Repo, find_repo
from guard.judging.judge import Judgement
from guard.judging.ranges import (
    CommitInfo,
    RangeJudge,
    differences,
    judge_range,
    own_commits,
    shallow_commits,
)
from guard.rules.commit import JudgedCommit
from guard.store import Store
from guard.tree import Tree
from tests.conftest import ScratchRepo
from tests.guarded_repo import (
    BASE,
    CASE,
    CASE_TEXT,
    FIX,
    FIXED_SKILL,
    GUARD_YAML,
    RECORDS,
    RETAINED,
    SKILL,
    record,
    records,
)

FIX_MESSAGE = "fix(expense): ask"
FIX_IT = {SKILL: FIXED_SKILL}


class Range:
    """One repository, opened once; judges what lies between a revision and HEAD."""

    def __init__(self, repo: ScratchRepo, opened: Repo) -> None:
        self.repo = repo
        self.opened = opened

    def commits(self, *not_in: str, tips: Sequence[str] = ("HEAD",)) -> list[CommitInfo]:
        return own_commits(self.opened, tips, not_in)

    def judge(self, *not_in: str) -> Judgement:
        store = Store.open(self.opened.common_dir)
        return judge_range(self.opened, self.commits(*not_in), store, today="2031-01-01")

    def rules(self, *not_in: str) -> list[tuple[str, str]]:
        """Return (rule, subject) of what blocks."""
        return [(v.rule, v.commit.partition(" ")[2]) for v in self.judge(*not_in).blocking]


@pytest.fixture
def span(repo: ScratchRepo) -> Generator[Range]:
    repo.commit("feat: base", BASE)
    repo.git("branch", "base")
    with find_repo(str(repo.root)) as opened:
        yield Range(repo, opened)


# Reading ----------------------------------------------------------------------------------


def test_own_commits_come_oldest_first_with_what_they_say(span: Range) -> None:
    first = span.repo.commit("docs: one", {"a": "1\n"})
    second = span.repo.commit("docs: two\n\nBody.", {"a": "2\n"})
    commits = span.commits("base")
    assert [commit.id for commit in commits] == [first, second]
    assert commits[1].subject == "docs: two"
    assert commits[1].message == "docs: two\n\nBody.\n"
    assert commits[1].parents == (first,)
    assert commits[1].tree == span.repo.git("rev-parse", "HEAD^{tree}").strip()
    assert commits[1].title == f"{second[:10]} docs: two"


def test_what_a_remote_has_is_left_out(span: Range) -> None:
    span.repo.git("init", "--quiet", "--bare", "../up")
    span.repo.git("remote", "add", "origin", "../up")
    span.repo.git("push", "--quiet", "origin", "main")
    span.repo.commit("docs: mine", {"a": "1\n"})
    assert [c.subject for c in span.commits("--remotes=origin")] == ["docs: mine"]


def test_several_tips_and_nothing_at_all(span: Range) -> None:
    span.repo.git("checkout", "-q", "-b", "left")
    span.repo.commit("docs: left", {"l": "1\n"})
    span.repo.git("checkout", "-q", "-b", "right", "base")
    span.repo.commit("docs: right", {"r": "1\n"})
    found = {commit.subject for commit in span.commits("base", tips=("left", "right"))}
    assert found == {"docs: left", "docs: right"}
    assert span.commits("HEAD") == []
    assert span.judge("HEAD") == Judgement()


def test_a_replaced_or_grafted_commit_is_read_as_it_is(span: Range) -> None:
    span.repo.commit("docs: one", {"a": "1\n"})
    span.repo.commit("docs: two", {"a": "2\n"})
    span.repo.git("replace", "--graft", "HEAD")
    assert [c.subject for c in span.commits("base")] == ["docs: one", "docs: two"]


def test_a_message_in_another_encoding(span: Range) -> None:
    span.repo.git(
        "-c",
        "i18n.commitEncoding=iso-8859-1",
        "commit",
        "--allow-empty",
        "-F",
        "-",
        input="fix: W\udce4hrung\n",
    )
    assert span.commits("base")[0].subject == "fix: Währung"


def test_missing_history_is_unreadable(span: Range) -> None:
    span.repo.commit("docs: one", {"a": "1\n"})
    with pytest.raises(UnreadableError):
        span.commits("0" * 39 + "1")
    span.repo.git("clone", "--quiet", "--depth=1", f"file://{span.repo.root}", "../shallow")
    with find_repo(str(span.repo.root.parent / "shallow")) as shallow:
        (commit,) = own_commits(shallow, ["HEAD"], [])
        with pytest.raises(UnreadableError, match="is missing"):
            judge_range(shallow, [commit], Store.open(shallow.common_dir))


def test_differences_in_bulk_are_those_of_diff_tree(span: Range) -> None:
    names = ["a b", "line\nbreak", "ü", "0 1\nx"]
    for number, name in enumerate(names):
        span.repo.commit(f"docs: {number}", {name: "1\n", "a": f"{number}\n"})
    span.repo.commit("docs: nothing")
    revs = [f"HEAD~{n}^{{tree}}" for n in range(5, -1, -1)]
    trees = [span.opened.resolve(rev) or "" for rev in revs]
    found = differences(span.opened, pairwise(trees))
    assert len(found) == 4
    for (old, new), entries in found.items():
        before, after = (Tree(span.opened, oid).entries() for oid in (old, new))
        paths = {p for p in {*before, *after} if before.get(p) != after.get(p)}
        assert {entry.path for entry in entries} == paths
        assert all((before.get(e.path), after.get(e.path)) == (e.old, e.new) for e in entries)


# Judging ----------------------------------------------------------------------------------


def test_each_commit_is_judged_against_its_parent(span: Range) -> None:
    span.repo.commit(FIX_MESSAGE, FIX_IT)
    span.repo.commit("test: the case, too late", {CASE: CASE_TEXT})
    span.repo.commit("docs: other", {"a": "1\n"})
    judgement = span.judge("base")
    (violation,) = judgement.blocking
    commit = span.repo.git("rev-parse", "HEAD~2")[:10]
    assert violation.commit == f"{commit} {FIX_MESSAGE}"
    assert violation.rule == "fix-needs-case"
    assert violation.agent == "expense"


def test_a_good_range_holds(span: Range) -> None:
    span.repo.commit(FIX_MESSAGE, FIX)
    span.repo.commit("docs: other", {"a": "1\n"})
    assert span.judge("base") == Judgement()


def test_the_root_commit_is_judged_against_nothing(repo: ScratchRepo) -> None:
    repo.commit("fix: first", BASE)
    with find_repo(str(repo.root)) as opened:
        (violation,) = Range(repo, opened).judge().blocking
    assert violation.rule == "fix-needs-case"
    assert "no pre-fix tree" in violation.detail[0]


def test_an_autosquash_commit_that_is_pushed_is_judged(span: Range) -> None:
    span.repo.commit(f"fixup! {FIX_MESSAGE}", FIX_IT)
    assert span.rules("base") == [("fix-needs-case", f"fixup! {FIX_MESSAGE}")]


def test_exemptions_are_listed_with_their_commit(span: Range) -> None:
    commit = span.repo.commit(f"{FIX_MESSAGE}\n\nGuard-Exempt: the client goes away", FIX_IT)
    judgement = span.judge("base")
    assert judgement.violations == ()
    listed = f"{commit[:10]} {FIX_MESSAGE} (agent expense): the client goes away"
    assert judgement.exempt == (listed,)


def test_an_error_in_a_file_names_the_commit(span: Range) -> None:
    span.repo.commit("chore: break", {"guard.yaml": "version: 1\nagnets: {}\n"})
    with pytest.raises(ConfigError) as caught:
        span.judge("base")
    assert "chore: break: guard.yaml:2:" in caught.value.message


def test_a_repository_without_guard_yaml_has_nothing_to_say(repo: ScratchRepo) -> None:
    repo.commit("fix: a", {"a": "1\n"})
    with find_repo(str(repo.root)) as opened:
        assert Range(repo, opened).judge() == Judgement()


def test_a_revert_that_met_no_hook_is_a_deletion(span: Range) -> None:
    span.repo.commit(FIX_MESSAGE, FIX)
    span.repo.git("branch", "-f", "base")
    span.repo.git("revert", "--no-edit", "HEAD")
    subject = f'Revert "{FIX_MESSAGE}"'
    rules = ("case-weakened", "agent-without-case")
    assert span.rules("base") == [(rule, subject) for rule in rules]


def test_by_range_a_later_commit_may_bring_what_is_missing(span: Range) -> None:
    span.repo.commit("chore: range", {"guard.yaml": GUARD_YAML + "fix: {unit: range}\n"})
    span.repo.git("branch", "-f", "base")
    span.repo.commit(FIX_MESSAGE, FIX_IT)
    assert span.rules("base") == [("fix-needs-case", FIX_MESSAGE)]
    span.repo.commit("test: the case", {CASE: CASE_TEXT})
    assert span.rules("base") == [("fix-needs-record", FIX_MESSAGE)]
    span.repo.commit("test: the record", {RECORDS: records(eur_taxi=record())})
    assert span.rules("base") == []


def test_by_range_an_earlier_commit_does_not_count(span: Range) -> None:
    span.repo.commit("chore: range", {"guard.yaml": GUARD_YAML + "fix: {unit: range}\n"})
    span.repo.git("branch", "-f", "base")
    span.repo.commit("test: first", {CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    span.repo.commit(FIX_MESSAGE, FIX_IT)
    assert span.rules("base") == [("fix-needs-case", FIX_MESSAGE)]


UNREADABLE = CASE_TEXT.replace("[euro]", "[1]")


def test_by_range_what_cannot_be_read_brings_nothing(span: Range) -> None:
    """What it broke was mended later: that brings it, and nothing else is wrong with the range."""
    span.repo.commit("chore: range", {"guard.yaml": GUARD_YAML + "fix: {unit: range}\n"})
    span.repo.git("branch", "-f", "base")
    span.repo.commit(FIX_MESSAGE, FIX_IT)
    span.repo.commit("test: broken", {CASE: UNREADABLE})
    assert span.rules("base") == [("fix-needs-case", FIX_MESSAGE)]
    span.repo.commit("test: the case", {CASE: CASE_TEXT})
    assert span.rules("base") == [("fix-needs-record", FIX_MESSAGE)]
    span.repo.commit("test: the record", {RECORDS: records(eur_taxi=record())})
    assert span.rules("base") == []


def test_by_range_a_broken_case_beside_hides_no_case(span: Range) -> None:
    """A file that another commit broke says nothing of what this one brings."""
    span.repo.commit("chore: range", {"guard.yaml": GUARD_YAML + "fix: {unit: range}\n"})
    span.repo.git("branch", "-f", "base")
    span.repo.commit(FIX_MESSAGE, FIX_IT)
    broken = UNREADABLE.replace("eur-taxi", "two")
    span.repo.commit("test: broken", {"evals/cases/two.md": broken})
    span.repo.commit("test: the case", {CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    span.repo.commit("test: mended", {"evals/cases/two.md": None})
    assert span.rules("base") == []


def test_what_cannot_be_read_says_how_it_is_mended(span: Range) -> None:
    broken = span.repo.commit("chore: break", {"guard.yaml": "- no\n"})[:10]
    for commits, hint in (
        (1, "git commit --amend    # with that mended and staged"),
        (2, f"git rebase -i {broken}^    # edit {broken}"),
    ):
        with pytest.raises(UsageError) as caught:
            span.judge("base")
        assert "chore: break: guard.yaml:1" in caught.value.message
        assert caught.value.hint == hint, commits
        span.repo.commit("docs: more", {"more": "1\n"})


def test_a_first_commit_that_cannot_be_read_is_edited_from_the_root(repo: ScratchRepo) -> None:
    first = repo.commit("feat: broken", {"guard.yaml": "- no\n"})[:10]
    repo.commit("docs: more", {"more": "1\n"})
    with find_repo(str(repo.root)) as opened, pytest.raises(UsageError) as caught:
        Range(repo, opened).judge()
    assert caught.value.hint == f"git rebase -i --root    # edit {first}"


# Merges -----------------------------------------------------------------------------------


@pytest.fixture
def forked(span: Range) -> Range:
    """A base with a retained case, branch topic with a commit of its own; main is out."""
    span.repo.commit("fix: base", RETAINED)
    span.repo.git("branch", "-f", "base")
    span.repo.git("checkout", "-q", "-b", "topic")
    span.repo.commit("docs: topic", {"topic": "1\n"})
    span.repo.git("checkout", "-q", "main")
    return span


OVER = {"reason": "the client is gone", "date": "2031-01-01"}
RETIRED = {RECORDS: records(eur_taxi=record(status="retired", retirement=OVER))}
WEAKER = {CASE: CASE_TEXT.replace("[euro]", "[eur]")}
SECOND = {
    "evals/cases/two.md": CASE_TEXT.replace("eur-taxi", "two"),
    RECORDS: records(eur_taxi=record(), two=record(case="evals/cases/two.md")),
}


def merge(span: Range, *flags: str) -> None:
    span.repo.git("merge", "--quiet", "--no-ff", "-m", "Merge topic", *flags, "topic")


def test_a_merge_repeats_no_commit(forked: Range) -> None:
    forked.repo.commit("docs: main", {"main": "1\n"})
    merge(forked)
    assert forked.rules("base") == []


def test_a_fix_on_a_branch_is_judged_there_and_not_in_the_merge(forked: Range) -> None:
    forked.repo.git("checkout", "-q", "topic")
    forked.repo.commit(FIX_MESSAGE, FIX_IT)
    forked.repo.git("checkout", "-q", "main")
    merge(forked)
    assert forked.rules("base") == [("fix-needs-case", FIX_MESSAGE)]


def test_a_merge_that_drops_a_case_of_one_side(forked: Range) -> None:
    forked.repo.git("checkout", "-q", "topic")
    forked.repo.commit("test: two", SECOND)
    forked.repo.git("checkout", "-q", "main")
    forked.repo.commit("docs: main", {"main": "1\n"})
    merge(forked, "--strategy=ours")
    assert forked.rules("base") == [("case-weakened", "Merge topic")]


def test_what_one_side_retired_may_be_gone_in_the_merge(forked: Range) -> None:
    forked.repo.commit("chore: retire", RETIRED)
    forked.repo.commit("chore: drop", {RECORDS: records(), CASE: None})
    merge(forked)
    assert [rule for rule in forked.rules("base") if rule[1] == "Merge topic"] == []


def test_what_one_side_weakened_is_judged_there_alone(forked: Range) -> None:
    forked.repo.commit("test: weaker", WEAKER)
    merge(forked)
    assert forked.rules("base") == [("case-weakened", "test: weaker")]


def test_a_merge_that_weakens_by_itself(forked: Range) -> None:
    forked.repo.git("merge", "--quiet", "--no-ff", "--no-commit", "topic")
    forked.repo.commit("Merge topic", WEAKER)
    assert forked.rules("base") == [("case-weakened", "Merge topic")]
    said = "Merge topic\n\nCase-Weakened: eur-taxi: both sides agree on it"
    forked.repo.git("commit", "--amend", "--quiet", "-m", said)
    assert forked.rules("base") == []


def test_a_merge_that_narrows_guard_yaml_by_itself(forked: Range) -> None:
    forked.repo.git("merge", "--quiet", "--no-ff", "--no-commit", "topic")
    narrower = GUARD_YAML.replace("skills/expense/**", "skills/expense/*.txt")
    forked.repo.commit("Merge topic", {"guard.yaml": narrower})
    assert forked.rules("base") == [("case-weakened", "Merge topic")]


def test_unrelated_histories(forked: Range) -> None:
    forked.repo.git("checkout", "-q", "--orphan", "other")
    forked.repo.commit("docs: other", {SKILL: FIXED_SKILL})
    forked.repo.git("checkout", "-q", "main")
    flags = ("--allow-unrelated-histories", "-s", "ours")
    forked.repo.git("merge", "-q", "--no-ff", "-m", "Merge other", *flags, "other")
    assert [rule for rule in forked.rules("base") if rule[1] == "Merge other"] == []


def test_many_commits_take_few_processes(
    span: Range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        span.repo.commit(f"docs: {number}", {SKILL: f"{number}\n"})
    trace = tmp_path / "trace"
    with monkeypatch.context() as patched:
        patched.setenv("GIT_TRACE", str(trace))
        with find_repo(str(span.repo.root)) as opened:
            assert Range(span.repo, opened).judge("base") == Judgement()
    called = [line.split("git ")[-1].split()[0] for line in trace.read_text().splitlines()]
    assert sorted(called) == ["cat-file", "diff-tree", "rev-list", "rev-parse"]


# Shallow clones, other repositories -------------------------------------------------------


def test_a_range_that_meets_the_end_of_a_shallow_clone(span: Range) -> None:
    for number in range(4):
        span.repo.commit(f"docs: {number}", {"a": f"{number}\n"})
    span.repo.git("clone", "--quiet", "--depth=3", f"file://{span.repo.root}", "../shallow")
    with find_repo(str(span.repo.root.parent / "shallow")) as shallow:
        store = Store.open(shallow.common_dir)
        assert len(shallow_commits(shallow)) == 1
        within = own_commits(shallow, ["HEAD"], ["HEAD~2"])
        assert judge_range(shallow, within, store) == Judgement()
        cut_off = own_commits(shallow, ["HEAD"], [])
        with pytest.raises(UnreadableError, match="is missing: a shallow") as caught:
            judge_range(shallow, cut_off, store)
        assert caught.value.hint == "git fetch --unshallow"


def test_the_end_of_a_shallow_clone_is_no_root_even_where_its_parent_is_here(span: Range) -> None:
    """A walk stops there: what lies behind would be left out unseen."""
    span.repo.commit(FIX_MESSAGE, FIX_IT)
    end = span.repo.commit("docs: one", {"a": "1\n"})
    span.repo.commit("docs: two", {"a": "2\n"})
    assert span.rules("base") == [("fix-needs-case", FIX_MESSAGE)]
    (span.repo.root / ".git" / "shallow").write_text(f"{end}\n")
    with pytest.raises(UnreadableError, match="a shallow clone"):
        span.judge("base")


def test_a_repository_of_another_hash(tmp_path: Path) -> None:
    root = tmp_path / "wide"
    root.mkdir()
    repo = ScratchRepo(root)
    repo.git("init", "--quiet", "--object-format=sha256")
    repo.commit("feat: base", BASE)
    repo.git("branch", "base")
    repo.commit(FIX_MESSAGE, FIX_IT)
    with find_repo(str(root)) as opened:
        span = Range(repo, opened)
        assert len(span.commits("base")[0].id) == 64
        assert span.rules("base") == [("fix-needs-case", FIX_MESSAGE)]
        repo.git("reset", "-q", "--hard", "base")
        repo.commit(FIX_MESSAGE, FIX)
        assert span.rules("base") == []


def test_a_merge_of_three_that_drops_a_case(forked: Range) -> None:
    for name in ("two", "three"):
        forked.repo.git("checkout", "-q", "-b", name, "base")
        forked.repo.commit(f"docs: {name}", {name: "1\n"})
    forked.repo.git("checkout", "-q", "main")
    forked.repo.git("merge", "-q", "--no-ff", "-m", "Merge three", "topic", "two", "three")
    assert len(forked.commits("base")[-1].parents) == 4
    assert forked.rules("base") == []
    forked.repo.write(WEAKER)
    forked.repo.git("commit", "-aqm", "Merge three", "--amend")
    assert forked.rules("base") == [("case-weakened", "Merge three")]


def test_a_reapplied_fix_is_a_fix_again(span: Range) -> None:
    span.repo.commit(FIX_MESSAGE, FIX)
    span.repo.commit("chore: take back", {SKILL: BASE[SKILL]})
    span.repo.git("branch", "-f", "base")
    span.repo.commit(f'Reapply "{FIX_MESSAGE}"', FIX_IT)
    assert span.rules("base") == [("fix-needs-case", f'Reapply "{FIX_MESSAGE}"')]


def test_an_empty_fix_owes_nothing(span: Range) -> None:
    span.repo.commit(FIX_MESSAGE)
    assert span.rules("base") == []


# Listening, and going on ------------------------------------------------------------------


def test_one_who_listens_hears_of_commits_that_may_concern_an_agent(span: Range) -> None:
    span.repo.commit("docs: other", {"a": "1\n"})
    span.repo.commit("feat: skill", FIX_IT)
    heard: list[str] = []

    def hear(judged: JudgedCommit) -> None:
        heard.append(judged.message.header)

    store = Store.open(span.opened.common_dir)
    RangeJudge(span.opened, span.commits("base"), store, heard=hear).judge()
    assert heard == ["feat: skill"]


def test_one_who_wants_to_hears_of_errors_and_of_all_the_rest(span: Range) -> None:
    span.repo.commit("chore: break", {"guard.yaml": "version: 1\nagnets: {}\n"})
    span.repo.commit("chore: mend", {"guard.yaml": GUARD_YAML})
    span.repo.commit(FIX_MESSAGE, FIX_IT)
    failed: list[GuardError] = []
    store = Store.open(span.opened.common_dir)
    judging = RangeJudge(span.opened, span.commits("base"), store, failed=failed.append)
    found = judging.judge()
    assert [error.message.split(": guard.yaml")[0][18:] for error in failed] == ["chore: break"]
    assert [violation.rule for violation in found.blocking] == ["fix-needs-case"]


def test_more_commits_than_are_held_at_once(span: Range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard.judging.ranges.AT_ONCE", 2)
    monkeypatch.setattr("guard.judging.ranges.MOST_PROJECTS", 2)
    span.repo.commit("chore: range", {"guard.yaml": GUARD_YAML + "fix: {unit: range}\n"})
    span.repo.git("branch", "-f", "base")
    span.repo.commit(FIX_MESSAGE, FIX_IT)
    for number in range(5):
        span.repo.commit(f"docs: {number}", {"a": f"{number}\n"})
    lacking = [("fix-needs-case", FIX_MESSAGE)]
    assert span.rules("base") == lacking
    span.repo.commit("test: both", {CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    assert span.rules("base") == []
