"""``guard regressions add``, ``retire``, ``reopen`` and ``show``: records, and nothing is run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.clerk import BASE, BROKEN, CASE_PATH, FIXED, SKILL_PATH, case, fix, record, regressions
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo

RECORDS = "regressions.json"
PATCH = "regressions/taxi/before.patch"


def call(repo: ScratchRepo, *arguments: str) -> Outcome:
    return call_guard(repo.root, *arguments)


def record_of(repo: ScratchRepo, name: str = "taxi") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo.root / RECORDS).read_text())["regressions"][name]
    return found


@pytest.fixture
def fixed(repo: ScratchRepo) -> ScratchRepo:
    """The fix is committed, the case is written, no record is."""
    repo.commit("start", BASE)
    repo.commit("quietly fixed", {SKILL_PATH: FIXED})
    repo.write({CASE_PATH: case()})
    return repo


# add ---------------------------------------------------------------------------------------


def test_a_record_of_a_fix_committed_earlier(fixed: ScratchRepo) -> None:
    outcome = call(fixed, "regressions", "add", "taxi", "--before", "HEAD~1")
    assert outcome.code == 0, outcome
    assert f"taxi is in {RECORDS}, PENDING, and {PATCH}; nothing was run" in outcome.out
    assert "next: guard prove taxi" in outcome.out
    found = record_of(fixed)
    assert found["before"] == {"kind": "patch", "path": PATCH}
    assert found["fails_on"] == ["reply_contains"]
    assert found["proof"] is None
    assert found["incident"]["summary"] == "It converted 400 euro on its own authority."
    assert call(fixed, "check").code == 0
    assert "taxi (PENDING)" in call(fixed, "regressions", "show").out
    proven = call(fixed, "prove", "taxi")
    assert proven.code == 0, proven
    assert record_of(fixed)["before"] == {"kind": "patch", "path": PATCH}
    assert "taxi (proven" in call(fixed, "regressions", "show").out


def test_by_a_patch_in_the_repository_or_from_outside(fixed: ScratchRepo, tmp_path: Path) -> None:
    patch = fixed.git("diff", "HEAD", "HEAD~1", "--", SKILL_PATH)
    fixed.write({"bugs/taxi.patch": patch})
    inside = str(fixed.root / "bugs/taxi.patch")
    assert call(fixed, "regressions", "add", "taxi", "--patch", inside).code == 0
    assert record_of(fixed)["before"] == {"kind": "patch", "path": "bugs/taxi.patch"}
    (fixed.root / RECORDS).unlink()
    outside = tmp_path / "mailed.patch"
    outside.write_text(patch)
    assert call(fixed, "regressions", "add", "taxi", "--patch", str(outside)).code == 0
    assert record_of(fixed)["before"] == {"kind": "patch", "path": PATCH}
    assert (fixed.root / PATCH).read_text() == patch
    assert call(fixed, "verify").code == 0
    proven = call(fixed, "prove", "taxi")
    (line,) = [line for line in proven.out.splitlines() if line.startswith("next: git add")]
    assert PATCH in line.split()


def test_what_is_told_is_written(fixed: ScratchRepo) -> None:
    told = ("--incident", "Booked 400 €", "--fails-on", "no_changes", "--agent", "clerk")
    fixed.write({SKILL_PATH: BROKEN})
    assert call(fixed, "regressions", "add", CASE_PATH, *told).code == 0
    found = record_of(fixed)
    assert found["incident"] == {
        "summary": "Booked 400 €",
        "date": datetime.now(UTC).date().isoformat(),
        "issue": None,
    }
    assert (found["before"], found["fails_on"]) == ({"kind": "parent"}, ["no_changes"])


def test_the_other_records_stay_and_the_file_is_sorted(fixed: ScratchRepo) -> None:
    others = {"zebra": record(case="evals/z.md"), "ape": record(case="evals/a.md")}
    fixed.write({RECORDS: regressions(**others)})
    assert call(fixed, "regressions", "add", "taxi").code == 0
    text = (fixed.root / RECORDS).read_text()
    document = json.loads(text)
    assert list(document["regressions"]) == ["ape", "taxi", "zebra"]
    assert document["regressions"]["zebra"] == others["zebra"]
    assert text == json.dumps(document, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "takes one CASE"),
        (("taxi", "cab"), "takes one CASE"),
        (("tax",), "no case"),
        (("taxi", "--agent", "other"), "is a case of agent clerk, not of other"),
        (("taxi", "--before", "nope"), "nope names no commit or tag here"),
        (("taxi", "--before", "HEAD"), "the agent is the same before the fix and today"),
        (("taxi", "--patch", "gone.patch"), "gone.patch can't be read: No such file"),
        (("taxi", "--patch", SKILL_PATH), "No valid patches in input"),
        (("taxi", "--before", "HEAD~1", "--patch", "x"), "take one"),
        (("taxi", "--reason", "x"), "guard regressions add takes no --reason"),
    ],
)
def test_what_comes_to_nothing_is_refused_and_nothing_is_written(
    fixed: ScratchRepo, arguments: tuple[str, ...], said: str
) -> None:
    before = fixed.git("status", "--porcelain", "--untracked-files=all")
    outcome = call(fixed, "regressions", "add", *arguments)
    assert outcome.code == 2, outcome
    assert said in outcome.err
    assert fixed.git("status", "--porcelain", "--untracked-files=all") == before


def test_a_record_that_is_there_is_left_alone(fixed: ScratchRepo) -> None:
    call(fixed, "regressions", "add", "taxi")
    again = call(fixed, "regressions", "add", "taxi")
    assert again.code == 2
    assert "holds record taxi already" in again.err
    assert "guard regressions show taxi" in again.err


# retire, reopen ----------------------------------------------------------------------------


@pytest.fixture
def retained(repo: ScratchRepo) -> ScratchRepo:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    return repo


def test_retired_it_is_reported_and_not_run(retained: ScratchRepo) -> None:
    outcome = call(retained, "regressions", "retire", "taxi", "--reason", "no taxis", "--by", "Ana")
    assert outcome.code == 0, outcome
    found = record_of(retained)
    today = datetime.now(UTC).date().isoformat()
    assert found["status"] == "retired"
    assert found["retirement"] == {"reason": "no taxis", "date": today, "by": "Ana"}
    verified = call(retained, "verify")
    assert verified.code == 0
    assert "RETIRED" in verified.out
    assert f"taxi (retired {today}: no taxis)" in call(retained, "regressions", "show").out
    retained.git("add", "--all")
    assert call(retained, "check", "--base", "HEAD").code == 0


def test_by_whom_is_git_s_user_where_none_is_named(retained: ScratchRepo) -> None:
    retained.git("config", "user.name", "Ana Ö")
    call(retained, "regressions", "retire", "taxi", "--reason", "no taxis")
    assert record_of(retained)["retirement"]["by"] == "Ana Ö"


def test_reopened_it_is_active_again_and_pending(retained: ScratchRepo) -> None:
    call(retained, "prove", "taxi")
    call(retained, "regressions", "retire", "taxi", "--reason", "no taxis")
    retained.commit("retire")
    outcome = call(retained, "regressions", "reopen", "taxi", "--reason", "taxis again")
    assert outcome.code == 0, outcome
    found = record_of(retained)
    assert (found["status"], found["retirement"], found["reopened"]) == ("active", None, 1)
    assert found["reopening"]["reason"] == "taxis again"
    assert found["proof"] is None
    assert "taxi (PENDING)" in call(retained, "regressions", "show").out
    assert "taxi PROVEN (live)" in call(retained, "verify").out
    proven = call(retained, "prove", "taxi")
    assert proven.code == 0, proven
    assert record_of(retained)["reopened"] == 1
    retained.commit("reopen")
    assert "taxi PROVEN (live)" in call(retained, "verify").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("retire", "taxi"), "say why"),
        (("retire", "taxi", "--reason", " "), "say why"),
        (("retire", "tax", "--reason", "x"), "tax is no record of regressions.json"),
        (("retire", "--reason", "x"), "takes one ID"),
        (("reopen", "taxi", "--reason", "x"), "taxi is active"),
        (("reopen", "taxi", "--reason", "x", "--before", "HEAD"), "takes no --before"),
        (("retier", "taxi"), "did you mean `retire`"),
    ],
)
def test_refused_and_nothing_is_written(
    retained: ScratchRepo, arguments: tuple[str, ...], said: str
) -> None:
    outcome = call(retained, "regressions", *arguments)
    assert outcome.code == 2, outcome
    assert said in outcome.err
    assert retained.git("status", "--porcelain") == ""


def test_retired_twice(retained: ScratchRepo) -> None:
    call(retained, "regressions", "retire", "taxi", "--reason", "no taxis")
    again = call(retained, "regressions", "retire", "taxi", "--reason", "no taxis")
    assert (again.code, "retired already" in again.err) == (2, True)
    assert "guard regressions reopen taxi" in call(retained, "regressions", "add", "taxi").err


# move --------------------------------------------------------------------------------------


def test_a_record_names_the_file_that_its_case_is_in_now(fixed: ScratchRepo) -> None:
    call(fixed, "regressions", "add", "taxi", "--before", "HEAD~1")
    moved = CASE_PATH.replace("taxi", "cab")
    (fixed.root / CASE_PATH).rename(fixed.root / moved)
    refused = call(fixed, "regressions", "move", "taxi", CASE_PATH)
    assert (refused.code, record_of(fixed)["case"]) == (2, CASE_PATH)
    outcome = call(fixed, "regressions", "move", "taxi", moved)
    assert outcome.code == 0, outcome
    assert record_of(fixed)["case"] == moved
    assert call(fixed, "check").code == 0


@pytest.mark.parametrize("reason", ["WHY", "REASON"])
def test_the_word_that_stands_for_a_reason_retires_nothing(fixed: ScratchRepo, reason: str) -> None:
    call(fixed, "regressions", "add", "taxi", "--before", "HEAD~1")
    assert call(fixed, "regressions", "retire", "taxi", "--reason", reason).code == 2
    assert record_of(fixed)["status"] == "active"
