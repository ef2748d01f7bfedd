"""Snapshots of odd indexes and working trees: the tree that git would commit, or a reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from guard.change import staged_change
from guard.errors import UnreadableError, UsageError
from guard.git import Repo, find_repo
from guard.snapshot import head_tree, index_tree, worktree_tree
from guard.tree import Tree
from tests.conftest import ScratchRepo
from tests.invariants import unchanged

FILES: dict[str, str | bytes | None] = {"a/x": "1\n", "a/y": "2\n", "b/z": "3\n", "top": "4\n"}


@pytest.fixture
def filled(repo: ScratchRepo) -> ScratchRepo:
    repo.commit("feat: base", FILES)
    return repo


@pytest.fixture
def opened(filled: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(filled.root)) as found:
        yield found


def texts(tree: Tree) -> dict[str, str]:
    found = tree.read_many(tree.entries())
    return {path.decode(): content.decode().strip() for path, content in found.items()}


def staged_tree(repo: Repo) -> Tree:
    """Return the index as the rules read it, in place."""
    return staged_change(repo, "HEAD").new


PLAIN = {"a/x": "1", "a/y": "2", "b/z": "3", "top": "4"}


def sparse_cone(repo: ScratchRepo) -> None:
    repo.git("sparse-checkout", "init", "--cone")
    repo.git("sparse-checkout", "set", "b")


def sparse_index(repo: ScratchRepo) -> None:
    repo.git("sparse-checkout", "init", "--cone", "--sparse-index")
    repo.git("sparse-checkout", "set", "b")


def sparse_patterns(repo: ScratchRepo) -> None:
    repo.git("sparse-checkout", "init", "--no-cone")
    repo.git("sparse-checkout", "set", "/b/", "/top", "!/a/")


def split(repo: ScratchRepo) -> None:
    repo.git("config", "core.splitIndex", "true")
    repo.git("update-index", "--split-index")
    repo.write({"b/z": "3\n"})


def monitored(repo: ScratchRepo) -> None:
    repo.git("config", "core.fsmonitor", "/no/such/monitor")
    repo.git("config", "core.untrackedCache", "true")
    repo.git("update-index", "--untracked-cache")


def old_version(repo: ScratchRepo) -> None:
    repo.git("update-index", "--index-version", "4")


def with_worktree_config(repo: ScratchRepo) -> None:
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--worktree", "core.sparseCheckout", "true")


def modes_off(repo: ScratchRepo) -> None:
    repo.git("config", "core.fileMode", "false")
    repo.git("config", "core.symlinks", "false")
    (repo.root / "top").chmod(0o755)


KINDS: list[Callable[[ScratchRepo], None]] = [
    *(sparse_cone, sparse_index, sparse_patterns, split, monitored, old_version),
    *(with_worktree_config, modes_off),
]


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_of_any_kind_is_the_tree_that_it_stands_for(
    filled: ScratchRepo, opened: Repo, kind: Callable[[ScratchRepo], None]
) -> None:
    kind(filled)
    with unchanged(filled):
        assert texts(index_tree(opened)) == PLAIN
        assert index_tree(opened).oid == head_tree(opened).oid
        assert staged_change(opened, "HEAD").entries == ()
        assert worktree_tree(opened).oid == head_tree(opened).oid
    filled.write({"b/z": "changed\n", "b/new": "new\n"})
    with unchanged(filled):
        assert texts(worktree_tree(opened)) == {**PLAIN, "b/z": "changed", "b/new": "new"}
        assert texts(index_tree(opened)) == PLAIN
    filled.git("add", "b/z", "b/new")
    filled.git("fsck", check=False)  # of a sparse index it writes the trees, itself
    with unchanged(filled):
        assert texts(index_tree(opened)) == {**PLAIN, "b/z": "changed", "b/new": "new"}
        change = staged_change(opened, "HEAD")
        assert change.paths == (b"b/new", b"b/z")
        assert set(change.new.entries()) == {b"a/x", b"a/y", b"b/z", b"b/new", b"top"}


@pytest.mark.parametrize("kind", [sparse_cone, sparse_index, sparse_patterns])
def test_what_lies_outside_a_sparse_checkout_and_is_there_counts(
    filled: ScratchRepo, opened: Repo, kind: Callable[[ScratchRepo], None]
) -> None:
    kind(filled)
    filled.write({"a/x": "here all the same\n", "a/untracked": "new\n"})
    found = texts(worktree_tree(opened))
    assert found == {**PLAIN, "a/x": "here all the same", "a/untracked": "new"}


@pytest.mark.parametrize("bit", ["assume-unchanged", "skip-worktree"])
def test_files_that_git_is_told_not_to_look_at_are_looked_at_by_hand(
    filled: ScratchRepo, opened: Repo, bit: str
) -> None:
    filled.git("update-index", f"--{bit}", "a/x", "top")
    filled.write({"a/x": "changed\n"})
    (filled.root / "top").unlink()
    # One that isn't there is kept as it was: a sparse checkout flags what it leaves out.
    with unchanged(filled):
        assert texts(worktree_tree(opened)) == {**PLAIN, "a/x": "changed"}
        assert texts(index_tree(opened)) == PLAIN
    assert filled.git("ls-files", "-v", "a/x")[0] in "hS"


def test_an_intent_to_add_is_nothing_staged_and_something_on_disk(
    filled: ScratchRepo, opened: Repo
) -> None:
    filled.write({"new": "5\n"})
    filled.git("add", "--intent-to-add", "new")
    assert texts(index_tree(opened)) == PLAIN
    assert texts(worktree_tree(opened)) == {**PLAIN, "new": "5"}


def test_an_index_with_a_conflict_is_no_tree(filled: ScratchRepo, opened: Repo) -> None:
    filled.git("checkout", "-qb", "other")
    filled.commit("theirs", {"a/x": "theirs\n"})
    filled.git("checkout", "-q", "main")
    filled.commit("ours", {"a/x": "ours\n"})
    filled.git("merge", "-q", "other", check=False)
    for read in (index_tree, staged_tree):
        with pytest.raises(UnreadableError, match="the index holds a conflict in a/x") as raised:
            read(opened)
        assert raised.value.hint == "git add a/x"
    # The files on disk are what they are, markers and all.
    assert "<<<<<<<" in texts(worktree_tree(opened))["a/x"]


@pytest.mark.parametrize("content", [b"", b"junk", b"DIRC" + b"\xff" * 60])
def test_a_damaged_index_is_named(filled: ScratchRepo, opened: Repo, content: bytes) -> None:
    (filled.root / ".git/index").write_bytes(content)
    for read in (index_tree, worktree_tree, staged_tree):
        with pytest.raises(UnreadableError, match=r"can't be (read|compared)") as raised:
            read(opened)
        assert "\n" not in raised.value.message
        assert "/index-" not in raised.value.message


def test_an_index_that_is_a_folder_is_named(filled: ScratchRepo, opened: Repo) -> None:
    (filled.root / ".git/index").unlink()
    (filled.root / ".git/index").mkdir()
    with pytest.raises(UnreadableError, match="the index can't be read"):
        index_tree(opened)


def test_an_object_that_is_missing_is_missed_where_it_is_needed(
    filled: ScratchRepo, opened: Repo
) -> None:
    oid = filled.git("rev-parse", "HEAD:a/x").strip()
    (filled.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    tree = index_tree(opened)
    assert tree.read("b/z") == b"3\n"
    with pytest.raises(UnreadableError, match=f"a/x can't be read: object {oid} is missing"):
        tree.read("a/x")
    assert tree.read("b/z") == b"3\n"


def test_an_object_that_is_damaged_is_called_so(filled: ScratchRepo, opened: Repo) -> None:
    oid = filled.git("rev-parse", "HEAD:a/x").strip()
    file = filled.root / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    file.write_bytes(b"junk")
    with pytest.raises(UnreadableError, match=f"a/x can't be read: object {oid} is damaged") as it:
        head_tree(opened).read("a/x")
    assert it.value.hint == "git fsck"
    assert head_tree(opened).read("b/z") == b"3\n"


def test_a_file_that_can_not_be_added_is_named(filled: ScratchRepo, opened: Repo) -> None:
    (filled.root / "inner").mkdir()
    ScratchRepo(filled.root / "inner").git("init", "-q")
    with pytest.raises(UnreadableError, match="'inner/' does not have a commit checked out"):
        worktree_tree(opened)


def test_a_filter_that_fails_as_files_are_added_is_named(filled: ScratchRepo, opened: Repo) -> None:
    filled.git("config", "filter.x.clean", "false")
    filled.git("config", "filter.x.required", "true")
    filled.write({".gitattributes": "*.bin filter=x\n", "some.bin": "x\n"})
    with pytest.raises(UnreadableError, match=r"some\.bin: clean filter 'x' failed"):
        worktree_tree(opened)


def test_a_relative_index_is_found_from_any_folder(
    filled: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(filled.root / ".git/index", filled.root / ".git/other")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other")
    filled.write({"top": "changed\n"})
    filled.git("add", "top")
    for folder in (filled.root, filled.root / "a"):
        monkeypatch.chdir(folder)
        with find_repo() as repo:
            assert repo.index_file == str(filled.root / ".git/other")
            assert texts(index_tree(repo))["top"] == "changed"


def test_objects_of_a_quarantine_and_of_alternates_are_read(
    filled: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    borrowing = tmp_path / "borrow:ing"
    filled.git("clone", "-q", "--shared", str(filled.root), str(borrowing))
    other = ScratchRepo(borrowing)
    incoming = tmp_path / "in:coming"
    incoming.mkdir()
    real = str(borrowing / ".git/objects")
    quoted = f'"{real}"'
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(incoming))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted)
    other.write({"top": "in quarantine\n"})
    other.git("add", "top")
    kept = sorted(os.listdir(incoming))
    with find_repo(str(borrowing)) as repo:
        assert texts(index_tree(repo)) == {**PLAIN, "top": "in quarantine"}
    assert sorted(os.listdir(incoming)) == kept


def test_a_bare_repository_has_no_working_tree(filled: ScratchRepo, tmp_path: Path) -> None:
    filled.git("clone", "-q", "--bare", str(filled.root), str(tmp_path / "bare"))
    with find_repo(str(tmp_path / "bare")) as repo, pytest.raises(UsageError, match="bare"):
        worktree_tree(repo)
