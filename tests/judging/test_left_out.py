from __future__ import annotations

from collections.abc import Generator

import pytest

from guard.change import Change, staged_change
from guard.git import Repo, find_repo
from guard.judging.left_out import LeftOut, left_out
from tests.conftest import ScratchRepo

GLOBS = ("evals/*.md",)


@pytest.fixture
def opened(repo: ScratchRepo) -> Generator[Repo]:
    repo.commit("feat: base", {"evals/old.md": "1\n", "evals/note.txt": "1\n"})
    with find_repo(str(repo.root)) as found:
        yield found


def found_in(opened: Repo, *globs: str) -> list[LeftOut]:
    change: Change = staged_change(opened, "HEAD")
    return left_out(opened, change, globs or GLOBS)


def test_nothing_is_left_out_of_a_clean_tree(opened: Repo) -> None:
    assert found_in(opened) == []


def test_what_is_new_ignored_or_edited(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({".gitignore": "\n/evals/hidden*\n!/evals/hidden-not.md\n"})
    repo.write({"evals/new.md": "1\n", "evals/hidden.md": "1\n", "evals/hidden-not.md": "1\n"})
    repo.write({"evals/old.md": "2\n", "evals/note.txt": "2\n", "evals/deep/x.md": "1\n"})
    assert found_in(opened) == [
        LeftOut("evals/hidden-not.md", "exists but is not staged"),
        LeftOut("evals/hidden.md", "is ignored by .gitignore:2", ignored=True),
        LeftOut("evals/new.md", "exists but is not staged"),
        LeftOut("evals/old.md", "has changes that are not staged"),
    ]


def test_line_ends_and_times_are_no_changes(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"evals/old.md": "1\r\n"})
    assert found_in(opened) == []


def test_a_file_that_is_gone_is_not_named(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"evals/old.md": None})
    assert found_in(opened) == []


@pytest.mark.parametrize("name", ["a b.md", "line\nbreak.md", ":(top)x.md", "[ab].md", "-x.md"])
def test_odd_names(repo: ScratchRepo, opened: Repo, name: str) -> None:
    repo.write({".gitignore": "*.md\n", f"evals/{name}": "1\n"})
    assert found_in(opened) == [
        LeftOut(f"evals/{name}", "is ignored by .gitignore:1", ignored=True)
    ]


def test_globs_of_the_whole_repository_skip_what_is_ignored(
    repo: ScratchRepo, opened: Repo
) -> None:
    repo.write({".gitignore": "node_modules/\n", "node_modules/x.md": "1\n", "new.md": "1\n"})
    assert found_in(opened, "**/*.md") == [LeftOut("new.md", "exists but is not staged")]


def test_no_globs_find_nothing(opened: Repo) -> None:
    assert left_out(opened, staged_change(opened, "HEAD"), ()) == []
