from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import Observation
from tests.evaluators.grading import reason_of, scores_of

CONTENT = "taxi 260\ntotal 2310\n"
DIGEST = hashlib.sha256(CONTENT.encode()).hexdigest()


@pytest.fixture
def after(tmp_path: Path) -> Observation:
    """A workspace with a file, an empty one, bytes that are no text, a folder."""
    workspace = tmp_path / "trial" / "work"
    workspace.mkdir(parents=True)
    (workspace.parent / "secret.md").write_text("taxi 260\n")
    (workspace / "budget.md").write_text(CONTENT)
    (workspace / "empty").write_bytes(b"")
    (workspace / "blob").write_bytes(b"\xff\x00taxi\xfe")
    (workspace / "sub").mkdir()
    return Observation(workspace=str(workspace))


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("budget.md", {"contains": ["taxi 260", "total"]}),
        ("budget.md", {"contains": "taxi 260"}),
        ("budget.md", {"excludes": ["297", "Taxi"]}),
        ("budget.md", {"equals": CONTENT}),
        ("budget.md", {"matches": r"(?m)^total \d+$"}),
        ("budget.md", {"matches": ["taxi", "total"]}),
        ("budget.md", {"sha256": DIGEST}),
        ("budget.md", {"sha256": "sha256:" + DIGEST.upper()}),
        ("budget.md", {"min_bytes": len(CONTENT)}),
        ("budget.md", {"absent": False}),
        ("budget.md", {"contains": "taxi", "excludes": "297", "min_bytes": 3}),
        ("empty", {"equals": ""}),
        ("blob", {"contains": "taxi", "excludes": "total"}),
        ("gone.md", {"absent": True}),
        ("sub/gone.md", {"absent": True}),
        ("budget.md/gone", {"absent": True}),
    ],
)
def test_holds(after: Observation, path: str, asked: dict[str, Any]) -> None:
    assert check_expectation("files", {path: asked}) is None
    reason_of("files", {path: asked}, after, holds=True)


@pytest.mark.parametrize(
    ("path", "asked", "part"),
    [
        ("budget.md", {"contains": ["taxi", "297"]}, 'budget.md: it doesn\'t contain "297"'),
        ("budget.md", {"excludes": ["297", "260"]}, 'budget.md: it contains "260"'),
        ("budget.md", {"equals": "taxi 260\ntotal 2347\n"}, "differ from line 2 on"),
        ("budget.md", {"equals": CONTENT.rstrip("\n")}, "differ from line 2 on"),
        ("budget.md", {"equals": CONTENT + "x"}, "differ from line 3 on"),
        ("budget.md", {"matches": r"^total"}, 'doesn\'t match "^total"'),
        ("budget.md", {"sha256": "0" * 64}, f"has the SHA-256 {DIGEST[:12]}…"),
        ("budget.md", {"min_bytes": 999}, f"has {len(CONTENT)} bytes, not 999"),
        ("budget.md", {"absent": True}, "budget.md: is there"),
        ("sub", {"absent": True}, "sub: is there"),
        ("empty", {"contains": "x"}, "it is empty"),
        ("gone.md", {"absent": False}, "gone.md: is not there"),
        ("gone.md", {"excludes": "x"}, "gone.md: is not there"),
        ("budget.md/gone", {"contains": "x"}, "is not there"),
        ("sub", {"contains": "x"}, "sub: is not a regular file"),
    ],
)
def test_fails_and_says_why(
    after: Observation, path: str, asked: dict[str, Any], part: str
) -> None:
    assert check_expectation("files", {path: asked}) is None
    assert part in reason_of("files", {path: asked}, after, holds=False)


def test_all_files_are_one_key_and_each_that_fails_is_named(after: Observation) -> None:
    wanted = {"budget.md": {"contains": "taxi"}, "empty": {"min_bytes": 1}, "x": {"contains": "a"}}
    reason = reason_of("files", wanted, after, holds=False)
    assert reason == "empty: has 0 bytes, not 1; x: is not there"


def test_without_a_workspace_there_is_no_score() -> None:
    assert scores_of({"files": {"a": {"absent": True}}}, Observation()) == {}


@pytest.mark.parametrize("path", ["../secret.md", "sub/../../secret.md"])
@pytest.mark.parametrize("asked", [{"contains": "taxi"}, {"absent": True}, {"excludes": "x"}])
def test_a_path_out_of_the_workspace_is_refused_twice(
    after: Observation, path: str, asked: dict[str, Any]
) -> None:
    said = check_expectation("files", {path: asked})
    assert said is not None
    assert "leaves the workspace" in said
    reason = reason_of("files", {path: asked}, after, holds=False)
    assert "leads out of the workspace" in reason


def test_an_absolute_path_is_refused_twice(after: Observation) -> None:
    path = f"{after.workspace}/../secret.md"
    assert check_expectation("files", {path: {"contains": "taxi"}})
    reason_of("files", {path: {"contains": "taxi"}}, after, holds=False)


@pytest.mark.parametrize("asked", [{"contains": "taxi"}, {"absent": True}, {"excludes": "x"}])
def test_a_link_out_of_the_workspace_is_refused(after: Observation, asked: dict[str, Any]) -> None:
    workspace = Path(after.workspace)
    (workspace / "link.md").symlink_to("../secret.md")
    (workspace / "up").symlink_to("..")
    for path in ("link.md", "up/secret.md"):
        reason = reason_of("files", {path: asked}, after, holds=False)
        assert reason == f"{path}: leads out of the workspace"


def test_a_link_inside_the_workspace_is_followed(after: Observation) -> None:
    (Path(after.workspace) / "link.md").symlink_to("budget.md")
    reason_of("files", {"link.md": {"contains": "taxi"}}, after, holds=True)
    reason_of("files", {"link.md": {"absent": True}}, after, holds=False)


def test_a_broken_link_is_neither_absent_nor_readable(after: Observation) -> None:
    (Path(after.workspace) / "link.md").symlink_to("nowhere")
    (Path(after.workspace) / "loop").symlink_to("loop")
    reason_of("files", {"link.md": {"absent": True}}, after, holds=False)
    reason_of("files", {"link.md": {"absent": False}}, after, holds=False)
    reason_of("files", {"loop": {"absent": True}}, after, holds=False)
    assert "can't be read" in reason_of("files", {"loop": {"excludes": "x"}}, after, holds=False)


def test_a_pipe_is_not_opened(after: Observation) -> None:
    os.mkfifo(Path(after.workspace) / "pipe")
    reason = reason_of("files", {"pipe": {"contains": "x"}}, after, holds=False)
    assert reason == "pipe: is not a regular file"


def test_a_name_that_cannot_be_looked_up_is_not_absent(after: Observation) -> None:
    name = "x" * 300
    reason = reason_of("files", {name: {"absent": True}}, after, holds=False)
    assert "can't be looked at" in reason or reason.endswith("…")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_not_absent(after: Observation) -> None:
    (Path(after.workspace) / "sub").chmod(0)
    reason = reason_of("files", {"sub/x": {"absent": True}}, after, holds=False)
    assert "can't be looked at" in reason


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ({}, "must not be empty"),
        ([{"path": "a"}], "must be a mapping, not a list"),
        ({"a.md": {}}, "a.md: states nothing"),
        ({"a.md": "taxi"}, "a.md: must be a mapping, not text"),
        ({"a.md": {"contain": "x"}}, "a.md.contain: unknown key; did you mean `contains`?"),
        ({"a.md": {"contains": []}}, "a.md.contains: must not be empty"),
        ({"a.md": {"contains": ""}}, "must not be empty"),
        ({"a.md": {"excludes": [3]}}, "a.md.excludes[0]: must be text"),
        ({"a.md": {"equals": 3}}, "must be text"),
        ({"a.md": {"matches": "("}}, "not a regular expression"),
        ({"a.md": {"matches": ".*"}}, "can never fail"),
        ({"a.md": {"sha256": "abc"}}, "64 hexadecimal digits"),
        ({"a.md": {"min_bytes": 0}}, "at least 1"),
        ({"a.md": {"min_bytes": -1}}, "at least 1"),
        ({"a.md": {"min_bytes": True}}, "whole number"),
        ({"a.md": {"absent": "yes"}}, "true or false"),
        ({"a.md": {"absent": True, "contains": "x"}}, "takes `absent` or `contains`, not both"),
        ({"/etc/passwd": {"absent": True}}, "leaves the workspace"),
        ({"a\0b": {"absent": True}}, "leaves the workspace"),
        ({"": {"absent": True}}, "must not be empty"),
    ],
)
def test_refuses(value: Any, part: str) -> None:
    said = check_expectation("files", value)
    assert said is not None
    assert part in said
