from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from guard.errors import TargetError, UsageError
from guard.evaluators import built_in_evaluators
from guard.plugin import Evaluator
from guard.plugin.functions import load_functions
from guard.results import Observation
from guard.running.counter_examples import (
    Judgement,
    grade,
    judge_counter_example,
    lay_over,
    observe,
)
from tests.books import (
    BOOKS,
    CELL_WRONG,
    CONSISTENT_BUT_WRONG,
    RECONCILE,
    RECONCILE_ARGV,
    RECONCILE_PATH,
    write_files,
)

PATCH = """\
--- a/budget.md
+++ b/budget.md
@@ -8,3 +8,3 @@
 | Harbour Choir | 940 |
-| printing | 385 |
+| printing | 386 |
 | **total** | **3635** |
"""
EXPECTED: dict[str, Any] = {"no_changes": True, "command": {"argv": list(RECONCILE_ARGV)}}


class Books:
    """The books before a run, their copy after it, and a repository with the checker."""

    def __init__(self, root: Path) -> None:
        self.before = write_files(root / "before" / "work", BOOKS)
        self.after = root / "after" / "work"
        shutil.copytree(self.before, self.after)
        self.repo = write_files(root / "repo", {RECONCILE_PATH: RECONCILE})

    def read_fixture(self, path: str) -> bytes:
        return (self.repo / path).read_bytes()

    def observe(self, example: dict[str, Any]) -> Observation:
        lay_over(example, str(self.after), self.read_fixture)
        return observe(example, str(self.before), str(self.after), str(self.repo))

    def judge(
        self, example: dict[str, Any], expected: dict[str, Any] = EXPECTED, **options: Any
    ) -> Judgement:
        observation = self.observe(example)
        return judge_counter_example(
            example, observation, expected, built_in_evaluators(), **options
        )


@pytest.fixture
def books(tmp_path: Path) -> Books:
    return Books(tmp_path / "books")


@pytest.mark.parametrize(
    ("files", "fails"),
    [(CELL_WRONG, ["no_changes", "command"]), (CONSISTENT_BUT_WRONG, ["no_changes"])],
    ids=["one-cell-wrong", "consistent-but-wrong"],
)
def test_exactly_the_stated_keys_fail(
    books: Books, files: dict[str, str], fails: list[str]
) -> None:
    assert books.judge({"files": files, "fails": fails}) == Judgement()


def test_the_untouched_folder_fails_nothing(books: Books) -> None:
    scores = grade(books.observe({}), EXPECTED, built_in_evaluators())
    assert {key: score.value for key, score in scores.items()} == {"no_changes": 1, "command": 1}


def test_a_key_that_accepts_it_is_named(books: Books) -> None:
    example = {"files": CONSISTENT_BUT_WRONG, "fails": ["no_changes", "command"]}
    problem = books.judge(example).problem
    assert problem == "`command` accepts it: each checker ended as expected"


def test_a_key_that_fails_too_is_named(books: Books) -> None:
    problem = books.judge({"files": CELL_WRONG, "fails": ["no_changes"]}).problem
    assert problem.startswith("`command` fails too: checker `python3 {repo}/evals/reconcile.py`")
    assert "add up to 2347" in problem


def test_a_key_that_nothing_scores_is_named(books: Books) -> None:
    problem = books.judge({"files": CELL_WRONG, "fails": ["no_change"]}).problem
    assert problem == "nothing scores `no_change` here, so it can't be seen to fail"
    stated = {**EXPECTED, "tools_used": ["Read"]}
    problem = books.judge({"files": {}, "fails": ["tools_used"]}, stated).problem
    assert "nothing scores `tools_used`" in problem


def test_a_key_that_is_left_out_is_neither_run_nor_asked_for(books: Books) -> None:
    never = {"no_changes": True, "command": {"argv": ["./no-such-program"]}}
    example = {"files": CELL_WRONG, "fails": ["no_changes", "command"]}
    found = books.judge(example, never, leave_out=("command",))
    assert found == Judgement(not_judged=("command",))
    with pytest.raises(TargetError):
        books.judge(example, never)


def test_a_patch_changes_what_it_says(books: Books) -> None:
    example = {"patch": PATCH, "fails": ["no_changes", "command"]}
    assert books.judge(example) == Judgement()
    (change,) = books.observe({}).changes
    assert (change.path, change.status) == ("budget.md", "M")
    assert (change.insertions, change.deletions) == (1, 1)


def test_a_patch_may_lie_in_a_file_and_lack_its_last_line_end(books: Books) -> None:
    write_files(books.repo, {"evals/wrong.patch": PATCH})
    example = {"patch": "evals/wrong.patch", "fails": ["no_changes", "command"]}
    assert books.judge(example) == Judgement()
    shutil.rmtree(books.after)
    shutil.copytree(books.before, books.after)
    stripped = {"patch": PATCH.rstrip("\n"), "fails": ["no_changes", "command"]}
    assert books.judge(stripped) == Judgement()


def test_files_come_before_the_patch(books: Books) -> None:
    budget = BOOKS["budget.md"].replace("Outreach budget", "Budget")
    example = {"files": {"budget.md": budget}, "patch": PATCH}
    (change,) = books.observe(example).changes
    assert (change.insertions, change.deletions) == (2, 2)


@pytest.mark.parametrize(
    "patch",
    [
        PATCH.replace("385", "999"),
        PATCH.replace("budget.md", "nowhere.md"),
        PATCH.replace("budget.md", "../outside.md"),
        "not a patch\nat all\n",
    ],
)
def test_a_patch_that_does_not_apply_is_an_error(books: Books, patch: str) -> None:
    with pytest.raises(UsageError, match="the patch doesn't apply"):
        books.observe({"patch": patch})
    assert not (books.after.parent / "outside.md").exists()


def test_a_patch_is_applied_though_a_repository_lies_around_the_folder(
    books: Books, monkeypatch: pytest.MonkeyPatch, repo: Any
) -> None:
    inside = repo.root / "copy" / "work"
    shutil.copytree(books.before, inside)
    monkeypatch.setenv("GIT_DIR", str(repo.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(repo.root / "index"))
    lay_over({"patch": PATCH}, str(inside), books.read_fixture)
    assert "386" in (inside / "budget.md").read_text()


def test_files_may_be_new_or_come_from_a_fixture(books: Books) -> None:
    write_files(books.repo, {"evals/note.txt": "from the fixture\n"})
    example = {"files": {"new/deep/a.txt": "a\n", "note.txt": {"from": "evals/note.txt"}}}
    changes = books.observe(example).changes
    assert [(c.path, c.status) for c in changes] == [("new/deep/a.txt", "A"), ("note.txt", "A")]
    assert (books.after / "note.txt").read_text() == "from the fixture\n"


def test_the_folder_before_is_left_alone_though_files_are_shared(books: Books) -> None:
    shared = books.after / "budget.md"
    shared.unlink()
    os.link(books.before / "budget.md", shared)
    shared.chmod(0o755)
    books.observe({"files": {"budget.md": "changed\n"}})
    assert (books.before / "budget.md").read_text() == BOOKS["budget.md"]
    assert shared.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("path", ["../out.md", "link/out.md", "/tmp/guard-out.md", "budget.md/x"])
def test_a_file_that_cannot_lie_in_the_workspace_is_an_error(books: Books, path: str) -> None:
    (books.after / "link").symlink_to("..")
    with pytest.raises(UsageError, match=r"out\.md|budget\.md/x"):
        books.observe({"files": {path: "x"}})
    assert not (books.after.parent / "out.md").exists()


def test_a_reply_is_judged_on_an_untouched_folder(books: Books) -> None:
    expected = {"no_changes": True, "reply_contains": ["Which currency"]}
    example = {"reply": "Done, 400 added.", "fails": ["reply_contains"]}
    assert books.judge(example, expected) == Judgement()
    accepted = {"reply": "Which currency is that?", "fails": ["reply_contains"]}
    assert "accepts it" in books.judge(accepted, expected).problem


def test_a_reply_that_claims_work_is_rejected_by_the_missing_file(books: Books) -> None:
    expected = {"files": {"report.md": {"contains": "total"}}, "reply_contains": ["Done"]}
    example = {"reply": "Done: the report is there.", "fails": ["files"]}
    assert books.judge(example, expected) == Judgement()


def test_an_empty_reply_is_a_reply(books: Books) -> None:
    expected = {"reply_contains": ["Which"]}
    assert books.judge({"reply": "", "fails": ["reply_contains"]}, expected) == Judgement()


def test_a_reply_that_is_not_stated_is_not_an_empty_one(books: Books) -> None:
    expected = {
        "no_changes": True,
        "reply_contains": ["Which currency"],
        "output": [{"pointer": "/a"}],
        "fields": {"a": 1},
        "stdout_contains": ["x"],
        "stderr_contains": ["x"],
    }
    assert books.judge({"files": CELL_WRONG, "fails": ["no_changes"]}, expected) == Judgement()
    also = {"files": CELL_WRONG, "fails": ["no_changes", "reply_contains"]}
    assert "nothing scores `reply_contains`" in books.judge(also, expected).problem


def test_files_and_a_reply_together(books: Books) -> None:
    expected = {"no_changes": True, "reply_contains": ["Which currency"]}
    example = {"files": CELL_WRONG, "reply": "Done.", "fails": ["reply_contains", "no_changes"]}
    assert books.judge(example, expected) == Judgement()


def test_a_reply_in_json_is_the_structured_output(books: Books) -> None:
    expected = {"fields": {"total": 12, "ok": True}, "min_accuracy": 0.5}
    example = {"reply": '{"total": 13, "ok": true}', "fails": ["fields"]}
    assert books.judge(example, expected) == Judgement()
    prose = {"reply": "twelve", "fails": ["fields", "fields_floor"]}
    assert books.judge(prose, expected) == Judgement()


def test_plain_functions_judge_too_and_may_see_the_inputs(books: Books) -> None:
    source = "def asks(inputs, outputs): return inputs['word'] in outputs['output']"
    asks = load_functions(source, "evals/checks.py", "asks")
    example = {"reply": "Done.", "fails": ["asks"]}
    observation = books.observe(example)
    found = judge_counter_example(example, observation, {}, [asks], inputs={"word": "Which"})
    assert found == Judgement()
    found = judge_counter_example(example, observation, {}, [asks], inputs={"word": "Done"})
    assert found.problem.startswith("`asks` accepts it")


def test_of_two_scores_of_one_key_the_lower_counts(books: Books) -> None:
    def load(value: str) -> Evaluator:
        source = f"def check(observation, expected): return {value}"
        return load_functions(source, f"evals/{value}.py", "check")

    for evaluators in ([load("True"), load("False")], [load("False"), load("True")]):
        assert grade(Observation(), {}, evaluators)["check"].value == 0


def test_a_checker_sees_what_was_laid_over(books: Books) -> None:
    code = "import pathlib, sys; sys.exit('Radik' in pathlib.Path('budget.md').read_text())"
    expected = {"command": {"argv": [sys.executable, "-c", code]}}
    example = {"files": {"budget.md": "Radik\n"}, "fails": ["command"]}
    assert books.judge(example, expected) == Judgement()
