"""Where a record came in: one walk over histories as people make them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from guard.errors import UnreadableError
from guard.git import Repo, find_repo
from guard.proofs.origin import History, Origin, commits_before
from guard.proofs.walk import Walk
from guard.store import Store
from tests.clerk import record, regressions
from tests.conftest import ScratchRepo


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as found:
        yield found


def history_of(opened: Repo, tip: str = "HEAD") -> History:
    return History(opened, Store.open(opened.common_dir), tip)


def origins(opened: Repo, name: str = "taxi", tip: str = "HEAD") -> list[Origin]:
    return list(history_of(opened, tip).origins(name))


def with_records(**records: int) -> dict[str, str]:
    return {
        "regressions.json": regressions(
            **{name: record(reopened=count or None) for name, count in records.items()}
        )
    }


def test_before_the_first_commit_nothing_is_held(repo: ScratchRepo, opened: Repo) -> None:
    history = history_of(opened)
    assert not history.holds("taxi", 0)
    assert list(history.origins("taxi")) == []
    assert history.before_branch(Origin("", "")) == ""


def test_the_commit_that_adds_it_is_its_origin(repo: ScratchRepo, opened: Repo) -> None:
    before = repo.commit("start", {"a": "1"})
    added = repo.commit("fix: taxi", with_records(taxi=0))
    repo.commit("later", {"a": "2"})
    assert origins(opened) == [Origin(added, before)]
    assert history_of(opened).holds("taxi", 0)
    assert not history_of(opened).holds("taxi", 1)
    assert not history_of(opened).holds("other", 0)


def test_other_records_and_edits_of_it_are_no_origin(repo: ScratchRepo, opened: Repo) -> None:
    before = repo.commit("start", {"a": "1"})
    added = repo.commit("fix: taxi", with_records(taxi=0))
    repo.commit("fix: other", with_records(taxi=0, other=0))
    repo.commit("fix: less", with_records(taxi=0))
    assert origins(opened) == [Origin(added, before)]


def test_the_root_commit_has_nothing_before_it(repo: ScratchRepo, opened: Repo) -> None:
    added = repo.commit("start", with_records(taxi=0))
    assert origins(opened) == [Origin(added, "")]


def test_taken_away_and_added_again_are_two_origins(repo: ScratchRepo, opened: Repo) -> None:
    start = repo.commit("start", {"a": "1"})
    first = repo.commit("fix: taxi", with_records(taxi=0))
    gone = repo.commit("a bad merge", with_records(other=0))
    again = repo.commit("add it again", with_records(other=0, taxi=0))
    assert origins(opened) == [Origin(again, gone), Origin(first, start)]


def test_a_raised_count_is_an_origin_and_a_lowered_one_is_not(
    repo: ScratchRepo, opened: Repo
) -> None:
    start = repo.commit("start", {"a": "1"})
    first = repo.commit("fix: taxi", with_records(taxi=0))
    second = repo.commit("fix: taxi again", with_records(taxi=1))
    assert origins(opened) == [Origin(second, first), Origin(first, start)]
    assert history_of(opened).holds("taxi", 1)
    repo.commit("by mistake", with_records(taxi=0))
    assert [origin.commit for origin in origins(opened)] == [second, first]


def test_a_version_that_does_not_parse_counts_as_its_parents(
    repo: ScratchRepo, opened: Repo
) -> None:
    start = repo.commit("start", {"a": "1"})
    first = repo.commit("fix: taxi", with_records(taxi=0))
    repo.commit("conflict markers", {"regressions.json": "<<<<<<< ours\n{}\n"})
    repo.commit("mended", with_records(taxi=0))
    assert origins(opened) == [Origin(first, start)]


def test_a_merge_of_two_branches_is_no_origin(repo: ScratchRepo, opened: Repo) -> None:
    start = repo.commit("start", with_records())
    repo.git("checkout", "-q", "-b", "topic")
    topic = repo.commit("fix: taxi", with_records(taxi=0))
    repo.git("checkout", "-q", "main")
    repo.commit("fix: other", with_records(other=0))
    repo.git("merge", "-q", "--no-commit", "-s", "ours", "topic")
    repo.commit("merge", with_records(other=0, taxi=0))
    assert origins(opened) == [Origin(topic, start)]


def test_deleting_the_file_ends_it(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("fix: taxi", with_records(taxi=0))
    repo.commit("away", {"regressions.json": None, "a": "1"})
    assert not history_of(opened).holds("taxi", 0)


def test_squash_rebase_and_amend_move_it_along(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {"a": "1"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("fix: taxi", with_records(taxi=0))
    repo.git("commit", "-q", "--amend", "-m", "fix: taxi, amended")
    repo.git("checkout", "-q", "main")
    base = repo.commit("meanwhile", {"b": "1"})
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main")
    assert origins(opened) == [Origin(repo.git("rev-parse", "HEAD").strip(), base)]
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "topic")
    squashed = repo.commit("fix: taxi (#1)")
    assert origins(opened) == [Origin(squashed, base)]


def test_the_walk_is_kept_and_a_later_tip_extends_it(repo: ScratchRepo, opened: Repo) -> None:
    start = repo.commit("start", {"a": "1"})
    fixed = repo.commit("fix: taxi", with_records(taxi=0))
    store = Store.open(opened.common_dir)
    first = list(History(opened, store).origins("taxi"))

    class NoWalk(History):
        def _walk(self) -> Walk:
            raise AssertionError("the walk is kept")

    assert list(NoWalk(opened, store).origins("taxi")) == first
    other = repo.commit("fix: cab", with_records(taxi=0, cab=0))
    again = repo.commit("fix: taxi again", with_records(taxi=1, cab=0))
    history = NoWalk(opened, store)
    assert list(history.origins("taxi")) == [Origin(again, other), Origin(fixed, start)]
    assert list(history.origins("cab")) == [Origin(other, fixed)]
    repo.git("checkout", "-q", "--orphan", "elsewhere")
    repo.commit("start", {"a": "2"})
    with pytest.raises(AssertionError, match="kept"):
        list(NoWalk(opened, store).origins("taxi"))
    store.close()


def test_a_side_that_a_merge_took_nothing_of(repo: ScratchRepo, opened: Repo) -> None:
    start = repo.commit("start", with_records())
    fixed = repo.commit("fix: taxi", with_records(taxi=0))
    repo.git("checkout", "-q", "-b", "topic", start)
    repo.commit("topic", with_records(other=0))
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-commit", "-s", "ours", "topic")
    merged = repo.commit("a bad merge", with_records(other=0))
    again = repo.commit("add it again", with_records(other=0, taxi=0))
    history = history_of(opened)
    assert list(history.origins("taxi")) == [Origin(again, merged)]
    assert list(history.left_behind("taxi")) == [Origin(fixed, start)]
    assert list(history.left_behind("other")) == []


def cloned(repo: ScratchRepo, folder: Path, depth: int) -> ScratchRepo:
    source = f"file://{repo.root}"
    repo.git("clone", "-q", f"--depth={depth}", source, str(folder))
    return ScratchRepo(folder)


def test_a_shallow_clone_that_hides_it_says_how_to_fetch(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("start", {"a": "1"})
    repo.commit("fix: taxi", with_records(taxi=0))
    repo.commit("later", {"a": "2"})
    shallow = cloned(repo, tmp_path / "shallow", 2)
    with find_repo(str(shallow.root)) as opened:
        with pytest.raises(UnreadableError) as raised:
            origins(opened)
        assert raised.value.hint == "git fetch --unshallow"
        assert history_of(opened).holds("taxi", 0)
        shallow.git("fetch", "-q", "--unshallow")
        assert len(origins(opened)) == 1


def test_a_shallow_clone_that_holds_it_is_enough(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("long ago", {"a": "0"})
    before = repo.commit("start", {"a": "1"})
    added = repo.commit("fix: taxi", with_records(taxi=0))
    shallow = cloned(repo, tmp_path / "shallow", 2)
    with find_repo(str(shallow.root)) as opened:
        assert origins(opened) == [Origin(added, before)]


def test_a_branch_was_brought_by_the_merge_into_first_parents(
    repo: ScratchRepo, opened: Repo
) -> None:
    repo.commit("start", {"a": "1"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("half of the fix", {"a": "2"})
    added = repo.commit("fix: taxi", with_records(taxi=0))
    repo.commit("after it", {"c": "1"})
    repo.git("checkout", "-q", "main")
    main = repo.commit("meanwhile", {"b": "1"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    repo.commit("later", {"b": "2"})
    origin = origins(opened)[0]
    assert origin.commit == added
    assert history_of(opened).before_branch(origin) == main


def test_a_branch_within_a_branch_is_brought_by_the_outer_merge(
    repo: ScratchRepo, opened: Repo
) -> None:
    repo.commit("start", {"a": "1"})
    repo.git("checkout", "-q", "-b", "outer")
    repo.commit("outer", {"o": "1"})
    repo.git("checkout", "-q", "-b", "inner")
    repo.commit("fix: taxi", with_records(taxi=0))
    repo.git("checkout", "-q", "outer")
    repo.git("merge", "-q", "--no-ff", "-m", "inner", "inner")
    repo.git("checkout", "-q", "main")
    main = repo.commit("meanwhile", {"b": "1"})
    repo.git("merge", "-q", "--no-ff", "-m", "outer", "outer")
    assert history_of(opened).before_branch(origins(opened)[0]) == main


def test_an_unmerged_branch_begins_where_it_left_the_default_branch(
    repo: ScratchRepo, opened: Repo, tmp_path: Path
) -> None:
    fork = repo.commit("start", {"a": "1"})
    clone = tmp_path / "clone"
    repo.git("clone", "-q", str(repo.root), str(clone))
    work = ScratchRepo(clone)
    work.git("checkout", "-q", "-b", "topic")
    work.commit("half of the fix", {"a": "2"})
    work.commit("fix: taxi", with_records(taxi=0))
    with find_repo(str(clone)) as found:
        history = history_of(found)
        assert history.before_branch(next(history.origins("taxi"))) == fork
        assert history.before_branch(Origin("", history.tip)) == fork


def test_on_the_default_branch_there_is_no_wider_state(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {"a": "1"})
    repo.commit("fix: taxi", with_records(taxi=0))
    repo.commit("later", {"a": "2"})
    history = history_of(opened)
    assert history.before_branch(next(history.origins("taxi"))) == ""


def test_a_merge_under_way_has_its_other_parents_too(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {"a": "1"})
    assert commits_before(opened, ["HEAD"]) == ["HEAD"]
    repo.git("checkout", "-q", "-b", "topic")
    topic = repo.commit("topic", {"b": "1"})
    repo.git("checkout", "-q", "main")
    repo.commit("main", {"c": "1"})
    repo.git("merge", "-q", "--no-commit", "--no-ff", "topic")
    assert commits_before(opened, ["HEAD"]) == ["HEAD", topic]
