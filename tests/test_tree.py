from __future__ import annotations

from collections.abc import Iterator

import pytest

from guard.errors import UnreadableError
from guard.git import Repo, find_repo
from guard.tree import Tree
from tests.conftest import ScratchRepo

FILES = {
    "SKILL.md": "root\n",
    "skills/a/SKILL.md": "a\n",
    "skills/a b/ü.md": "b\n",
    "skills/line\nbreak/x": "c\n",
    "skills/a.b/x": "sorts between a and a/\n",
}


@pytest.fixture
def found(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as opened:
        yield opened


def tree_of(found: Repo, rev: str = "HEAD") -> Tree:
    return Tree(found, found.resolve(f"{rev}^{{tree}}") or "")


def test_a_single_look_up_agrees_with_the_whole_listing(repo: ScratchRepo, found: Repo) -> None:
    repo.commit("feat: base", FILES)
    (repo.root / "link").symlink_to("SKILL.md")
    (repo.root / "run").write_text("x")
    (repo.root / "run").chmod(0o755)
    repo.commit("feat: modes")
    listed = tree_of(found).entries()
    assert len(listed) == len(FILES) + 2
    looked_up = tree_of(found)
    assert {path: looked_up.get(path) for path in listed} == listed


@pytest.mark.parametrize(
    "path", [b"skills", b"skills/a", b"nope", b"SKILL.md/x", b"skills/a/", b""]
)
def test_what_is_no_file_is_not_found(repo: ScratchRepo, found: Repo, path: bytes) -> None:
    repo.commit("feat: base", FILES)
    assert tree_of(found).get(path) is None


def test_the_empty_tree_holds_nothing(found: Repo) -> None:
    empty = Tree(found, found.empty_tree)
    assert empty.get(b"SKILL.md") is None
    assert empty.entries() == {}


def test_sha256_repositories_too(repo: ScratchRepo) -> None:
    other = ScratchRepo(repo.root / "other")
    other.root.mkdir()
    other.git("init", "--quiet", "--object-format=sha256")
    other.commit("feat: base", FILES)
    with find_repo(str(other.root)) as found:
        entry = tree_of(found).get(b"skills/a/SKILL.md")
    assert entry is not None
    assert entry.oid == other.git("rev-parse", "HEAD:skills/a/SKILL.md").strip()


def test_a_missing_tree_is_unreadable(repo: ScratchRepo, found: Repo) -> None:
    repo.commit("feat: base", FILES)
    with pytest.raises(UnreadableError, match="is missing"):
        Tree(found, "0" * 39 + "1").get(b"SKILL.md")
