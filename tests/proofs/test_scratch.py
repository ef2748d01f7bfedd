"""The scratch git directory: trees edited and merged without touching the user's repository."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guard.errors import UnreadableError
from guard.git import Repo, find_repo
from guard.proofs.scratch import Scratch
from guard.snapshot import head_tree
from guard.tree import Entry, Tree
from tests.conftest import ScratchRepo


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    repo.commit("start", {"a/one": "1\n", "a/two": "2\n", "b": "3\n", "deep/er/still": "4\n"})
    with find_repo(str(repo.root)) as found:
        yield found


@pytest.fixture
def scratch(opened: Repo) -> Iterator[Scratch]:
    with Scratch(opened) as found:
        yield found


PATHS = st.sampled_from(
    [b"a/one", b"a/two", b"a/new", b"b", b"c/d/e", b"deep/er/still", b"z\n\xff"]
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(changes=st.dictionaries(PATHS, st.booleans()))
def test_an_edited_tree_holds_what_was_set(
    opened: Repo, scratch: Scratch, changes: dict[bytes, bool]
) -> None:
    before = head_tree(opened)
    blob = before.entries()[b"b"]
    wanted = {path: blob if kept else None for path, kept in changes.items()}
    edited = Tree(opened, scratch.edit_tree(before.oid, wanted))
    expected = {**before.entries(), **wanted}
    assert edited.entries() == {path: entry for path, entry in expected.items() if entry}


def test_nothing_left_is_the_empty_tree(opened: Repo, scratch: Scratch) -> None:
    before = head_tree(opened)
    gone = scratch.edit_tree(before.oid, dict.fromkeys(before.entries()))
    assert gone == opened.empty_tree
    assert scratch.edit_tree(before.oid, {}) == before.oid


def test_a_file_and_a_folder_take_each_others_place(opened: Repo, scratch: Scratch) -> None:
    before = head_tree(opened)
    blob = before.entries()[b"b"]
    folder = scratch.edit_tree(before.oid, {b"b": None, b"b/inside": blob})
    assert set(Tree(opened, folder).entries()) >= {b"b/inside"}
    file = scratch.edit_tree(folder, {b"b/inside": None, b"b": blob})
    assert file == before.oid


def test_gitlinks_are_kept(opened: Repo, scratch: Scratch) -> None:
    link = Entry("160000", "1" * 40)
    edited = scratch.edit_tree(head_tree(opened).oid, {b"a/module": link})
    assert Tree(opened, edited).entries()[b"a/module"] == link


def test_trees_merge_and_conflict(opened: Repo, scratch: Scratch) -> None:
    base = head_tree(opened)
    two, three = base.entries()[b"a/two"], base.entries()[b"b"]
    ours = scratch.edit_tree(base.oid, {b"a/one": two})
    theirs = scratch.edit_tree(base.oid, {b"b": two})
    merged = scratch.merge_trees(base.oid, ours, theirs)
    assert merged == scratch.edit_tree(base.oid, {b"a/one": two, b"b": two})
    other = scratch.edit_tree(base.oid, {b"a/one": three})
    assert scratch.merge_trees(base.oid, ours, other) is None


def test_a_call_that_fails_says_which(scratch: Scratch) -> None:
    with pytest.raises(UnreadableError, match="git commit-tree ended in"):
        scratch.run("commit-tree", "nonsense")


def test_no_variable_of_a_hook_gets_in(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    sha = repo.commit("start", {"a": "1"})
    monkeypatch.setenv("GIT_INDEX_FILE", str(repo.root / ".git" / "index"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "merge.renames")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "false")
    with find_repo(str(repo.root)) as found, Scratch(found) as scratch:
        assert scratch.run("config", "merge.renames").out == b"true\n"
        assert scratch.run("cat-file", "-t", sha).out == b"commit\n"


def test_it_is_removed_in_the_end(opened: Repo) -> None:
    with Scratch(opened) as scratch:
        folder = scratch.folder
        assert os.path.isdir(folder)
    assert not os.path.exists(folder)
