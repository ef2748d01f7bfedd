"""Skills as a client lists them: what of a SKILL.md another skill's cases depend on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from guard.git import Repo, find_repo
from guard.skills import head_of, is_skill, skill_heads
from guard.snapshot import index_tree, worktree_tree
from guard.store import Store
from tests.conftest import ScratchRepo

TEA = "---\nname: tea\ndescription: >\n  Makes\n  tea.\n---\nBoil.\n"


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as found:
        yield found


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        (b"agent/skills/tea/SKILL.md", True),
        (b"SKILL.md", True),
        (b"skills/\xff\n/SKILL.md", True),
        (b"skills/tea/skill.md", False),
        (b"skills/tea/NOT-A-SKILL.md", False),
        (b"skills/SKILL.md/readme", False),
    ],
)
def test_a_skill_is_told_by_its_entry_file(path: bytes, is_one: bool) -> None:
    assert is_skill(path) is is_one


@pytest.mark.parametrize(
    ("content", "head"),
    [
        (TEA, ("tea", "Makes tea.\n")),
        ("---\nname: tea\n---\n", ("tea", "")),
        ("---\ndescription: 12\n---\n", ("", "12")),
        ("\ufeff---\nname: tea\n---\n", ("tea", "")),
        ("---\r\nname: tea\r\n---\r\n", ("tea", "")),
        ("no front matter\n", ("", "")),
        ("---\nname: [\n---\n", ("", "")),
        ("---\n- a list\n---\n", ("", "")),
        ("", ("", "")),
    ],
)
def test_the_head_is_name_and_description(content: str, head: tuple[str, str]) -> None:
    assert head_of(content.encode()) == head


def test_bytes_that_are_no_text_have_no_head() -> None:
    assert head_of(b"\xff\xfe\x00") == ("", "")


def test_heads_come_by_path_and_from_the_store_the_second_time(
    repo: ScratchRepo, opened: Repo
) -> None:
    repo.write({"a/SKILL.md": TEA, "b/SKILL.md": TEA, "a/readme.md": "x\n"})
    tree, store = worktree_tree(opened), Store.open(opened.common_dir)
    paths = [b"a/SKILL.md", b"a/readme.md", b"b/SKILL.md", b"c/SKILL.md"]
    expected = dict.fromkeys(("a/SKILL.md", "b/SKILL.md"), ("tea", "Makes tea.\n"))
    assert skill_heads(tree, paths, store) == expected
    entry = tree.get(b"a/SKILL.md")
    assert entry is not None
    store.put_parsed("skill-1", {entry.oid: ["from", "store"]})
    assert skill_heads(tree, paths, store)["b/SKILL.md"] == ("from", "store")
    store.close()


def test_a_skill_that_is_a_link_or_another_repository_breaks_nothing(
    repo: ScratchRepo, opened: Repo
) -> None:
    (repo.root / "a").mkdir()
    (repo.root / "a/SKILL.md").symlink_to("../b.md")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub/SKILL.md")
    repo.git("add", "a/SKILL.md")
    store = Store.open(opened.common_dir)
    heads = skill_heads(index_tree(opened), [b"a/SKILL.md", b"sub/SKILL.md"], store)
    assert heads == {"a/SKILL.md": ("", "")}
    store.close()
