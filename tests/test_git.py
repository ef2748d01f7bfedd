"""Talking to git: discovery, objects, snapshots; nothing of the user's is touched."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from guard.change import change_of_trees, staged_change
from guard.errors import UnreadableError, UsageError
from guard.git import Repo, bytes_of, find_repo, text_of
from guard.snapshot import head_tree, index_tree, revision_tree, worktree_tree
from tests.conftest import ScratchRepo

ODD = b"skills/a b\n\xc3\xbc\xff/SKILL.md"


@pytest.fixture
def odd(repo: ScratchRepo) -> ScratchRepo:
    """A repository with a path of a space, a newline, an umlaut and a byte that is no UTF-8."""
    path = os.fsencode(repo.root) + b"/" + ODD
    os.makedirs(os.path.dirname(path))
    Path(os.fsdecode(path)).write_text("v1\n")
    repo.commit("feat: base")
    return repo


def open_repo(scratch: ScratchRepo) -> Repo:
    return find_repo(str(scratch.root))


def test_a_path_survives_as_text() -> None:
    assert bytes_of(text_of(ODD)) == ODD


def test_outside_a_repository_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a git repository"):
        find_repo(str(tmp_path))


def test_without_git_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="git is not on PATH"):
        find_repo(str(tmp_path))


def test_it_is_found_from_a_folder_below_and_from_a_linked_worktree(odd: ScratchRepo) -> None:
    odd.git("worktree", "add", "-q", "../linked", "-b", "linked")
    with find_repo(str(odd.root / "skills")) as repo:
        assert repo.root == str(odd.root)
    with find_repo(str(odd.root.parent / "linked")) as repo:
        assert repo.common_dir == str(odd.root / ".git")
        assert repo.git_dir != repo.common_dir


def test_objects_are_read_by_id_and_by_path(odd: ScratchRepo) -> None:
    with open_repo(odd) as repo:
        tree = head_tree(repo)
        assert tree.read(ODD) == b"v1\n"
        assert tree.read(b"missing") is None
        assert repo.objects.read("HEAD:missing") is None
        with pytest.raises(UnreadableError, match="is missing"):
            repo.objects.read_many(["1" * 40])


def test_the_three_trees_differ_as_they_should(odd: ScratchRepo) -> None:
    odd.write({"staged": "s", "both": "staged"})
    odd.git("add", "--all")
    odd.write({"both": "on disk", "untracked": "u", ".gitignore": "ignored\n", "ignored": "i"})
    with open_repo(odd) as repo:
        assert set(head_tree(repo).entries()) == {ODD}
        index = index_tree(repo)
        assert index.read(b"both") == b"staged"
        disk = worktree_tree(repo)
        assert disk.read(b"both") == b"on disk"
        assert b"untracked" in disk.entries()
        assert b"ignored" not in disk.entries()


def test_a_snapshot_leaves_the_repository_as_it_was(odd: ScratchRepo) -> None:
    odd.write({"new": "content that git has not seen"})
    odd.git("add", "new")
    odd.write({"new": "and more", "other": "x"})
    before = _state(odd)
    with open_repo(odd) as repo:
        index_tree(repo)
        worktree_tree(repo)
        staged_change(repo, "HEAD")
    assert _state(odd) == before


def _state(scratch: ScratchRepo) -> dict[str, bytes]:
    git = scratch.root / ".git"
    return {str(p): p.read_bytes() for p in sorted(git.rglob("*")) if p.is_file()}


def test_the_index_that_git_gave_is_the_one_that_counts(
    odd: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd.write({"x": "1"})
    other = odd.root.parent / "other-index"
    subprocess.run(
        ["git", "add", "x"],
        cwd=odd.root,
        env={**os.environ, "GIT_INDEX_FILE": str(other)},
        check=True,
    )
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    with open_repo(odd) as repo:
        assert set(index_tree(repo).entries()) == {b"x"}


def test_staged_changes_count_modes_links_and_deletions(odd: ScratchRepo) -> None:
    odd.commit("feat: more", {"mode": "m", "link": "l", "gone": "g", "same": "s"})
    (odd.root / "mode").chmod(0o755)
    (odd.root / "link").unlink()
    (odd.root / "link").symlink_to("same")
    (odd.root / "gone").unlink()
    odd.write({"empty": ""})
    odd.git("add", "--all")
    with open_repo(odd) as repo:
        staged = {entry.name: entry for entry in staged_change(repo, "HEAD").entries}
        trees = change_of_trees(repo, head_tree(repo), index_tree(repo))
        assert set(staged) == {"mode", "link", "gone", "empty"}
        assert tuple(staged.values()) == trees.entries
    assert staged["gone"].new is None
    modes = {name: entry.new.mode for name, entry in staged.items() if entry.new}
    assert modes == {"link": "120000", "mode": "100755", "empty": "100644"}


def test_before_the_first_commit_all_is_added(repo: ScratchRepo) -> None:
    repo.write({"a": "1"})
    repo.git("add", "a")
    with open_repo(repo) as found:
        assert [e.name for e in staged_change(found, "HEAD").entries] == ["a"]
        assert head_tree(found).entries() == {}


def test_replace_refs_hide_nothing(odd: ScratchRepo) -> None:
    first = odd.commit("feat: second", {"a": "1"})
    odd.git("replace", "--graft", first)
    with open_repo(odd) as repo:
        assert repo.resolve("HEAD^") is not None


def test_a_revision_that_is_none_is_named(odd: ScratchRepo) -> None:
    with open_repo(odd) as repo, pytest.raises(UsageError, match="nosuch names no commit"):
        revision_tree(repo, "nosuch")
    with open_repo(odd) as repo, pytest.raises(UsageError, match="names no commit"):
        revision_tree(repo, "--output=x")


def test_a_revision_whose_objects_are_lost_is_no_empty_tree(odd: ScratchRepo) -> None:
    odd.git("tag", "-a", "-m", "x", "v1")
    with open_repo(odd) as repo:
        tree = odd.git("rev-parse", "HEAD^{tree}").strip()
        assert [repo.tree_of(rev) for rev in ("HEAD", "v1", tree, "nosuch")] == [tree] * 3 + [None]
        blob = odd.git("hash-object", "-w", "--stdin", input="tree x\n").strip()
        assert repo.tree_of(blob) is None
    (odd.root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    with open_repo(odd) as repo:
        for rev in ("HEAD", tree):
            with pytest.raises(UnreadableError, match=f"object {tree} is missing"):
                repo.tree_of(rev)
        with pytest.raises(UnreadableError, match=f"object {tree} is missing"):
            head_tree(repo)
        with pytest.raises(UnreadableError, match=f"object {tree} is missing"):
            staged_change(repo, "HEAD")
    commit = odd.git("rev-parse", "HEAD").strip()
    (odd.root / ".git/objects" / commit[:2] / commit[2:]).unlink()
    with open_repo(odd) as repo, pytest.raises(UnreadableError, match=f"object {commit} is miss"):
        head_tree(repo)


def test_grafts_and_commit_graphs_hide_nothing(odd: ScratchRepo) -> None:
    second = odd.commit("feat: second", {"a": "1"})
    (odd.root / ".git/info").mkdir(exist_ok=True)
    (odd.root / ".git/info/grafts").write_text(f"{second}\n")
    assert odd.git("rev-list", "--count", "HEAD").strip() == "1"
    with open_repo(odd) as repo:
        assert repo.out("rev-list", "--count", "HEAD").strip() == b"2"
        assert repo.run("rev-list", "--count", "HEAD").err == b""


def test_nothing_is_fetched(odd: ScratchRepo, tmp_path: Path) -> None:
    mark = tmp_path / "asked"
    helper = tmp_path / "upload-pack"
    helper.write_text(f'#!/bin/sh\ntouch {mark}\nexec git-upload-pack "$@"\n')
    helper.chmod(0o755)
    odd.git("config", "uploadpack.allowFilter", "true")
    options = ("-q", "--no-checkout", "--filter=blob:none", f"file://{odd.root}")
    odd.git("clone", *options, str(tmp_path / "clone"))
    ScratchRepo(tmp_path / "clone").git("config", "remote.origin.uploadpack", str(helper))
    with find_repo(str(tmp_path / "clone")) as repo:
        with pytest.raises(UnreadableError, match="is missing"):
            head_tree(repo).read(ODD)
        # The process behind the reader ended over it; the next question is answered.
        assert head_tree(repo).get(ODD) is not None
    assert not mark.exists()
    ScratchRepo(tmp_path / "clone").git("cat-file", "blob", f"HEAD:{text_of(ODD)}", check=False)
    assert mark.exists()


def test_a_working_tree_that_is_gone_is_named(odd: ScratchRepo) -> None:
    odd.git("config", "core.worktree", str(odd.root.parent / "gone"))
    with pytest.raises(UsageError, match=r"the working tree .*/gone is not there"):
        find_repo(str(odd.root))


def test_user_settings_change_nothing_that_is_read(odd: ScratchRepo) -> None:
    odd.commit("fix: x", {"a": "1"})
    for key, value in {
        "diff.external": "false",
        "diff.noprefix": "true",
        "diff.relative": "true",
        "diff.orderFile": "/nope",
        "color.ui": "always",
        "log.showSignature": "true",
    }.items():
        odd.git("config", key, value)
    with open_repo(odd) as repo:
        change = change_of_trees(repo, revision_tree(repo, "HEAD^"), head_tree(repo))
        assert [entry.name for entry in change.entries] == ["a"]


def test_sha256_repositories_are_read(tmp_path: Path) -> None:
    scratch = ScratchRepo(tmp_path / "sha256")
    scratch.root.mkdir()
    scratch.git("init", "--quiet", "--object-format=sha256")
    scratch.commit("feat: base", {"a": "1"})
    with open_repo(scratch) as repo:
        assert len(repo.empty_tree) == 64
        assert head_tree(repo).read(b"a") == b"1"


def test_a_path_with_a_line_break_is_told(repo: ScratchRepo) -> None:
    folder = repo.root / "line\nbreak"
    folder.mkdir()
    repo.git("init", "-q", str(folder))
    with pytest.raises(UsageError, match="holds a line break"):
        find_repo(str(folder))


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_the_empty_objects_are_what_git_says(tmp_path: Path, object_format: str) -> None:
    scratch = ScratchRepo(tmp_path)
    scratch.git("init", "--quiet", f"--object-format={object_format}")
    with open_repo(scratch) as repo:
        hashed = [
            scratch.git("hash-object", "-t", kind, "--stdin", input="").strip()
            for kind in ("tree", "blob")
        ]
        assert [repo.empty_tree, repo.empty_blob] == hashed
