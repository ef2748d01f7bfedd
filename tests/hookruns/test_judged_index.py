"""What pre-commit keeps for commit-msg, and how the two know that they belong together."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator

import pytest

from guard.change import staged_change
from guard.git import Repo, find_repo
from guard.hookruns import judged_index
from guard.hookruns.judged_index import digest_of_index, identify_git, remember
from tests.conftest import ScratchRepo

#: Prints who its git is, twice, from a hook that git starts.
ASKING = f"""#!/bin/sh
call='from guard.hookruns.judged_index import identify_git; print(identify_git())'
'{sys.executable}' -E -P -c "$call" >>asked
sh -c "'{sys.executable}' -E -P -c '$call'; :" >>asked
"""


@pytest.fixture
def opened(repo: ScratchRepo) -> Generator[Repo]:
    repo.commit("feat: all", {"a": "1\n", "b": "1\n"})
    with find_repo(str(repo.root)) as found:
        yield found


def digest(opened: Repo, base: str | None = "HEAD") -> str:
    return digest_of_index(staged_change(opened, base))


def test_digest_is_of_what_is_staged(repo: ScratchRepo, opened: Repo) -> None:
    seen = {digest(opened)}
    for files in ({"a": "2\n"}, {"a": "3\n"}, {"a": "3\n", "c": "1\n"}, {"b": None}):
        repo.write(files)
        repo.git("add", "--all")
        seen.add(digest(opened))
    repo.git("update-index", "--chmod=+x", "a")
    seen.add(digest(opened))
    assert len(seen) == 6
    repo.write({"a": "not staged\n"})
    assert digest(opened) in seen


def test_digest_is_of_what_it_stands_on(repo: ScratchRepo, opened: Repo) -> None:
    """The same index is another commit there: amended, its parent is what it is judged against."""
    repo.commit("feat: more", {"a": "2\n"})
    assert digest(opened) != digest(opened, "HEAD^")
    assert digest(opened, None) not in (digest(opened), digest(opened, "HEAD^"))


def test_all_below_one_git_name_it_alike_and_another_otherwise(repo: ScratchRepo) -> None:
    hook = repo.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(ASKING)
    hook.chmod(0o755)
    for _ in range(2):
        repo.git("commit", "-q", "--allow-empty", "-m", "x")
    asked = (repo.root / "asked").read_text().splitlines()
    assert len(asked) == 4
    assert all(asked)
    assert asked[0] == asked[1] != asked[2] == asked[3]


def test_without_a_git_above_nothing_is_kept(opened: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged_index, "find_git", lambda: None)
    assert identify_git() == ""
    remember(opened, staged_change(opened, "HEAD"), "judged")
    assert not os.path.exists(os.path.join(opened.git_dir, "guard", "judged"))


def test_folder_that_cannot_be_written_is_no_failure(
    opened: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged_index, "find_git", os.getpid)
    with open(os.path.join(opened.git_dir, "guard"), "w"):
        pass
    remember(opened, staged_change(opened, "HEAD"), "judged")
    assert judged_index.recall(opened) is None
