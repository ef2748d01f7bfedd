from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from guard.errors import UsageError
from guard.results import FileChange
from guard.trials.template import Template, text_piece
from guard.workspace import (
    clear_folder,
    compare_folders,
    copy_over,
    lay_workspace,
    remove_tree,
)

TEMPLATE = Template([text_piece(b"a.md", "a\n"), text_piece(b"d/b.md", "b\n")])


def test_a_workspace_lies_one_level_down_beside_its_home(tmp_path: Path) -> None:
    workspace = lay_workspace(str(tmp_path), "t1", TEMPLATE, ())
    assert workspace.path == str(tmp_path / "t1/ws")
    assert sorted(os.listdir(tmp_path / "t1")) == ["home", "tmp", "ws"]
    assert stat.S_IMODE(os.stat(tmp_path / "t1").st_mode) == 0o700
    assert (tmp_path / "t1/ws/d/b.md").read_text() == "b\n"
    assert workspace.strays() == []
    workspace.remove()
    assert os.listdir(tmp_path) == []


def test_given_files_replace_and_add(tmp_path: Path) -> None:
    given = [text_piece(b"a.md", "given\n"), text_piece(b"x/y/z.md", "new\n")]
    workspace = lay_workspace(str(tmp_path), "t1", TEMPLATE, given)
    assert (tmp_path / "t1/ws/a.md").read_text() == "given\n"
    assert (tmp_path / "t1/ws/x/y/z.md").read_text() == "new\n"
    assert workspace.changes(workspace.scan(0)).files == ()
    assert workspace.content_before(b"a.md") == b"given\n"
    assert workspace.content_before(b"d/b.md") == b"b\n"
    assert workspace.content_before(b"none") is None


@pytest.mark.parametrize("path", [b"../x", b"/x", b"a//x", b"./x", b"d/../../x", b"d", b"a.md/x"])
def test_given_files_that_would_leave_it_are_refused(tmp_path: Path, path: bytes) -> None:
    with pytest.raises(UsageError, match="given file"):
        lay_workspace(str(tmp_path), "t1", TEMPLATE, [text_piece(path, "x")])
    assert os.listdir(tmp_path) == []


def test_what_lies_above_the_workspace_is_seen(tmp_path: Path) -> None:
    workspace = lay_workspace(str(tmp_path), "t1", TEMPLATE, ())
    (tmp_path / "t1/note").touch()
    (tmp_path / "beside").touch()
    (tmp_path / "t1/home/mine").touch()
    assert workspace.strays() == ["../../beside", "../note"]


def test_a_folder_above_that_is_gone_is_seen(tmp_path: Path) -> None:
    workspace = lay_workspace(str(tmp_path), "t1", TEMPLATE, ())
    remove_tree(workspace.folder)
    assert workspace.strays() == [".. can't be read any more"]
    workspace.remove()


def test_a_workspace_that_became_a_link_is_seen(tmp_path: Path) -> None:
    workspace = lay_workspace(str(tmp_path), "t1", TEMPLATE, ())
    remove_tree(workspace.path)
    os.symlink("/", workspace.path)
    assert workspace.strays() == ["the workspace itself is a symbolic link now"]


def test_everything_is_removed_even_read_only_and_deep(tmp_path: Path) -> None:
    top = tmp_path / "t"
    (top / "a/b").mkdir(parents=True)
    (top / "a/b/f").touch()
    (top / "link").symlink_to("/etc")
    here = os.open(top, os.O_RDONLY)
    try:
        for _ in range(1500):
            os.mkdir("d" * 20, dir_fd=here)
            below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)
    os.chmod(top / "a/b", 0o555)
    os.chmod(top / "a", 0)
    remove_tree(str(top))
    assert os.listdir(tmp_path) == []


def test_a_folder_is_cleared_of_files_links_and_folders(tmp_path: Path) -> None:
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "f").touch()
    (tmp_path / "l").symlink_to("d")
    clear_folder(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_copy_leaves_out_git_and_special_files(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / ".git").mkdir(parents=True)
    (source / "d/.git").mkdir(parents=True)
    (source / "link").symlink_to("nowhere")
    os.mkfifo(source / "pipe")
    target.mkdir()
    (target / "old").touch()
    copy_over(str(source), str(target))
    assert sorted(os.listdir(target)) == ["d", "link"]
    assert os.readlink(target / "link") == "nowhere"
    assert os.listdir(target / "d") == [".git"]


def test_two_folders_are_compared(tmp_path: Path) -> None:
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same").write_text("x\n")
    (tmp_path / "before/edited").write_text("a\nb\n")
    (tmp_path / "after/edited").write_text("a\nc\nd\n")
    (tmp_path / "before/gone").write_text("x\n")
    changes = compare_folders(str(tmp_path / "before"), str(tmp_path / "after"))
    assert changes == (FileChange("edited", "M", 2, 1), FileChange("gone", "D", 0, 1))
