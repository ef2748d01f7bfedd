"""Git's bisection by plumbing: it finds what can be found, in few steps, and writes nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Generator
from math import ceil, log2

import pytest

from guard.bisecting.search import BAD, GOOD, SKIPPED, Search, bases_between, find_commit
from guard.errors import UnreadableError, UsageError
from guard.git import Repo, find_repo
from tests.conftest import ScratchRepo
from tests.invariants import unchanged


@pytest.fixture
def opened(repo: ScratchRepo) -> Generator[Repo]:
    with find_repo(str(repo.root)) as found:
        yield found


class History:
    """Commits without content, made fast: only who comes from whom matters here."""

    def __init__(self, repo: ScratchRepo) -> None:
        self.repo = repo
        self.tree = repo.git("write-tree").strip()
        self._held: dict[str, frozenset[str]] = {}

    def add(self, *parents: str) -> str:
        options = [word for parent in parents for word in ("-p", parent)]
        message = str(len(self._held))
        made = self.repo.git("commit-tree", self.tree, "-m", message, *options).strip()
        self._held[made] = frozenset((made,)).union(*(self._held[parent] for parent in parents))
        return made

    def line(self, count: int, start: str = "") -> list[str]:
        made: list[str] = []
        for _ in range(count):
            made.append(self.add(*([made[-1]] if made else [start] if start else [])))
        return made

    def holds(self, commit: str) -> frozenset[str]:
        """Return a commit and all its ancestors."""
        return self._held[commit]


def drive(search: Search, judge: Callable[[str], str]) -> list[str]:
    """Search to the end; return what was tried."""
    tried: list[str] = []
    while (commit := search.following()) is not None:
        assert commit not in tried
        tried.append(commit)
        search.mark(commit, judge(commit))
    return tried


def breaks(history: History, culprit: str, skipped: Collection[str] = ()) -> Callable[[str], str]:
    def judge(commit: str) -> str:
        if commit in skipped:
            return SKIPPED
        return BAD if culprit in history.holds(commit) else GOOD

    return judge


def test_a_line_is_halved(repo: ScratchRepo, opened: Repo) -> None:
    history = History(repo)
    line = history.line(17)
    for culprit in line[1:]:
        search = Search(opened, line[0], line[-1])
        tried = drive(search, breaks(history, culprit))
        assert search.suspects() == [culprit]
        assert len(tried) <= ceil(log2(16))


def grow(history: History, draw: random.Random, count: int) -> list[str]:
    """Return a history of branches and merges; the last commit holds all others."""
    made = [history.add()]
    for _ in range(count):
        parents = draw.sample(made[-4:], k=min(len(made), draw.choice((1, 1, 2))))
        made.append(history.add(*parents))
    tips = set(made)
    for commit in made:
        tips -= history.holds(commit) - {commit}
    return [*made, history.add(*sorted(tips))]


@pytest.mark.parametrize("seed", range(3))
def test_every_culprit_among_branches_is_found(repo: ScratchRepo, opened: Repo, seed: int) -> None:
    history = History(repo)
    made = grow(history, random.Random(seed), 12)
    for culprit in made[1:]:
        search = Search(opened, made[0], made[-1])
        drive(search, breaks(history, culprit))
        assert search.suspects() == [culprit]
        assert search.bad == culprit


@pytest.mark.parametrize("seed", range(3))
def test_what_is_skipped_leaves_the_culprit_among_the_suspects(
    repo: ScratchRepo, opened: Repo, seed: int
) -> None:
    history, draw = History(repo), random.Random(seed)
    made = grow(history, draw, 12)
    skipped = draw.sample(made[1:-1], k=5)
    for culprit in made[1:]:
        search = Search(opened, made[0], made[-1])
        drive(search, breaks(history, culprit, skipped))
        suspects = search.suspects()
        assert culprit in suspects
        assert set(suspects) - {search.bad} <= set(skipped)


def test_it_moves_away_from_what_is_skipped(repo: ScratchRepo, opened: Repo) -> None:
    """Half of a line can't be tested: not all of that half is tried one by one."""
    history = History(repo)
    line = history.line(101)
    search = Search(opened, line[0], line[-1])
    tried = drive(search, breaks(history, line[90], line[30:60]))
    assert search.suspects() == [line[90]]
    assert len(set(tried) & set(line[30:60])) < 15


def test_only_first_parents_are_followed(repo: ScratchRepo, opened: Repo) -> None:
    history = History(repo)
    trunk = history.line(4)
    side = history.line(3, trunk[0])
    merge = history.add(trunk[-1], side[-1])
    tip = history.add(merge)
    judge = breaks(history, side[1])
    wide = Search(opened, trunk[0], tip)
    drive(wide, judge)
    assert wide.suspects() == [side[1]]
    assert wide.parents(merge) == (trunk[-1], side[-1])
    narrow = Search(opened, trunk[0], tip, first_parent=True)
    assert not set(drive(narrow, judge)) & set(side)
    assert narrow.suspects() == [merge]
    assert narrow.parents(merge) == (trunk[-1],)


def test_a_mark_that_is_taken_back_widens_the_range(repo: ScratchRepo, opened: Repo) -> None:
    line = History(repo).line(9)
    search = Search(opened, line[0], line[8])
    search.mark(line[4], BAD)
    search.mark(line[2], GOOD)
    assert search.suspects() == [line[4], line[3]]
    search.mark(line[4], SKIPPED)
    assert search.bad == line[8]
    assert search.suspects() == line[8:2:-1]
    search.mark(line[2], SKIPPED)
    assert search.suspects() == line[8:0:-1]


def test_where_good_and_bad_parted(repo: ScratchRepo, opened: Repo) -> None:
    history = History(repo)
    trunk = history.line(3)
    side = history.line(2, trunk[1])
    assert bases_between(opened, trunk[0], trunk[2]) == []
    assert bases_between(opened, trunk[2], trunk[0]) == [trunk[0]]
    assert bases_between(opened, side[1], trunk[2]) == [trunk[1]]
    with pytest.raises(UsageError, match="no history in common"):
        bases_between(opened, history.add(), trunk[2])


def test_names_of_commits(repo: ScratchRepo, opened: Repo) -> None:
    commit = repo.commit("one", {"a": "1"})
    repo.git("tag", "-a", "v1", "-m", "v1")
    for name in ("main", "v1", commit[:8], "HEAD"):
        assert find_commit(opened, name) == commit
    for name in ("v2", "HEAD~1", "HEAD:a", "--all", ""):
        with pytest.raises(UsageError, match="names no commit here"):
            find_commit(opened, name)


def test_a_shallow_clone_says_how_to_fetch(repo: ScratchRepo) -> None:
    first = repo.commit("one", {"a": "1"})
    repo.commit("two", {"a": "2"})
    repo.git("checkout", "--quiet", "-b", "side", first)
    repo.commit("three", {"b": "2"})
    repo.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.root}", "../clone")
    with find_repo(str(repo.root.parent / "clone")) as clone:
        with pytest.raises(UnreadableError, match="the history ends") as ended:
            bases_between(clone, "origin/side", "origin/main")
        assert ended.value.hint == "git fetch --unshallow"
        with pytest.raises(UsageError) as unknown:
            find_commit(clone, first)
        assert unknown.value.hint == "git fetch --unshallow"


def test_nothing_is_written(repo: ScratchRepo, opened: Repo) -> None:
    history = History(repo)
    line = history.line(9)
    repo.git("update-ref", "refs/heads/main", line[-1])
    with unchanged(repo):
        drive(Search(opened, line[0], line[-1]), breaks(history, line[5]))
