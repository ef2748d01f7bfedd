"""The agreement with labelled histories, on a small one of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.agreement import diffs_of, main

PATCH = """\
# 0123456
# 2031-01-01 fix: spelling

diff --git a/skills/a/SKILL.md b/skills/a/SKILL.md
index 1..2 100644
--- a/skills/a/SKILL.md
+++ b/skills/a/SKILL.md
@@ -3,2 +3,2 @@ heading
-Read teh mail.
+Read the mail.
 Book the expense.
"""


def label(subject: str, *cases: str, cosmetic: bool = False) -> dict[str, Any]:
    return {
        "repo": "owner/repo",
        "subject": subject,
        "prompt_files": ["skills/a/SKILL.md"],
        "case_files": list(cases),
        "test_files": list(cases),
        "cosmetic_subject": cosmetic,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    labels = [
        label("fix: spelling", cosmetic=True),
        label("Fixed #3", "skills/a/evals/x.json"),
        label("Fix the table", "golden/a/x.json", "evals/other.json"),
        label("fix: x", "golden/skills/a/x.json"),
    ]
    lines = [*map(json.dumps, labels), "", '{"of": "another kind"}']
    (tmp_path / "labels.jsonl").write_text("\n".join(lines))
    (tmp_path / "spelling.patch").write_text(PATCH)
    return tmp_path


def test_counts_by_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder)]) == 0
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert said[0] == "4 labelled fixes of 1 repository, by their subject alone"
    for line in (
        "by its type 2 of 4 50.0 %",
        "by a closing keyword 1 of 4 25.0 %",
        "near miss 1 of 4 25.0 %",
        "none 0 of 4 0.0 %",
        "near misses whose suggested header is a fix 1 of 1 100.0 %",
        "by the label 3 of 4 75.0 %",
        "more than a generated copy or baseline 2 of 4 50.0 %",
        "of a skill that the fix touches, so that the rule may count it 1 of 4 25.0 %",
        "of no touched skill: owner/repo: evals/other.json",
        "both: spelling: 1 word of prose",
        "patches on which the rule and the label agree 1 of 1 100.0 %",
    ):
        assert line in said


def test_a_fix_that_goes_by_unseen_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "more.jsonl").write_text(json.dumps(label("Mend the table")))
    assert main([str(folder)]) == 1
    assert "unseen: owner/repo: Mend the table" in capsys.readouterr().out


def test_a_folder_without_labels_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert main([]) == 2
    assert "usage: " in capsys.readouterr().err


def test_a_patch_gives_both_sides_of_its_files() -> None:
    (found,) = diffs_of(PATCH)
    assert found.path == "skills/a/SKILL.md"
    assert found.old == "Read teh mail.\nBook the expense.\n\n"
    assert found.new == "Read the mail.\nBook the expense.\n\n"
