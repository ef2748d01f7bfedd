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
