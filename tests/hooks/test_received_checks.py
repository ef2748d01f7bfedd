"""The grader proof on a server: real pushes, judged by the protected branch's evaluators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.served import Clone, make_served
from tests.proven_repo import CASE, CHECKS, CONFIG, RECORDS, REJECTED, SCRIPT, case, guard, prove

HOLDS = "✓ the checks of 1 regression still tell what happened from what is right"
LOST = "guard: not pushed: the checks of taxi no longer tell its bug from its fix: "
WITH_CHECKS = CONFIG + "    evaluators: [evals/checks.py:asks]\n    python: python3\n"
#: Reads the workspace, too: the agent's file, and one that the trial left there.
ASKS = """\
from pathlib import Path

def asks(observation, expected):
    budget = Path(observation.workspace, "budget.md").read_text()
    return "currency" in observation.reply and "400" in budget and bool(expected)
"""
EXPECTED = "{asks: true, reply_contains: [currency]}"
TRAILER = "test: loosen\n\nCase-Weakened: taxi: it was flaky on my machine"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A clone with one proven fix, which the server has not yet; its bug the server has."""
    found = make_served(tmp_path, None)
    prove(found, EXPECTED, config=WITH_CHECKS, files={CHECKS: ASKS})
    found.accept()
    found.git("add", "--all")
    found.git("commit", "-q", "-m", "fix(clerk): ask")
    return found


@pytest.fixture
def fixed(clone: Clone) -> Clone:
    """The same, once the server has the fix."""
    clone.accept()
    return clone


def amend(clone: Clone) -> None:
    clone.git("add", "--all")
    clone.git("commit", "-q", "--amend", "--no-edit")


def test_an_honest_fix_goes_through_and_another_push_asks_nothing(clone: Clone) -> None:
    said = clone.accept().splitlines()
    assert said[0].startswith(HOLDS)
    assert said[1].startswith("? 1 regression owed: taxi")
    clone.commit("docs: more", {"README.md": "More.\n"})
    assert clone.accept() == ""
    clone.commit("feat: more words", {SCRIPT: "echo in which currency?\n"})
    assert clone.accept().startswith(HOLDS)


def test_a_loosened_expectation_is_refused_though_a_trailer_names_it(fixed: Clone) -> None:
    fixed.commit(TRAILER, {CASE: case("{asks: true, reply_contains: [o]}")})
    lines = fixed.refuse().splitlines()
    assert lines[0] == (
        f"{LOST}reply_contains accepts now what happened before the fix (grader-proof)"
    )
    assert any(line.startswith("  in       main at ") for line in lines)
    assert len(lines) <= 8
    # By the base's rule the same text goes through where it still sees the bug.
    fixed.git("reset", "-q", "--hard", "HEAD^")
    fixed.commit(TRAILER, {CASE: case("{asks: true, reply_contains: [curr]}")})
    assert fixed.accept().startswith(HOLDS)


def test_a_pushed_evaluator_is_not_imported_and_can_not_help(fixed: Clone, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    always = f"open({str(mark)!r}, 'w')\n\ndef asks(observation, expected):\n    return True\n"
    files = {CASE: case("{asks: true, reply_contains: [o]}"), CHECKS: always}
    fixed.commit(TRAILER, files)
    assert LOST in fixed.refuse()
    assert not mark.exists()


def test_a_new_case_that_can_not_see_its_bug_is_refused(clone: Clone) -> None:
    clone.write({CASE: case("{asks: true, reply_contains: [o]}")})
    amend(clone)
    assert "accepts now what happened before the fix" in clone.refuse()
    # Checks that come with it may see what those of the server can't.
    better = ASKS + "\n\ndef reply_asks(observation, expected):\n    return False\n"
    clone.write({CHECKS: better})
    amend(clone)
    assert "? taxi: checks that come with this change are not run here" in clone.accept()


def test_a_check_and_the_case_that_asks_for_it_come_together(clone: Clone) -> None:
    clone.git("reset", "-q", "--soft", "HEAD^")
    both = "{polite: true, asks: true}"
    polite = "\n\ndef polite(observation, expected):\n    return 'which' in observation.reply\n"
    config = WITH_CHECKS.replace("checks.py:asks]", "checks.py:asks, evals/checks.py:polite]")
    clone.write({CHECKS: ASKS + polite, "guard.yaml": config, CASE: case(both), RECORDS: None})
    proven = guard(clone, "prove", "taxi")
    assert proven.code == 0, proven
    clone.git("add", "--all")
    clone.git("commit", "-q", "-m", "fix(clerk): ask politely")
    assert "? taxi: checks that come with this change are not run here" in clone.accept()


def test_an_observation_that_is_edited_is_refused(fixed: Clone) -> None:
    text = (fixed.root / REJECTED).read_text()
    fixed.commit("chore: edit", {REJECTED: text.replace("booked 457", "which currency")})
    lines = fixed.refuse().splitlines()
    assert (
        "guard: not pushed: it isn't known whether the checks of taxi still see its bug"
        in (lines[0])
    )
    assert "  do       guard prove taxi" in lines


def test_what_was_lost_before_the_push_locks_nobody_out(fixed: Clone) -> None:
    fixed.commit("chore: tidy", {CHECKS: "def asks(observation, expected):\n    return True\n"})
    assert fixed.accept() == ""  # What it does is for CI to say.
    fixed.commit("chore: mend the check", {CHECKS: ASKS, SCRIPT: "echo currency\n"})
    assert (
        fixed.accept() == "? taxi: its checks could not tell before this change either (CI tells)"
    )
    fixed.commit("feat: more words", {SCRIPT: "echo in which currency?\n"})
    assert fixed.accept().startswith(HOLDS)


def test_a_server_that_lacks_what_a_check_imports_names_it(clone: Clone) -> None:
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.commit("chore: import", {CHECKS: "import not_on_this_server\n" + ASKS})
    clone.accept()
    clone.git("cherry-pick", "ORIG_HEAD")
    said = "? taxi: its checks can't be asked here: evals/checks.py does not load"
    assert said in clone.accept()


def test_no_checker_is_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    clone = make_served(tmp_path, None)
    checker = f"{{command: {{argv: [sh, -c, 'echo >>{mark}; grep -q 400 budget.md']}}}}"
    prove(clone, checker)
    clone.accept()
    clone.git("add", "--all")
    clone.git("commit", "-q", "-m", "fix(clerk): ask")
    mark.unlink()
    assert "? taxi: checked by programs or a judge, not asked here" in clone.accept()
    assert not mark.exists()


def test_an_evaluator_that_never_ends_refuses_the_push_in_time(clone: Clone) -> None:
    clone.git("reset", "-q", "--hard", "HEAD^")
    endless = "import os\n\ndef asks(observation, expected):\n    while True: os.getpid()\n"
    config = WITH_CHECKS + "hooks: {pre-receive: {max_seconds: 2}}\n"
    said = "chore: slow\n\nCase-Weakened: guard.yaml: for this test"
    clone.commit(said, {CHECKS: endless, "guard.yaml": config})
    clone.accept()
    clone.git("cherry-pick", "ORIG_HEAD")
    assert "it could not be established within 2 s" in clone.refuse()
