from __future__ import annotations

from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import FileChange, Observation
from tests.evaluators.grading import reason_of


def changed(*paths: str) -> Observation:
    return Observation(changes=tuple(FileChange(path, "M", 1, 1) for path in paths))


@pytest.mark.parametrize(
    ("globs", "paths"),
    [
        (["budget.md"], []),
        (["budget.md"], ["budget.md"]),
        (["reports/**"], ["reports/a.md", "reports/2031/b.md"]),
        (["reports"], ["reports/a.md"]),
        (["*.md", "log/*"], ["a.md", "log/x"]),
        ("budget.md", ["budget.md"]),
    ],
)
def test_holds(globs: Any, paths: list[str]) -> None:
    reason_of("changes_only", globs, changed(*paths), holds=True)


@pytest.mark.parametrize(
    ("globs", "paths", "stray"),
    [
        (["budget.md"], ["old/budget.md"], "old/budget.md"),
        (["*.md"], ["sub/a.md"], "sub/a.md"),
        (["reports/*"], ["reports/a.md", "reports/2031/b.md"], "reports/2031/b.md"),
        (["budget.md"], ["budget.md.bak"], "budget.md.bak"),
    ],
)
def test_fails_and_names_the_stray(globs: list[str], paths: list[str], stray: str) -> None:
    reason = reason_of("changes_only", globs, changed(*paths), holds=False)
    assert reason == f"1 file changed outside {globs[0]}: {stray}"


def test_an_added_or_removed_file_counts() -> None:
    changes = (FileChange("notes.md", "A", 1, 0), FileChange("run.sh", "D", 0, 1))
    reason = reason_of("changes_only", ["budget.md"], Observation(changes=changes), holds=False)
    assert reason.endswith("notes.md (added), run.sh (removed)")


def test_a_path_that_is_not_utf_8_is_matched_as_bytes() -> None:
    reason_of("changes_only", ["out/*"], changed("out/\udcff\udcfe"), holds=True)
    reason_of("changes_only", ["out/?"], changed("out/\udcff\udcfe"), holds=False)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ([], "no_changes"),
        ([""], "[0]: must not be empty"),
        (["a", 3], "[1]: must be text"),
        ({"a": 1}, "must be text, not a mapping"),
        (["**"], "can never fail"),
        (["."], "can never fail"),
        ("**/*", "can never fail"),
        (["/etc/*"], "leaves the workspace"),
        (["../*"], "leaves the workspace"),
    ],
)
def test_refuses_what_can_never_fail_or_hold(value: Any, part: str) -> None:
    said = check_expectation("changes_only", value)
    assert said is not None
    assert part in said


def test_accepts_globs() -> None:
    assert check_expectation("changes_only", ["reports/**", "*.md", "[ab]/x", "**/a"]) is None
