"""What a push brings: refs as git and frameworks name them, ranges, tips."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.errors import UnreadableError
from guard.git import Repo, find_repo
from guard.hookruns.pushes import (
    PushedRef,
    find_tips,
    known_there,
    parse_pushed,
    pushed_by_framework,
    short_name,
)
from guard.judging.ranges import own_commits
from tests.conftest import ScratchRepo

A, B, ZERO = "a" * 40, "b" * 40, "0" * 40


def own_ids(repo: Repo, refs: list[PushedRef], remote: str) -> list[str]:
    """Return the commits of a push that the other side doesn't have."""
    tips = find_tips(repo, refs)
    found = own_commits(repo, [tip.commit for tip in tips], known_there(repo, tips, remote))
    return [commit.id for commit in found]


@pytest.fixture
def pushed(repo: ScratchRepo, tmp_path: Path) -> ScratchRepo:
    """A repository with one commit, which its remote `up` has."""
    repo.commit("feat: first", {"a": "1"})
    repo.git("init", "-q", "--bare", str(tmp_path / "up"))
    repo.git("remote", "add", "up", str(tmp_path / "up"))
    repo.git("push", "-q", "up", "main")
    return repo


def test_reads_what_git_says() -> None:
    said = f"refs/heads/x {A} refs/heads/y {B}\nrefs/heads/n {A} refs/heads/n {ZERO}\n"
    assert parse_pushed(said.encode()) == [
        PushedRef("refs/heads/y", A, B),
        PushedRef("refs/heads/n", A, ""),
    ]


def test_deletions_bring_nothing() -> None:
    assert parse_pushed(f"(delete) {ZERO} refs/heads/old {B}\n".encode()) == []
    assert parse_pushed(b"") == []
    assert parse_pushed(b"\n") == []


def test_local_name_may_hold_blanks() -> None:
    said = f":/fix the thing {A} refs/heads/x {ZERO}\n".encode()
    assert parse_pushed(said) == [PushedRef("refs/heads/x", A)]


def test_longer_ids_of_sha256() -> None:
    long, zero = "c" * 64, "0" * 64
    assert parse_pushed(f"x {long} refs/heads/x {zero}\n".encode()) == [
        PushedRef("refs/heads/x", long)
    ]


@pytest.mark.parametrize("said", [b"refs/heads/x\n", b"a b c d\n", f"x {A} y\n".encode()])
def test_unreadable_line_is_no_empty_push(said: bytes) -> None:
    with pytest.raises(UnreadableError, match="which isn't a ref"):
        parse_pushed(said)


def test_new_branch_brings_only_what_the_remote_lacks(pushed: ScratchRepo) -> None:
    pushed.git("checkout", "-qb", "new")
    own = [pushed.commit("fix: a", {"a": "2"}), pushed.commit("docs: b", {"b": "1"})]
    with find_repo(str(pushed.root)) as repo:
        ref = PushedRef("refs/heads/new", own[-1])
        assert sorted(own_ids(repo, [ref], "up")) == sorted(own)


def test_push_to_a_url_finds_the_remote_of_that_url(pushed: ScratchRepo, tmp_path: Path) -> None:
    own = pushed.commit("fix: a", {"a": "2"})
    with find_repo(str(pushed.root)) as repo:
        ref = PushedRef("refs/heads/new", own)
        assert own_ids(repo, [ref], str(tmp_path / "up")) == [own]


def test_push_to_an_unknown_place_uses_what_is_published_anywhere(pushed: ScratchRepo) -> None:
    first = pushed.git("rev-parse", "HEAD").strip()
    own = pushed.commit("fix: a", {"a": "2"})
    with find_repo(str(pushed.root)) as repo:
        assert own_ids(repo, [PushedRef("x", own, first)], "https://e.example/x") == [own]
        assert len(own_ids(repo, [PushedRef("x", own)], "https://e.example/x")) == 1
        assert len(own_ids(repo, [PushedRef("x", own, B)], "")) == 2


def test_forced_push_excludes_what_tracking_refs_know(pushed: ScratchRepo) -> None:
    """The remote has a commit that isn't here: its id says nothing, its tracking ref does."""
    own = pushed.commit("fix: a", {"a": "2"})
    with find_repo(str(pushed.root)) as repo:
        assert own_ids(repo, [PushedRef("refs/heads/main", own, B)], "up") == [own]


def test_tags_are_peeled_and_equal_commits_are_one_tip(pushed: ScratchRepo) -> None:
    commit = pushed.commit("fix: a", {"a": "2"})
    pushed.git("tag", "-a", "-m", "v1", "v1")
    pushed.git("tag", "-a", "-m", "nested", "nested", "v1")
    oids = [pushed.git("rev-parse", name).strip() for name in ("v1", "nested")]
    refs = [PushedRef("refs/heads/x", commit)] + [PushedRef(f"refs/tags/{o}", o) for o in oids]
    with find_repo(str(pushed.root)) as repo:
        (tip,) = find_tips(repo, refs)
    assert tip.commit == commit
    assert tip.tree == pushed.git("rev-parse", "HEAD^{tree}").strip()
    assert len(tip.names) == 3


def test_tag_of_a_file_brings_nothing(pushed: ScratchRepo) -> None:
    blob = pushed.git("rev-parse", "HEAD:a").strip()
    with find_repo(str(pushed.root)) as repo:
        assert find_tips(repo, [PushedRef("refs/tags/file", blob)]) == []


def test_missing_object_is_said(pushed: ScratchRepo) -> None:
    with find_repo(str(pushed.root)) as repo, pytest.raises(UnreadableError, match="not here"):
        find_tips(repo, [PushedRef("refs/heads/x", A)])


def test_framework_gives_both_ends(pushed: ScratchRepo) -> None:
    first = pushed.git("rev-parse", "HEAD").strip()
    own = pushed.commit("fix: a", {"a": "2"})
    given = {
        "PRE_COMMIT_FROM_REF": first,
        "PRE_COMMIT_TO_REF": own,
        "PRE_COMMIT_LOCAL_BRANCH": "refs/heads/main",
        "PRE_COMMIT_REMOTE_BRANCH": "refs/heads/other",
    }
    with find_repo(str(pushed.root)) as repo:
        assert pushed_by_framework(repo, given) == [PushedRef("refs/heads/other", own, first)]


@pytest.mark.parametrize(
    "given",
    [
        {"PRE_COMMIT_LOCAL_BRANCH": "refs/heads/main"},
        {"PRE_COMMIT_TO_REF": "HEAD"},
        {"PRE_COMMIT_TO_REF": "HEAD", "PRE_COMMIT_FROM_REF": "gone"},
    ],
)
def test_framework_gives_less_for_a_new_root(pushed: ScratchRepo, given: dict[str, str]) -> None:
    tip = pushed.git("rev-parse", "HEAD").strip()
    with find_repo(str(pushed.root)) as repo:
        (ref,) = pushed_by_framework(repo, given)
    assert (ref.oid, ref.known) == (tip, "")


@pytest.mark.parametrize("given", [{}, {"PRE_COMMIT_TO_REF": "gone"}])
def test_framework_that_gives_nothing_is_no_empty_push(
    pushed: ScratchRepo, given: dict[str, str]
) -> None:
    with find_repo(str(pushed.root)) as repo, pytest.raises(UnreadableError, match="no pushed ref"):
        pushed_by_framework(repo, given)


def test_refs_in_short() -> None:
    assert short_name("refs/heads/feature/x") == "feature/x"
    assert short_name("refs/tags/v1") == "v1"
    assert short_name("refs/notes/x") == "refs/notes/x"
