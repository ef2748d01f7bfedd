"""The grader proof in the hooks: where a check changed at commit, all of them at push."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.hooks.installed import Done, Installed
from tests.proven_repo import ACCEPTED, CASE, CHECKS, CONFIG, REJECTED, SCRIPT, case, prove

HOLDS = "✓ the checks of 1 regression still tell what happened from what is right"
LOST = "the checks of taxi no longer tell its bug from its fix"
ASKS = "def asks(observation, expected):\n    return 'currency' in observation.reply\n"
ALWAYS = "def asks(observation, expected):\n    return True\n"
EXPECTED = "{asks: true, command: {argv: [sh, '{repo}/evals/ask.sh']}}"


@pytest.fixture
def installed(repo: ScratchRepo, tmp_path: Path) -> Installed:
    """A repository with hooks and a remote; its one fix is proven, and pushed."""
    config = CONFIG + "    evaluators: [evals/checks.py:asks]\n    python: python3\n"
    files = {CHECKS: ASKS, "evals/ask.sh": "grep -q 400 budget.md\n", "README.md": "It.\n"}
    prove(repo, EXPECTED, config=config, files=files)
    found = Installed(repo.root)
    found.install()
    found.git("init", "-q", "--bare", str(tmp_path / "up"))
    found.git("remote", "add", "up", str(tmp_path / "up"))
    found.git("add", "--all")
    found.accept("fix(clerk): ask")
    assert push(found).returncode == 0
    return found


def push(installed: Installed) -> Done:
    return installed.run("git", "push", "-q", "up", "main")


@pytest.mark.parametrize(
    ("path", "content"),
    [(CHECKS, ALWAYS), ("evals/ask.sh", "true\n")],
    ids=["evaluator", "depends"],
)
def test_a_check_that_became_always_true_is_refused_at_commit_and_at_push(
    installed: Installed, path: str, content: str
) -> None:
    installed.stage({path: content})
    said = installed.refuse("chore: tidy the checks")
    assert said.startswith(f"guard: refused: {LOST}") or f"\nguard: refused: {LOST}" in said
    assert "(grader-proof)" in said
    installed.bypass("chore: tidy the checks", {})
    done = push(installed)
    assert done.returncode != 0
    assert f"guard: not pushed: {LOST}" in done.stderr
    assert "guard check --run-checkers" in done.stderr
    assert len(done.stderr[done.stderr.index("guard: not pushed") :].splitlines()) <= 9
    # As it was, it holds.
    installed.git("revert", "--no-edit", "--no-verify", "HEAD", check=False)
    installed.git("reset", "-q", "--hard", "HEAD^")
    installed.stage({path: (installed.root / path).read_text() + "# A word.\n"})
    assert HOLDS in installed.accept("chore: a word")
    done = push(installed)
    assert (done.returncode, HOLDS in done.stderr) == (0, True), done.stderr


def test_a_loosened_case_is_refused_though_a_trailer_names_it(installed: Installed) -> None:
    installed.stage({CASE: case("{command: {argv: [sh, -c, 'true']}, asks: true}")})
    said = installed.refuse("test: loosen\n\nCase-Weakened: taxi: it was flaky on my machine")
    assert LOST in said
    assert "command accepts now what happened before the fix" in said


def test_a_loosened_case_is_undone_or_proven_anew(installed: Installed) -> None:
    installed.stage({CASE: case("{command: {argv: [sh, -c, 'true']}, asks: true}")})
    said = installed.refuse("test: loosen")
    assert f"  do       git checkout HEAD -- {CASE}\n" in said
    assert f"guard prove taxi && git add {CASE} regressions*      # where it asks for" in said
    # What can be pasted repeats the commit as it was asked for, with its message.
    assert re.search("\n           git commit .*'test: loosen'\n", said)
    assert len(said[said.index("guard: refused") :].splitlines()) <= 8
    installed.git("checkout", "HEAD", "--", CASE)
    assert installed.git("status", "--porcelain") == ""


def test_a_check_that_stayed_as_it_was_is_not_to_be_undone(installed: Installed) -> None:
    installed.stage({CHECKS: ALWAYS})
    said = installed.refuse("chore: tidy the checks")
    assert "git checkout" not in said
    assert "  do       guard prove taxi\n" in said


def test_what_concerns_no_check_asks_none(installed: Installed) -> None:
    installed.stage({"README.md": "It is.\n"})
    assert "checks" not in installed.accept("docs: say more")


def test_an_agent_that_changed_has_its_checks_asked(installed: Installed) -> None:
    installed.stage({SCRIPT: "echo in which currency?\n"})
    assert HOLDS in installed.accept("feat: more words")


@pytest.mark.parametrize("path", [REJECTED, ACCEPTED])
def test_an_observation_that_is_gone_is_named_at_commit_and_refused_at_push(
    installed: Installed, path: str
) -> None:
    installed.write({path: None, SCRIPT: "echo in which currency?\n"})
    installed.git("add", "--all")
    done = installed.try_commit("-m", "chore: tidy")
    if done.returncode == 0:
        assert f"? not established: whether the checks of taxi still see its bug: {path}" in (
            done.stderr
        )
    else:
        assert "case-weakened" in done.stderr
        installed.bypass("chore: tidy", {})
    done = push(installed)
    assert done.returncode != 0
    assert "taxi" in done.stderr
    installed.git("checkout", "-q", "HEAD^", "--", path)
    installed.accept("chore: bring it back")
    installed.git("reset", "-q", "--soft", "HEAD~2")
    installed.accept("chore: tidy")
    assert push(installed).returncode == 0


def test_an_edited_observation_is_no_evidence(installed: Installed) -> None:
    text = (installed.root / REJECTED).read_text()
    installed.bypass("chore: edit", {REJECTED: text.replace("booked 457", "which currency")})
    done = push(installed)
    assert done.returncode != 0
    assert "guard: not pushed: " in done.stderr
    assert "whether the checks of taxi still see its bug" in done.stderr
    assert "was edited: it doesn't fit its own digest" in done.stderr
    assert "guard prove taxi" in done.stderr


def test_a_case_that_asks_for_more_is_named_and_not_refused(installed: Installed) -> None:
    """Its proof is owed, and whether that may be pushed is said by ``owed``."""
    more = EXPECTED.replace("asks: true", "asks: true, stdout_contains: [in which]")
    installed.stage({CASE: case(more), SCRIPT: "echo in which currency?\n"})
    said = installed.accept("test: ask for more")
    assert "? taxi: it asks for something else than when proven" in said


def test_an_observation_that_was_left_out_is_added_by_what_is_printed(installed: Installed) -> None:
    kept = "regressions/taxi/rejected.json"
    installed.git("rm", "-q", "--cached", kept)
    installed.git("commit", "-q", "--no-verify", "-m", "chore: tidy\n\nCase-Weakened: taxi: a slip")
    done = push(installed)
    assert done.returncode != 0
    said = f"it isn't known whether the checks of taxi still see its bug: {kept} is missing\n"
    assert said in done.stderr
    add = next(line for line in done.stderr.splitlines() if "git add" in line)
    assert kept in add
    assert "guard prove" not in done.stderr  # It lies on disk.
    installed.run("sh", "-c", add.replace("do", "", 1).strip())
    installed.git("commit", "-q", "--no-verify", "-m", "test: keep it")
    assert push(installed).returncode == 0
