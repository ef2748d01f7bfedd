from __future__ import annotations

import os
from pathlib import Path

import pytest

from guard.git import find_repo
from guard.snapshot import worktree_tree
from guard.tree import Tree
from guard.trials.template import MEMORY_BYTES, Template, folder_paths, make_template
from tests.conftest import ScratchRepo


def template_of(repo: ScratchRepo, folder: str, scratch: Path, memory: int) -> Template:
    with find_repo(str(repo.root)) as found:
        tree: Tree = worktree_tree(found)
        paths, prefix = folder_paths(tree.entries(), folder)
        return make_template(tree, paths, prefix, str(scratch / "t"), memory)


@pytest.mark.parametrize("memory", [MEMORY_BYTES, 0], ids=["in memory", "on disk"])
def test_everything_that_git_keeps_is_laid_again_and_again(
    repo: ScratchRepo, tmp_path: Path, memory: int
) -> None:
    repo.write({"agent/a.md": "a\n", "agent/deep/run": "#!/bin/sh\n", "agent/none": "", "b": "b"})
    (repo.root / "agent/deep/run").chmod(0o755)
    (repo.root / "agent/link").symlink_to("/not/there")
    name = b"\xff \n\xc3\xbc"
    with open(os.fsencode(repo.root) + b"/agent/" + name, "wb") as file:
        file.write(b"\0\xffbytes")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    template = template_of(repo, "agent", scratch, memory)
    for number in range(2):
        target = os.fsencode(tmp_path) + b"/laid%d" % number
        os.mkdir(target)
        manifest = template.lay(target)
        assert sorted(manifest) == sorted([b"a.md", b"deep/run", b"none", b"link", name])
        assert os.stat(target + b"/deep/run").st_mode & 0o777 == 0o755
        assert os.stat(target + b"/a.md").st_mode & 0o777 == 0o644
        assert os.readlink(target + b"/link") == b"/not/there"
        with open(target + b"/" + name, "rb") as file:
            assert file.read() == b"\0\xffbytes"
        assert os.path.getsize(target + b"/none") == 0
    assert template.content(b"a.md") == b"a\n"
    assert template.content(b"link") == b"/not/there"
    assert template.content(b"b") is None
    # On disk it stays where it was checked out; in memory nothing does.
    assert (scratch / "t").exists() == (memory == 0)


def test_line_ends_come_from_the_tree_alone(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.write({"a.txt": "one\ntwo\n", "b.bat": "one\ntwo\n", ".gitattributes": "*.bat eol=crlf\n"})
    repo.commit("x")
    repo.git("config", "core.autocrlf", "true")
    repo.git("config", "core.eol", "crlf")
    template = template_of(repo, "", tmp_path, MEMORY_BYTES)
    assert template.content(b"a.txt") == b"one\ntwo\n"
    assert template.content(b"b.bat") == b"one\r\ntwo\r\n"


def test_attributes_above_the_folder_count(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.write({".gitattributes": "*.bat eol=crlf\n", "agent/b.bat": "one\n"})
    template = template_of(repo, "agent", tmp_path, MEMORY_BYTES)
    assert template.content(b"b.bat") == b"one\r\n"
    assert list(template.pieces) == [b"b.bat"]


def test_the_users_repository_is_not_written_to(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("x", {"a": "x"})
    for key in ("core.splitIndex", "core.untrackedCache", "core.sparseCheckout"):
        repo.git("config", key, "true")
    hook = repo.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
    hook.chmod(0o755)
    before = sorted(str(path) for path in (repo.root / ".git").rglob("*"))
    template_of(repo, "", tmp_path, MEMORY_BYTES)
    assert sorted(str(path) for path in (repo.root / ".git").rglob("*")) == before
    assert not (tmp_path / "hook-ran").exists()


def test_a_folder_that_is_not_there_is_an_empty_template(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.write({"agents/a": "x"})
    assert not template_of(repo, "agent", tmp_path, MEMORY_BYTES).pieces
