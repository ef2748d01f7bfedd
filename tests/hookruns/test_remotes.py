"""What a remote has, told from configuration and tracking refs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from guard.git import Repo, find_repo
from guard.hookruns.remotes import Remotes
from tests.conftest import ScratchRepo


@pytest.fixture
def known(repo: ScratchRepo, tmp_path: Path) -> Iterator[Repo]:
    """One commit; remotes up and up/other, both with URLs in several forms."""
    repo.commit("feat: first", {"a": "1"})
    for key, value in {
        "remote.up.url": str(tmp_path / "up"),
        "remote.up.fetch": "+refs/heads/*:refs/remotes/up/*",
        "remote.up/other.url": "hub:us/other.git",
        "remote.up/other.pushurl": "ssh://example.com/us/other",
        "remote.a.b.url": "https://example.com/a.b",
        "url.https://hub.example/.insteadOf": "hub:",
    }.items():
        repo.git("config", key, value)
    with find_repo(str(repo.root)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("remote", "url", "name"),
    [
        ("up", "", "up"),
        ("{up}", "", "up"),
        ("{up}/", "", "up"),
        ("../up", "", "up"),
        ("../repo/../up/.git", "", "up"),
        ("file://{up}", "", "up"),
        ("hub:us/other", "", "up/other"),
        ("https://hub.example/us/other.git", "", "up/other"),
        ("hub:us/other.git/", "https://hub.example/us/other.git/", "up/other"),
        ("ssh://example.com/us/other.git", "", "up/other"),
        ("a.b", "", "a.b"),
        ("https://example.com/a.b", "", "a.b"),
        ("https://example.com/A.B", "", ""),
        ("../elsewhere", "", ""),
        ("https://example.com/us/other", "", ""),
        ("", "", ""),
    ],
)
def test_a_remote_is_found_by_its_name_and_by_its_url(
    known: Repo, tmp_path: Path, remote: str, url: str, name: str
) -> None:
    assert Remotes(known).find(remote.format(up=tmp_path / "up"), url) == name


@pytest.mark.parametrize(
    ("refspec", "ref", "counts"),
    [
        ("+refs/heads/*:refs/remotes/up/*", "refs/remotes/up/main", True),
        ("+refs/heads/*:refs/remotes/up/*", "refs/remotes/up/other/main", False),
        ("+refs/heads/*:refs/remotes/up/*", "refs/remotes/upper/main", False),
        ("+refs/heads/*:refs/track/up/*", "refs/track/up/deep/main", True),
        ("+refs/heads/*:refs/track/up/*", "refs/track/other/main", False),
        ("+refs/heads/main:refs/track/main", "refs/track/main", True),
        ("+refs/heads/main:refs/track/main", "refs/track/main2", False),
        ("+refs/tags/*:refs/tags/*", "refs/tags/v1", False),
        ("+refs/*:refs/*", "refs/heads/other", False),
        ("+refs/*:refs/*", "refs/remotes/up/main", True),
        ("^refs/heads/wip/*", "refs/heads/wip/one", False),
    ],
)
def test_what_is_fetched_into_a_place_of_its_own_counts(
    repo: ScratchRepo, known: Repo, refspec: str, ref: str, counts: bool
) -> None:
    repo.git("config", "--replace-all", "remote.up.fetch", refspec)
    repo.git("update-ref", ref, "HEAD")
    listed = known.out("rev-list", "HEAD", "--not", *Remotes(known).known("up"))
    assert (not listed) == counts
