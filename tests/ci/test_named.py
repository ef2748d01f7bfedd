"""A base that is named and isn't here: whether it can be had, and how."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from guard.ci.named import find_base, unknown_base
from guard.errors import UnreadableError, UsageError
from guard.git import Repo, find_repo
from tests.conftest import ScratchRepo


@pytest.fixture
def opened(repo: ScratchRepo) -> Generator[Repo]:
    repo.commit("one", {"a": "1\n"})
    repo.commit("two", {"a": "2\n"})
    for name in ("origin", "up"):
        repo.git("remote", "add", name, f"../{name}")
    with find_repo(str(repo.root)) as found:
        yield found


def cut_off(repo: ScratchRepo) -> None:
    oid = repo.git("rev-parse", "HEAD").strip()
    Path(repo.root, ".git/shallow").write_text(f"{oid}\n")


def test_what_is_here(opened: Repo, repo: ScratchRepo) -> None:
    assert find_base(opened, "HEAD^1") == repo.git("rev-parse", "HEAD~1").strip()


@pytest.mark.parametrize("named", ["HEAD^1", "HEAD~2", "main^", "HEAD^{commit}~1"])
def test_what_lies_beyond_the_end_of_a_shallow_clone(
    opened: Repo, repo: ScratchRepo, named: str
) -> None:
    cut_off(repo)
    with pytest.raises(UnreadableError, match="a shallow clone") as caught:
        find_base(opened, named)
    assert caught.value.hint == "git fetch --unshallow"
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("shallow", [False, True])
@pytest.mark.parametrize(
    ("named", "hint"),
    [
        ("release", "git fetch origin release"),
        ("origin/release/1", "git fetch origin release/1"),
        ("up/release", "git fetch up release"),
        ("other/release", "git fetch origin other/release"),
        ("release's", r"git fetch origin 'release'\''s'"),
        ("nowhere^", "git log --oneline -5"),
        ("--all", "git log --oneline -5"),
        ("a b", "git log --oneline -5"),
    ],
)
def test_what_can_be_fetched(
    opened: Repo, repo: ScratchRepo, named: str, hint: str, shallow: bool
) -> None:
    if shallow:
        cut_off(repo)
    error = unknown_base(opened, named)
    assert isinstance(error, UsageError)
    assert error.hint == hint


def test_beyond_the_beginning(opened: Repo) -> None:
    assert isinstance(unknown_base(opened, "HEAD~9"), UsageError)


def test_without_a_remote_nothing_is_fetched(opened: Repo, repo: ScratchRepo) -> None:
    repo.git("remote", "remove", "origin")
    assert unknown_base(opened, "release").hint == "git log --oneline -5"
