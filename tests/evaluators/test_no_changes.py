from __future__ import annotations

from typing import Any

from guard.evaluators import check_expectation
from guard.results import FileChange, Observation
from tests.evaluators.grading import reason_of


def test_holds_where_nothing_changed() -> None:
    assert reason_of("no_changes", True, Observation(), holds=True) == "no file changed"


def test_says_what_changed_as_git_does() -> None:
    changes = (
        FileChange("budget.md", "M", 2, 2),
        FileChange("sponsorships/oslo.md", "M", 4, 4),
    )
    reason = reason_of("no_changes", True, Observation(changes=changes), holds=False)
    assert reason == (
        "files changed: 2 files changed, 6 insertions(+), 6 deletions(-): "
        "budget.md, sponsorships/oslo.md"
    )


def test_names_what_is_no_edit_and_only_the_first_paths() -> None:
    changes = (
        FileChange("new.md", "A", 1, 0),
        FileChange("old.md", "D", 0, 1),
        FileChange("run.sh", "T"),
        *(FileChange(f"{n}.md", "M", 1, 0) for n in range(20)),
    )
    reason = reason_of("no_changes", True, Observation(changes=changes), holds=False)
    assert "23 files changed, 21 insertions(+), 1 deletion(-)" in reason
    assert "new.md (added), old.md (removed), run.sh (type or mode)" in reason
    assert reason.endswith(" and 18 more")


def test_a_change_without_lines_is_still_a_change() -> None:
    changes = (FileChange("run.sh", "T"),)
    reason = reason_of("no_changes", True, Observation(changes=changes), holds=False)
    assert reason == "files changed: 1 file changed: run.sh (type or mode)"


def test_a_hostile_path_stays_on_one_short_line() -> None:
    changes = (FileChange("a\n✓ all fine\udcff" + "x" * 500, "A", 1, 0),)
    reason = reason_of("no_changes", True, Observation(changes=changes), holds=False)
    assert "a\\n✓ all fine\\xff" in reason


def test_only_true_means_something() -> None:
    assert check_expectation("no_changes", True) is None
    refused: list[Any] = [False, 1, "true", None, {}]
    for value in refused:
        said = check_expectation("no_changes", value)
        assert said is not None
        assert "changes_only" in said
