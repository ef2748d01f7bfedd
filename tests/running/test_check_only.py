"""``guard run --check-only DIR``: the checks see a folder, and no target is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.books import (
    BOOKS,
    CELL_WRONG,
    CONSISTENT_BUT_WRONG,
    RECONCILE,
    RECONCILE_ARGV,
    RECONCILE_PATH,
    write_files,
)
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, clerk, config

CHECKER = {"argv": list(RECONCILE_ARGV)}


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """Where the target would leave a mark, if it were ever run."""
    return tmp_path / "started"


@pytest.fixture
def books(repo: ScratchRepo, started: Path) -> ScratchRepo:
    """A repository of accounts with a case for each check, and one for both."""
    script = f"touch {started}"
    repo.commit(
        "feat: books",
        {
            **config(clerk(paths=["agent/**"], depends=[RECONCILE_PATH])),
            **{f"agent/{path}": text for path, text in BOOKS.items()},
            RECONCILE_PATH: RECONCILE,
            **case(script, {"no_changes": True}, id="untouched"),
            **case(script, {"command": CHECKER}, id="reconciled"),
            **case(script, {"no_changes": True, "command": CHECKER}, id="both"),
        },
    )
    return repo


RULES = {"rules.md": "Be kind.\n"}


@pytest.mark.parametrize(
    ("copy", "untouched", "reconciled", "code"),
    [
        ({}, "PASS", "PASS", 0),
        (CELL_WRONG, "FAIL", "FAIL", 1),
        (CONSISTENT_BUT_WRONG, "FAIL", "PASS", 1),
    ],
    ids=["untouched", "one cell wrong", "consistent but wrong"],
)
def test_the_copies_of_the_book(
    books: ScratchRepo,
    guard: GuardCommand,
    started: Path,
    tmp_path: Path,
    copy: dict[str, str],
    untouched: str,
    reconciled: str,
    code: int,
) -> None:
    folder = write_files(tmp_path / "copy", RULES, BOOKS, copy)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found = guard.verdicts("--check-only", str(folder), ends_in=code)
    worst = "FAIL" if "FAIL" in (untouched, reconciled) else "PASS"
    assert found == {"both": worst, "reconciled": reconciled, "untouched": untouched}
    assert not started.exists()
    assert {path: path.read_bytes() for path in before} == before


def test_reasons_name_the_files_and_what_the_checker_said(
    books: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "copy", RULES, BOOKS, CELL_WRONG)
    call = ("run", "--check-only", str(folder))
    outcome = guard(*call, "untouched").ends_in(1).says("no target was run")
    outcome.says("files changed: 1 file changed, 1 insertion(+), 1 deletion(-)", "northlight.md")
    guard(*call, "reconciled").ends_in(1).says("the lines add up to 2347, total says 2310")
    guard("show", "reconciled#1").ends_in(0).says("taxi | 297", "the lines add up to 2347")


def test_no_receipt_comes_of_it(
    books: ScratchRepo, guard: GuardCommand, started: Path, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "copy", RULES, BOOKS)
    guard.verdicts("--check-only", str(folder))
    guard("status").ends_in(0).says("3 of 3 cases have no evidence for these files")
    guard("affected").ends_in(0).says("nothing is affected")
    assert not started.exists()
    guard.verdicts("untouched")
    assert started.exists()


def test_the_folder_may_be_given_from_a_folder_below(
    books: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "copy", RULES, BOOKS)
    report = guard.report("--check-only", f"../../{folder.name}", folder="agent")
    assert [c["verdict"] for c in report["cases"]] == ["PASS"] * 3


def test_what_is_wrong_with_the_call_is_refused(
    books: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    guard("run", "--check-only", str(tmp_path / "nosuch")).refuses("there is no such folder")
    guard("run", "--check-only", "guard.yaml").refuses("there is no such folder")
    folder = write_files(tmp_path / "copy", RULES, BOOKS)
    guard("run", "nosuch", "--check-only", str(folder)).refuses("matches no case")


def test_a_key_that_nothing_reads_is_refused_here_too(
    books: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "copy", RULES, BOOKS)
    books.write(case("true", {"no_change": True}, id="typo"))
    outcome = guard("run", "--check-only", str(folder))
    outcome.refuses("evals/typo.md:4: expected.no_change", "`no_changes`")


def test_without_a_case_nothing_is_claimed(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    repo.commit("feat: no case", config())
    guard("run", "--check-only", str(write_files(tmp_path / "copy", BOOKS))).refuses("no case")


def test_odd_files_in_the_folder_are_graded_and_break_nothing(
    books: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "copy", RULES, BOOKS)
    (folder / "dangling").symlink_to("nowhere")
    (folder / ".git").mkdir()
    report = guard.report("--check-only", str(folder), "untouched", ends_in=1)
    changes = report["cases"][0]["runs"][0]["changes"]
    assert [(c["path"], c["status"]) for c in changes] == [("dangling", "A")]
    assert json.dumps(report).count("FAIL") >= 2
