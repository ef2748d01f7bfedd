"""The remote of a repository, and the branch that others start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.git import find_repo
from guard.setup.remotes import Remote, find_remote, host_of
from tests.conftest import ScratchRepo


def remote_of(folder: Path) -> Remote:
    with find_repo(str(folder)) as found:
        return find_remote(found)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://github.com/a/b", "github.com"),
        ("https://user:word@GitHub.com/a/b.git", "github.com"),
        ("git@github.com:a/b.git", "github.com"),
        ("ssh://git@gitlab.example.org:2222/a", "gitlab.example.org"),
        ("forge:a/b", "forge"),
        ("/srv/git/a", ""),
        ("../a", ""),
        ("file:///srv/a", ""),
        ("C:/git/a", ""),
        ("", ""),
    ],
)
def test_the_host_of_a_url(url: str, host: str) -> None:
    assert host_of(url) == host


def test_without_a_remote_the_own_branch(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"a": "1"})
    assert remote_of(repo.root) == Remote("", "", "main")
    repo.git("branch", "-m", "trunk/ü")
    assert remote_of(repo.root).branch == "trunk/ü"


def test_before_the_first_commit(repo: ScratchRepo) -> None:
    assert remote_of(repo.root).branch == "main"


def test_a_clone_knows_the_default_branch(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"a": "1"})
    repo.git("branch", "-m", "trunk")
    clone = repo.root.parent / "a clone ü"
    repo.git("clone", "-q", str(repo.root), str(clone))
    assert remote_of(clone) == Remote("origin", "", "trunk")


def test_another_name_than_origin_and_a_host(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"a": "1"})
    repo.git("remote", "add", "upstream", "git@github.com:a/b.git")
    assert remote_of(repo.root) == Remote("upstream", "github.com", "main")
    repo.git("remote", "add", "origin", "https://gitlab.example.org/a/b")
    assert remote_of(repo.root).host == "gitlab.example.org"


def test_a_remote_without_a_url(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"a": "1"})
    repo.git("config", "remote.origin.prune", "true")
    assert remote_of(repo.root) == Remote("origin", "", "main")


def test_a_detached_head_in_a_linked_worktree(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"a": "1"})
    repo.git("branch", "-m", "trunk")
    linked = repo.root.parent / "linked"
    repo.git("worktree", "add", "-q", "--detach", str(linked))
    assert remote_of(linked).branch in ("trunk", "main")


def test_a_repository_of_the_other_hash(tmp_path: Path, repo: ScratchRepo) -> None:
    other = ScratchRepo(tmp_path / "other")
    repo.git("init", "-q", "--object-format=sha256", str(other.root))
    other.commit("feat: begin", {"a": "1"})
    other.git("remote", "add", "origin", "git@github.com:a/b.git")
    assert remote_of(other.root).host == "github.com"
