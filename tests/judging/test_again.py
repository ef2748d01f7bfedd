"""The command that repeats a commit, from the command line of the git that was called."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from guard.change import staged_change
from guard.git import Repo, find_repo
from guard.judging.again import as_called, commit_again
from tests.conftest import ScratchRepo

KEPT = ".git/guard/message"


@pytest.fixture
def opened(repo: ScratchRepo) -> Generator[Repo]:
    repo.commit("docs: one", {"a b": "1\n"})
    repo.write({"a b": "2\n"})
    repo.git("add", "a b")
    with find_repo(str(repo.root)) as found:
        yield found


@pytest.mark.parametrize(
    ("argv", "again"),
    [
        ("git commit", f"git commit -F {KEPT}"),
        ("git commit --amend --no-edit", f"git commit --amend -F {KEPT}"),
        ("git commit -am message", f"git commit -a -F {KEPT}"),
        ("git -C there commit", f"git -C there commit -F {KEPT}"),
        ("git merge topic", f"git commit -F {KEPT}"),
        ("git am --3way", "git am --continue"),
        ("", f"git commit -F {KEPT}"),
    ],
)
def test_with_the_message_that_is_kept(opened: Repo, argv: str, again: str) -> None:
    assert commit_again(opened, staged_change(opened, "HEAD"), argv.split(), KEPT) == again


def test_of_some_paths(opened: Repo, repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are pasted where git was called."""
    index = repo.root / ".git" / "next-index-1.lock"
    index.write_bytes((repo.root / ".git" / "index").read_bytes())
    monkeypatch.setenv("GIT_INDEX_FILE", str(index))
    with find_repo(str(repo.root)) as partial:
        change, argv = staged_change(partial, "HEAD"), ["git", "commit", "."]
        assert commit_again(partial, change, argv, KEPT) == f"git commit -F {KEPT} -- 'a b'"
        monkeypatch.setenv("GIT_PREFIX", "docs/")
        assert commit_again(partial, change, argv, KEPT).endswith(" -- '../a b'")


@pytest.mark.parametrize(
    ("argv", "again"),
    [
        (["git", "commit", "-m", "docs: it's"], "git commit -m 'docs: it'\"'\"'s'"),
        (["/usr/bin/git", "commit", "--amend", "a b"], "git commit --amend 'a b'"),
        (["git", "commit", "-F", "-"], ""),
        (["git", "commit", "-m", "x" * 200], ""),
        (["git", "commit", "-m", "two\nlines"], ""),
        (["git", "merge", "commit"], ""),
        ([], ""),
    ],
)
def test_word_for_word(argv: list[str], again: str) -> None:
    assert as_called(argv) == again


def test_without_a_message_that_is_kept(opened: Repo) -> None:
    change = staged_change(opened, "HEAD")
    assert commit_again(opened, change, ["git", "commit", "-am", "x"], "") == "git commit -am x"
    words = ["git", "commit", "-a", "-F", "-"]
    assert commit_again(opened, change, words, "") == "git commit -a"
