from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from guard.errors import TargetError
from guard.evaluators import check_expectation
from guard.evaluators.command import fill, require_status
from guard.plugin import Finished
from guard.results import FileChange, Observation
from tests.books import (
    BOOKS,
    CELL_WRONG,
    CONSISTENT_BUT_WRONG,
    RECONCILE,
    RECONCILE_ARGV,
    RECONCILE_PATH,
    write_files,
)
from tests.evaluators.grading import reason_of, scores_of


@pytest.fixture
def after(tmp_path: Path) -> Observation:
    """A trial's workspace with the books, and a repository with their checker."""
    write_files(tmp_path / "work", BOOKS)
    write_files(tmp_path / "repo", {RECONCILE_PATH: RECONCILE})
    return Observation(workspace=str(tmp_path / "work"), repo=str(tmp_path / "repo"))


def python(code: str, *args: str, exit_code: int | None = None) -> dict[str, Any]:
    checker: dict[str, Any] = {"argv": [sys.executable, "-c", code, *args]}
    return checker if exit_code is None else {**checker, "exit_code": exit_code}


def test_holds_where_the_checker_ends_in_zero_or_as_stated(after: Observation) -> None:
    reason_of("command", python("pass"), after, holds=True)
    reason_of("command", python("raise SystemExit(3)", exit_code=3), after, holds=True)
    both = [python("pass"), python("raise SystemExit(3)", exit_code=3)]
    reason_of("command", both, after, holds=True)


def test_fails_with_what_the_checker_said(after: Observation) -> None:
    checker = python("import sys; print('row 7'); sys.exit('sum is off')")
    reason = reason_of("command", checker, after, holds=False)
    assert "ended in 1, not 0" in reason
    assert reason.endswith('"sum is off"')
    said_on_stdout = python("print('row 7'); raise SystemExit(2)")
    assert reason_of("command", said_on_stdout, after, holds=False).endswith('"row 7"')
    silent = python("pass", exit_code=1)
    assert reason_of("command", silent, after, holds=False).endswith("ended in 0, not 1")


def test_every_checker_of_a_list_must_hold(after: Observation) -> None:
    fails = python("raise SystemExit(1)")
    reason_of("command", [python("pass"), fails], after, holds=False)
    reason_of("command", [fails, python("pass")], after, holds=False)


def test_runs_in_the_workspace_with_its_places_filled_in(after: Observation) -> None:
    code = (
        "import os, sys; here = os.path.realpath(os.getcwd());"
        "assert sys.argv[1:] == ['--at=' + here, os.path.dirname(here) + '/repo/x', '{other}']"
    )
    checker = python(code, "--at={workspace}", "{repo}/x", "{other}")
    reason_of("command", checker, after, holds=True)


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    observation = Observation(workspace="/tmp/{repo}", repo="/tmp/{workspace}")
    assert fill("{workspace}:{repo}", observation) == "/tmp/{repo}:/tmp/{workspace}"


@pytest.mark.parametrize(
    ("checker", "part"),
    [
        ({"argv": ["./no-such-checker"]}, "no-such-checker"),
        (python("raise SystemExit(127)"), "can't be started (127)"),
        (python("raise SystemExit(126)"), "can't be started (126)"),
        (python("import os; os.kill(os.getpid(), 9)"), "was ended by signal 9"),
        ({"argv": ["sh", "-c", "no-such-program-at-all"]}, "can't be started (127)"),
    ],
)
def test_a_checker_that_breaks_is_neither_pass_nor_fail(
    after: Observation, checker: dict[str, Any], part: str
) -> None:
    with pytest.raises(TargetError) as caught:
        scores_of({"command": checker}, after)
    assert part in caught.value.message
    with pytest.raises(TargetError):
        scores_of({"command": [python("raise SystemExit(1)"), checker]}, after)


def test_a_checker_that_hangs_is_neither_pass_nor_fail() -> None:
    with pytest.raises(TargetError, match="`wait` did not end within 7 s"):
        require_status("wait", Finished(None, "", ""), 7.0)


def test_without_the_folders_it_needs_there_is_no_score(after: Observation) -> None:
    assert scores_of({"command": python("pass")}, Observation()) == {}
    without_repo = after._replace(repo="")
    assert scores_of({"command": python("pass", "{repo}/x")}, without_repo) == {}
    reason_of("command", python("pass"), without_repo, holds=True)


@pytest.mark.parametrize(
    ("layer", "changed", "reconciles"),
    [
        ({}, False, True),
        (CELL_WRONG, True, False),
        (CONSISTENT_BUT_WRONG, True, True),
    ],
    ids=["untouched", "one-cell-wrong", "consistent-but-wrong"],
)
def test_three_copies_of_the_books(
    after: Observation, layer: dict[str, str], changed: bool, reconciles: bool
) -> None:
    write_files(Path(after.workspace), layer)
    observation = after._replace(changes=tuple(FileChange(path, "M", 1, 1) for path in layer))
    expected = {"no_changes": True, "command": {"argv": list(RECONCILE_ARGV), "exit_code": 0}}
    scores = scores_of(expected, observation)
    assert scores["no_changes"].value == float(not changed), scores["no_changes"].reason
    assert scores["command"].value == float(reconciles), scores["command"].reason


def test_the_books_say_which_total_is_off(after: Observation) -> None:
    write_files(Path(after.workspace), CELL_WRONG)
    reason = reason_of("command", {"argv": list(RECONCILE_ARGV)}, after, holds=False)
    assert "add up to 2347, total says 2310" in reason


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ([], "must not be empty"),
        ("python3 check.py", "must be a mapping, not text"),
        (["python3", "check.py"], "[0]: must be a mapping, not text"),
        ({"exit_code": 0}, "the key `argv` is missing"),
        ({"argv": []}, "argv: must not be empty"),
        ({"argv": "python3 check.py"}, "argv: must be a list, not text"),
        ({"argv": ["sleep", 3]}, "argv[1]: must be text, not a number: put it in quotes"),
        ({"argv": ["x"], "exit": 0}, "exit: unknown key"),
        ({"argv": ["x"], "exitcode": 0}, "did you mean `exit_code`?"),
        ({"argv": ["x"], "exit_code": 127}, "never graded"),
        ({"argv": ["x"], "exit_code": "0"}, "whole number"),
    ],
)
def test_refuses(value: Any, part: str) -> None:
    said = check_expectation("command", value)
    assert said is not None
    assert part in said


def test_accepts() -> None:
    one = {"argv": ["python3", "{repo}/evals/reconcile.py"], "exit_code": 0}
    assert check_expectation("command", one) is None
    assert check_expectation("command", [one, {"argv": ["true"]}]) is None
