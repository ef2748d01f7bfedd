from __future__ import annotations

from collections.abc import Iterator

import pytest

from guard.change import change_of_trees, staged_change
from guard.git import Repo, find_repo
from guard.tree import Tree
from tests.conftest import ScratchRepo


@pytest.fixture
def found(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as opened:
        yield opened


def test_the_staged_change_and_both_of_its_trees(repo: ScratchRepo, found: Repo) -> None:
    repo.commit("feat: base", {"a": "1\n", "b": "1\n", "c/d": "1\n"})
    repo.write({"a": "2\n", "b": None, "e": "new\n"})
    repo.git("add", "--all")
    repo.write({"a": "on disk only\n"})
    change = staged_change(found, "HEAD")
    assert change.paths == (b"a", b"b", b"e")
    assert change.new.read("a") == b"2\n"
    assert change.new.get(b"b") is None
    assert change.base.read("a") == b"1\n"
    assert change.base.get(b"e") is None
    assert change.base.read("c/d") == b"1\n"


def test_the_base_is_listed_from_the_index(repo: ScratchRepo, found: Repo) -> None:
    repo.commit("feat: base", {"a": "1\n", "b": "1\n", "c/d": "1\n"})
    repo.write({"a": "2\n", "b": None, "e": "new\n"})
    repo.git("add", "--all")
    change = staged_change(found, "HEAD")
    assert change.base.entries() == Tree(found, change.base.oid).entries()
    assert list(change.base.entries()) == sorted(change.base.entries())


def test_before_the_first_commit_all_that_is_staged_is_new(repo: ScratchRepo, found: Repo) -> None:
    repo.write({"a": "1\n"})
    repo.git("add", "--all")
    for rev in ("HEAD", None):
        change = staged_change(found, rev)
        assert change.paths == (b"a",)
        assert change.base.entries() == {}


def test_a_path_that_reads_like_a_stage_is_a_path(repo: ScratchRepo, found: Repo) -> None:
    repo.commit("feat: base", {"0:a": "odd\n", "1:a": "odd too\n", "a": "plain\n"})
    change = staged_change(found, "HEAD")
    assert change.new.read("0:a") == b"odd\n"
    assert change.new.read("1:a") == b"odd too\n"


def test_mode_and_type_changes_are_changes(repo: ScratchRepo, found: Repo) -> None:
    repo.commit("feat: base", {"a": "1\n", "b": "1\n"})
    (repo.root / "a").chmod(0o755)
    (repo.root / "b").unlink()
    (repo.root / "b").symlink_to("a")
    repo.commit("feat: modes")
    trees = [Tree(found, found.resolve(f"{rev}^{{tree}}") or "") for rev in ("HEAD^", "HEAD")]
    change = change_of_trees(found, *trees)
    modes = [(e.old and e.old.mode, e.new and e.new.mode) for e in change.entries]
    assert modes == [("100644", "100755"), ("100644", "120000")]


def test_what_is_only_intended_to_be_added_is_not_staged(repo: ScratchRepo, found: Repo) -> None:
    repo.commit("feat: base", {"a": "1\n", "b": "1\n", "c/empty": ""})
    repo.git("rm", "-q", "--cached", "b")
    repo.write({"new": "1\n", "c/really": ""})
    repo.git("add", "c/really")
    repo.git("add", "--intent-to-add", "new", "b")
    change = staged_change(found, "HEAD")
    assert change.paths == (b"b", b"c/really")
    assert change.new.get(b"new") is None
    assert list(change.new.below(b"c")) == [b"c/empty", b"c/really"]
    assert list(change.new.entries()) == [b"a", b"c/empty", b"c/really"]
    assert list(change.base.entries()) == [b"a", b"b", b"c/empty"]


@pytest.mark.parametrize(
    "folders", [["c"], ["c/deep", "e"], ["a"], ["missing"], ["a/b"], [""], ["c", "x", "new"], []]
)
def test_entries_of_a_few_folders_are_those_of_the_whole_list(
    repo: ScratchRepo, found: Repo, folders: list[str]
) -> None:
    before = {"a": "1\n", "b": "1\n", "c/d": "1\n", "c/deep/f": "1\n", "c-d": "1\n", "x/y": "1\n"}
    repo.commit("feat: base", before)
    repo.write({"a": "2\n", "c/d": None, "c/new": "1\n", "e": "1\n", "new/z": "1\n"})
    repo.git("rm", "-r", "-q", "x")
    repo.write({"x": "a file now\n", "c/later": "1\n"})
    repo.git("add", "--all", "--", ":!c/later")
    repo.git("add", "--intent-to-add", "c/later")
    wanted = [folder.encode() for folder in folders]
    change = staged_change(found, "HEAD")
    for tree in (change.new, change.base):
        part = tree.entries_in(wanted)
        whole = staged_change(found, "HEAD").new if tree is change.new else Tree(found, tree.oid)
        listed = whole.entries()
        assert set(part.items()) <= set(listed.items())
        inside = {p for p in listed if any(is_in(p, folder) for folder in wanted)}
        assert inside <= set(part)
        assert all(tree.get(path) == entry for path, entry in part.items())


def is_in(path: bytes, folder: bytes) -> bool:
    return not folder or path == folder or path.startswith(folder + b"/")


def test_case_that_is_staged_is_found_without_a_list(repo: ScratchRepo, found: Repo) -> None:
    repo.commit("feat: base", {"a": "1\n", "e/one.md": "1\n"})
    repo.write({"e/two.md": "2\n", "e/one.md": None})
    repo.git("add", "--all")
    change = staged_change(found, "HEAD")
    assert set(change.new.entries_in([b"e"])) == {b"e/two.md"}
    assert set(change.base.entries_in([b"e"])) == {b"e/one.md"}


def test_entries_of_a_plain_tree_are_all_of_them(repo: ScratchRepo, found: Repo) -> None:
    commit = repo.commit("feat: base", {"a": "1\n", "c/d": "1\n"})
    tree = Tree(found, found.resolve(f"{commit}^{{tree}}") or "")
    assert set(tree.entries_in([b"c"])) == {b"a", b"c/d"}
