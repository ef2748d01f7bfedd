"""What a trial was seen to read: by its tool calls, or as its target says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from guard.results import Observation, ToolCall
from guard.trials.reading import MOST, files_read


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "notes").mkdir(parents=True)
    (root / "notes" / "a.md").write_text("x\n")
    (root / "link.md").symlink_to("notes/a.md")
    (root / "out").symlink_to("/etc")
    return root


def read_by(workspace: Path, tool: str, **given: Any) -> tuple[str, ...] | None:
    calls = (ToolCall(tool, given),)
    return files_read(Observation(tool_calls=calls), str(workspace))


def test_a_target_that_cannot_tell(workspace: Path) -> None:
    assert files_read(Observation(), str(workspace)) is None
    assert files_read(Observation(tool_calls=()), str(workspace)) == ()


@pytest.mark.parametrize(
    ("tool", "given", "names"),
    [
        ("Read", {"file_path": "{}/notes/a.md"}, ("notes/a.md",)),
        ("Read", {"file_path": "notes/a.md"}, ("notes/a.md",)),
        ("Read", {"file_path": "notes/../gone.md"}, ("gone.md",)),
        ("Read", {"file_path": "link.md"}, ("link.md", "notes/a.md")),
        ("Read", {"file_path": "out/passwd"}, ("out/passwd",)),
        ("Edit", {"file_path": "{}/notes/a.md"}, ("notes/a.md",)),
        ("NotebookRead", {"notebook_path": "n.ipynb"}, ("n.ipynb",)),
        ("Grep", {"pattern": "x"}, ("./**",)),
        ("Grep", {"pattern": "x", "path": "{}"}, ("./**",)),
        ("Grep", {"pattern": "x", "path": "notes"}, ("notes/**",)),
        ("Grep", {"pattern": "x", "path": "notes/a.md"}, ("notes/a.md",)),
        ("Glob", {"pattern": "*.md"}, ("./",)),
        ("Glob", {"pattern": "*.md", "path": "{}/notes/"}, ("notes/",)),
        ("LS", {"path": "{}/notes"}, ("notes/",)),
        ("mcp__files__list_directory", {"path": "notes"}, ("notes/",)),
        ("mcp__files__read_file", {"path": "notes/a.md"}, ("notes/a.md",)),
        ("Read", {"file_path": "/etc/passwd"}, ()),
        ("Read", {"file_path": "../secret"}, ()),
        ("Read", {"file_path": "a\0b"}, ()),
        ("Read", {"file_path": 7, "path": None}, ()),
        ("Skill", {"skill": "notes"}, ()),
    ],
)
def test_what_a_tool_call_names(
    workspace: Path, tool: str, given: dict[str, Any], names: tuple[str, ...]
) -> None:
    filled = {
        key: value.replace("{}", str(workspace)) if isinstance(value, str) else value
        for key, value in given.items()
    }
    assert read_by(workspace, tool, **filled) == names


def test_a_sibling_whose_name_begins_alike_is_outside(workspace: Path) -> None:
    assert read_by(workspace, "Read", file_path=f"{workspace}2/notes.md") == ()


def test_what_a_target_says_counts_before_its_calls(workspace: Path) -> None:
    calls = (ToolCall("Read", {"file_path": "notes/a.md"}),)
    told = Observation(tool_calls=calls, files_read=(f"{workspace}/b.md", "notes/", "../out"))
    assert files_read(told, str(workspace)) == ("b.md", "notes/")


def test_more_names_than_can_be_kept_are_all_there_is(workspace: Path) -> None:
    told = Observation(files_read=tuple(f"{n}.md" for n in range(MOST + 1)))
    assert files_read(told, str(workspace)) == ("./**",)
    fewer = Observation(files_read=(told.files_read or ())[1:])
    assert len(files_read(fewer, str(workspace)) or ()) == MOST
