"""Where a range comes from: what is stated, an event, a merge made for the job, a branch."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from guard.ci.services import Told
from guard.ci.span import Span, find_span
from guard.errors import UnreadableError, UsageError
from guard.git import Repo, find_repo
from tests.conftest import ScratchRepo

ZEROS = "0" * 40
GONE = "d" * 40
GITHUB = Told("GitHub Actions", default="main")


class Place:
    """A repository whose remote has main; a topic branch of two commits is checked out."""

    def __init__(self, repo: ScratchRepo, opened: Repo) -> None:
        self.repo = repo
        self.opened = opened
        self.main = self.oid("origin/main")
        self.head = self.oid("HEAD")

    def oid(self, rev: str) -> str:
        return self.repo.git("rev-parse", rev).strip()

    def find(
        self,
        told: Told = GITHUB,
        stated: str = "",
        *,
        optional: bool = False,
        untrusted: bool = False,
    ) -> Span:
        return find_span(self.opened, stated, told, optional=optional, untrusted=untrusted)

    def subjects(
        self, told: Told = GITHUB, stated: str = "", *, optional: bool = False
    ) -> list[str]:
        """Return the subjects of the commits in the range, the oldest first."""
        span = self.find(told, stated, optional=optional)
        return [commit.subject for commit in span.commits(self.opened)]

    def merge(self, message: str = "Merge made for the job") -> str:
        """Check out a merge of topic into what the remote's main has."""
        self.repo.git("checkout", "-q", "--detach", "origin/main")
        self.repo.git("merge", "-q", "--no-ff", "-m", message, "topic")
        return self.oid("HEAD")


@pytest.fixture
def place(repo: ScratchRepo) -> Generator[Place]:
    repo.commit("base", {"a": "1\n"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("one", {"b": "1\n"})
    repo.commit("two", {"b": "2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("of main", {"c": "1\n"})
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    repo.git("checkout", "-q", "topic")
    with find_repo(str(repo.root)) as opened:
        yield Place(repo, opened)


def pull_request(place: Place) -> Told:
    return GITHUB._replace(target="main", base=place.main, head=place.oid("topic"))


# Stated -----------------------------------------------------------------------------------


def test_a_base_that_is_stated(place: Place) -> None:
    span = place.find(stated="origin/main")
    assert (span.base, span.tip) == (place.main, place.head)
    assert span.start == place.oid("topic~2")
    assert span.said == f"since origin/main ({place.main[:10]})"
    assert place.subjects(stated="HEAD^") == ["two"]
    assert place.subjects(stated="HEAD") == []
    assert place.find(stated=place.main[:12]).said == f"since {place.main[:12]}"


@pytest.mark.parametrize("name", ["nowhere", "origin/nowhere", "HEAD~9", "--all", "feed"])
def test_a_name_that_is_none_is_a_mistake(place: Place, name: str) -> None:
    with pytest.raises(UsageError, match=f"--base {name} names no commit"):
        place.find(stated=name)


@pytest.mark.parametrize(("stated", "why"), [(ZEROS, "a new branch"), (GONE, "not here")])
def test_zeros_and_what_is_gone_fall_back_aloud(place: Place, stated: str, why: str) -> None:
    span = place.find(stated=stated)
    assert why in span.said
    assert "the merge base with origin/main" in span.said
    assert place.subjects(stated=stated) == ["one", "two"]


# Pull requests ----------------------------------------------------------------------------


def test_the_merge_made_for_a_pull_request(place: Place) -> None:
    told = pull_request(place)
    tip = place.merge()
    span = place.find(told)
    assert (span.tip, span.base, span.start) == (tip, place.main, place.main)
    assert place.subjects(told) == ["one", "two", "Merge made for the job"]


def test_a_merge_into_what_the_target_has_become_since(place: Place) -> None:
    """The event's base is of the time when it was sent; the service merged into a newer one."""
    told = pull_request(place)._replace(base=place.oid("topic~2"))
    place.merge()
    assert (place.find(told).base, place.find(told).start) == (place.main, place.main)
    assert place.subjects(told) == ["one", "two", "Merge made for the job"]


# What a stranger makes ---------------------------------------------------------------------

MERGES = ("Merge 1111 into 2222", f"Merge {GONE} into {ZEROS}", "Merge branch 'main'")


def made_by_a_stranger(place: Place, message: str) -> str:
    """Check out a merge whose first parent is the stranger's own commit."""
    made = place.repo.git(
        *("commit-tree", "topic^{tree}", "-p", "topic", "-p", place.main, "-m", message)
    ).strip()
    place.repo.git("checkout", "-q", "--detach", made)
    return made


@pytest.mark.parametrize("message", MERGES)
@pytest.mark.parametrize("untrusted", [False, True])
def test_no_merge_of_a_stranger_s_is_the_service_s(
    place: Place, message: str, untrusted: bool
) -> None:
    made = made_by_a_stranger(place, message)
    told = pull_request(place)._replace(head=made)
    for one in (
        told,
        told._replace(base=GONE),
        Told("Azure Pipelines", target="main", head=made),
        Told("Bitbucket Pipelines", target="main", base=place.main[:12]),
        Told("CircleCI", branch="pull/7"),
        Told(),
    ):
        assert place.find(one, untrusted=untrusted).base == place.main, one
        assert place.subjects(one) == ["one", "two", message], one


@pytest.mark.parametrize("message", MERGES)
def test_a_merge_that_is_pushed_is_judged_from_what_was_there(place: Place, message: str) -> None:
    before = place.oid("topic~2")
    made_by_a_stranger(place, message)
    told = Told("GitLab CI", before=before, branch="topic")
    assert place.subjects(told) == ["one", "two", message]


def test_a_merge_of_the_event_s_head_into_a_stranger_s_commit(place: Place) -> None:
    """A later commit than the event's was checked out; it has that one as its second parent."""
    told = pull_request(place)
    place.repo.git("checkout", "-q", "-b", "evil", "origin/main")
    place.repo.commit("evil", {"x": "1\n"})
    place.repo.git("merge", "-q", "--no-ff", "-m", "Merge 1111 into 2222", "topic")
    assert place.find(told, untrusted=True).base == place.main
    assert set(place.subjects(told)) == {"evil", "one", "two", "Merge 1111 into 2222"}


def test_a_branch_of_a_fork_that_is_called_like_the_target(place: Place) -> None:
    place.repo.git("update-ref", "-d", "refs/remotes/origin/main")
    place.repo.git("checkout", "-q", "-B", "main", "topic")
    told = Told("Buildkite", target="main")
    with pytest.raises(UsageError, match="no base to judge from"):
        place.find(told)
    place.repo.git("checkout", "-q", "topic")
    place.repo.git("branch", "-f", "main", place.main)
    assert place.subjects(told) == ["one", "two"]


def test_what_a_stranger_pushed_before_is_no_base(place: Place) -> None:
    pushed = GITHUB._replace(before=place.oid("topic^"), branch="topic")
    assert place.subjects(pushed) == ["two"]
    assert place.find(pushed, untrusted=True).base == place.main
    place.repo.git("branch", "--set-upstream-to=main", "topic")
    place.repo.git("update-ref", "refs/remotes/fork/main", "topic^")
    place.repo.git("update-ref", "-d", "refs/remotes/origin/main")
    place.repo.git("branch", "-m", "main", "trunk")
    assert place.find(Told()).base == place.oid("topic^")
    with pytest.raises(UsageError, match="no base"):
        place.find(Told(), untrusted=True)


def test_what_was_pushed_to_the_default_branch_is_a_base(place: Place) -> None:
    place.repo.git("checkout", "-q", "main")
    place.repo.commit("new", {"c": "2\n"})
    told = GITHUB._replace(before=place.main, branch="main")
    assert place.find(told, untrusted=True).base == place.main


# Pull requests, again -----------------------------------------------------------------------


def test_the_pull_request_s_own_commit_checked_out(place: Place) -> None:
    told = pull_request(place)
    assert place.find(told).base == place.main
    assert place.subjects(told) == ["one", "two"]


def test_what_the_target_has_by_now_is_not_judged_again(place: Place) -> None:
    """The event's base is of the time when it was sent; main went on, and was merged in."""
    old = place.oid("topic~2")
    place.repo.git("merge", "-q", "--no-edit", "origin/main")
    told = GITHUB._replace(target="main", base=old, head=place.oid("HEAD"))
    assert place.subjects(told)[:2] == ["one", "two"]
    assert "of main" not in place.subjects(told)


def test_a_pull_request_that_is_merged_already_is_judged_all_the_same(place: Place) -> None:
    told = pull_request(place)._replace(base=place.oid("topic~2"))
    place.repo.git("update-ref", "refs/remotes/origin/main", "topic")
    assert place.subjects(told) == ["one", "two"]


def test_a_base_that_was_not_fetched_is_found_by_its_branch(place: Place) -> None:
    told = pull_request(place)._replace(base=GONE)
    assert place.subjects(told) == ["one", "two"]


def test_another_commit_than_the_pull_request_s_is_refused(place: Place) -> None:
    """As pull_request_target checks out the base, where nothing is to be judged."""
    told = pull_request(place)
    place.repo.git("checkout", "-q", "--detach", "origin/main")
    with pytest.raises(UsageError, match="doesn't hold the pull request's own commit"):
        place.find(told)
    with pytest.raises(UsageError, match="doesn't hold the pull request's own commit"):
        place.find(told._replace(head=GONE))


def test_a_target_that_is_nowhere_falls_back(place: Place) -> None:
    told = Told("Buildkite", target="release")
    assert "release is not here" in place.find(told).said
    assert place.subjects(told) == ["one", "two"]


# Pushes -----------------------------------------------------------------------------------


def test_a_push_is_judged_from_what_was_there_before(place: Place) -> None:
    told = GITHUB._replace(before=place.oid("HEAD^"), branch="topic")
    assert place.subjects(told) == ["two"]


def test_a_push_leaves_out_what_the_default_branch_has(place: Place) -> None:
    before = place.oid("HEAD")
    place.repo.git("merge", "-q", "-m", "Merge main", "origin/main")
    told = GITHUB._replace(before=before, branch="topic")
    assert place.subjects(told) == ["Merge main"]


def test_a_push_to_the_default_branch_is_no_empty_range(place: Place) -> None:
    """The runner has fetched what was pushed: origin/main is the tip itself."""
    before = place.main
    place.repo.git("checkout", "-q", "main")
    place.repo.commit("new", {"c": "2\n"})
    place.repo.git("update-ref", "refs/remotes/origin/main", "main")
    told = GITHUB._replace(before=before, branch="main")
    assert place.subjects(told) == ["new"]


def test_a_forced_push_of_a_branch(place: Place) -> None:
    told = GITHUB._replace(before=GONE, branch="topic")
    assert "forced push" in place.find(told).said
    assert place.subjects(told) == ["one", "two"]


def test_a_forced_push_of_the_default_branch_has_no_base(place: Place) -> None:
    place.repo.git("checkout", "-q", "main")
    with pytest.raises(UsageError, match="no base to judge from") as caught:
        place.find(GITHUB._replace(before=GONE, branch="main"))
    assert "guard ci --base REF" in caught.value.hint


def test_a_new_branch_with_nothing_of_its_own(place: Place) -> None:
    place.repo.git("checkout", "-q", "-b", "empty", "origin/main")
    told = GITHUB._replace(before=ZEROS, branch="empty")
    assert place.subjects(told) == []
    assert "since origin/main, which has all of them" in place.find(told).said


def test_the_first_push_of_all(place: Place) -> None:
    place.repo.git("checkout", "-q", "main")
    told = GITHUB._replace(before=ZEROS, branch="main")
    span = place.find(told)
    assert (span.base, span.start) == ("", "")
    assert place.subjects(told) == ["base", "of main"]


def test_a_new_branch_that_shares_no_history(place: Place) -> None:
    place.repo.git("checkout", "-q", "--orphan", "other")
    place.repo.commit("root", {"x": "1\n"})
    told = GITHUB._replace(before=ZEROS, branch="other")
    assert place.subjects(told) == ["root"]


# Nothing is told --------------------------------------------------------------------------


def test_by_hand_the_default_branch_is_the_base(place: Place) -> None:
    assert "the merge base with origin/main (no base is named)" in place.find(Told()).said
    assert place.subjects(Told()) == ["one", "two"]


def test_the_default_branch_s_own_commit_has_no_base(place: Place) -> None:
    place.repo.git("checkout", "-q", "main")
    with pytest.raises(UsageError, match="the default branch has this commit already"):
        place.find(Told())
    span = place.find(Told(), optional=True)
    assert not span.known
    assert span.commits(place.opened) == []


def test_commits_that_are_not_pushed_yet(place: Place) -> None:
    place.repo.git("checkout", "-q", "main")
    place.repo.commit("mine", {"m": "1\n"})
    assert place.subjects(Told()) == ["mine"]


def test_without_a_default_branch_the_upstream_is(place: Place) -> None:
    place.repo.git("update-ref", "-d", "refs/remotes/origin/main")
    place.repo.git("branch", "-m", "main", "trunk")
    with pytest.raises(UsageError, match="no base"):
        place.find(Told())
    place.repo.git("branch", "--set-upstream-to=trunk", "topic")
    assert "the upstream" in place.find(Told()).said
    assert place.subjects(Told()) == ["one", "two"]


def test_a_remote_of_another_name(place: Place) -> None:
    place.repo.git("update-ref", "refs/remotes/forge/main", place.main)
    place.repo.git("update-ref", "-d", "refs/remotes/origin/main")
    assert "the merge base with forge/main" in place.find(Told()).said


def test_zeros_of_a_repository_of_another_hash(tmp_path: Path) -> None:
    root = tmp_path / "wide"
    root.mkdir()
    repo = ScratchRepo(root)
    repo.git("init", "-q", "--object-format=sha256")
    repo.commit("base", {"a": "1\n"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("one", {"b": "1\n"})
    with find_repo(str(root)) as opened:
        place = object.__new__(Place)
        place.repo, place.opened = repo, opened
        assert place.subjects(Told(before="0" * 64, branch="topic")) == ["one"]
        assert place.subjects(stated="0" * 64) == ["one"]


def test_a_repository_without_a_commit(repo: ScratchRepo) -> None:
    with find_repo(str(repo.root)) as opened, pytest.raises(UsageError, match="no commit"):
        find_span(opened, "", Told())


# Shallow clones ---------------------------------------------------------------------------

MakeClone = Callable[..., Place]


@pytest.fixture
def clone(place: Place, tmp_path: Path) -> Generator[MakeClone]:
    opened: list[Repo] = []

    def make(branch: str, *options: str) -> Place:
        root = tmp_path / f"clone{len(opened)}"
        url = f"file://{place.repo.root}"
        place.repo.git("clone", "-q", *options, f"--branch={branch}", url, str(root))
        opened.append(find_repo(str(root)))
        found = ScratchRepo(root)
        if "refs/remotes/origin/main" not in found.git("for-each-ref"):
            found.git("update-ref", "refs/remotes/origin/main", "HEAD")
        return Place(found, opened[-1])

    yield make
    for one in opened:
        one.close()


def test_a_shallow_clone_that_does_not_reach_the_base(place: Place, clone: MakeClone) -> None:
    shallow = clone("topic", "--depth=1")
    shallow.repo.git("update-ref", "-d", "refs/remotes/origin/main")
    before = place.oid("topic^")
    for told, stated in (
        (GITHUB._replace(before=before, branch="topic"), ""),
        (GITHUB, before),
        (GITHUB._replace(target="main", base=place.main), ""),
    ):
        with pytest.raises(UnreadableError, match="a shallow clone") as caught:
            shallow.find(told, stated)
        assert caught.value.hint == "git fetch --unshallow"


def test_a_shallow_clone_of_the_merge_made_for_the_job(place: Place, clone: MakeClone) -> None:
    told = pull_request(place)
    place.repo.git("branch", "made", place.merge())
    shallow = clone("made", "--depth=1")
    with pytest.raises(UnreadableError, match="a shallow clone"):
        shallow.find(told)
    deep = clone("made", "--no-local")
    assert deep.subjects(told) == ["one", "two", "Merge made for the job"]


def test_a_shallow_clone_without_a_common_commit(place: Place, clone: MakeClone) -> None:
    shallow = clone("topic", "--depth=1", "--no-single-branch")
    with pytest.raises(UnreadableError, match="a shallow clone"):
        shallow.find(GITHUB._replace(before=ZEROS, branch="topic"))


def test_a_shallow_clone_that_does_reach_the_base(place: Place, clone: MakeClone) -> None:
    shallow = clone("topic", "--depth=2")
    before = place.oid("topic^")
    assert shallow.subjects(GITHUB._replace(before=before, branch="topic")) == ["two"]
