"""``guard ci`` asks each record's checks again: of an untrusted head by its base's evaluators."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands.calling import Outcome
from tests.conftest import ScratchRepo
from tests.proven_repo import (
    BROKEN,
    CASE,
    CHECKS,
    CONFIG,
    FIXED,
    REJECTED,
    SCRIPT,
    case,
    guard,
    prove,
)

HOLDS = "✓ the checks of 1 regression still tell what happened from what is right"
LOST = "✗ grader-proof: the checks of taxi no longer tell its bug from its fix"
ASKS = "def asks(observation, expected):\n    return 'currency' in observation.reply\n"
ALWAYS = "def asks(observation, expected):\n    return True\n"
FUNCTION = CONFIG + "    evaluators: [evals/checks.py:asks]\n    python: python3\n"
UNTRUSTED = "--untrusted-head"


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run on a service themselves."""
    for name in [*os.environ]:
        if name.startswith(("GITHUB_", "GITLAB_", "CI", "GITEA_", "FORGEJO_", "BITBUCKET_")):
            monkeypatch.delenv(name)


def start(repo: ScratchRepo, expected: str = "{asks: true}") -> None:
    """Prove the fix, commit it to main, and check a topic out."""
    prove(repo, expected, config=FUNCTION, files={CHECKS: ASKS, "evals/ask.sh": "grep -q 400 b*\n"})
    repo.commit("fix(clerk): ask")
    repo.git("checkout", "-q", "-b", "topic")


def ci(repo: ScratchRepo, *options: str) -> Outcome:
    return guard(repo, "ci", "--base=main", *options)


def test_the_checks_of_every_record_are_asked(repo: ScratchRepo) -> None:
    start(repo)
    repo.commit("docs: more", {"README.md": "It.\n"})
    found = ci(repo)
    assert (found.code, HOLDS in found.out) == (0, True), found
    repo.commit("chore: tidy", {CHECKS: ALWAYS})
    found = ci(repo)
    assert (found.code, LOST in found.out) == (1, True), found


def test_checkers_are_started(repo: ScratchRepo) -> None:
    start(repo, "{command: {argv: [sh, '{repo}/evals/ask.sh']}}")
    repo.commit("chore: tidy", {"evals/ask.sh": "true\n"})
    found = ci(repo)
    assert (found.code, LOST in found.out) == (1, True), found


def test_an_observation_that_is_gone_is_not_established(repo: ScratchRepo) -> None:
    start(repo)
    repo.commit("chore: tidy", {REJECTED: None})
    found = ci(repo)
    assert found.code in (1, 3)
    assert f"{REJECTED} is missing" in found.out


def test_an_untrusted_head_is_asked_by_the_evaluators_of_its_base(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    start(repo)
    evil = f"import pathlib\n\npathlib.Path('{tmp_path}/ran').touch()\n\n\n{ALWAYS}"
    repo.commit("chore: tidy", {CHECKS: evil})
    found = ci(repo, UNTRUSTED)
    # The head's own evaluator would accept everything; the base's does not.
    assert HOLDS in found.out
    assert LOST not in found.out
    assert not (tmp_path / "ran").exists()


def test_what_an_untrusted_head_loosens_is_broken(repo: ScratchRepo) -> None:
    start(repo, "{asks: true, no_changes: true}")
    assert ci(repo, UNTRUSTED).out.count(LOST) == 0
    repo.commit("test: loosen", {CASE: case("{asks: true, exit_code: 0}")})
    found = ci(repo, UNTRUSTED)
    assert (found.code, LOST in found.out) == (1, True), found


def test_what_it_drops_is_broken_whatever_checks_come_with_it(repo: ScratchRepo) -> None:
    start(repo, "{asks: true, no_changes: true}")
    repo.commit("test: drop", {CASE: case("{asks: true, exit_code: 0}"), CHECKS: f"{ASKS}# .\n"})
    found = ci(repo, UNTRUSTED)
    assert (found.code, f"{LOST}: nothing scores no_changes" in found.out) == (1, True), found


def test_a_check_that_comes_with_its_case_is_left_open(repo: ScratchRepo) -> None:
    repo.commit("start", {"guard.yaml": FUNCTION, SCRIPT: BROKEN, CHECKS: ASKS})
    repo.git("checkout", "-q", "-b", "topic")
    polite = "\n\ndef polite(observation, expected):\n    return 'which' in observation.reply\n"
    config = FUNCTION.replace("checks.py:asks]", "checks.py:asks, evals/checks.py:polite]")
    repo.write({CHECKS: ASKS + polite, "guard.yaml": config, CASE: case("{polite: true}")})
    repo.write({SCRIPT: FIXED})
    assert guard(repo, "prove", "taxi").code == 0
    repo.commit("fix(clerk): ask")
    found = ci(repo, UNTRUSTED)
    assert (found.code, LOST in found.out) == (3, False), found
    assert "? not established: taxi: checks that come with this change are not run here" in (
        found.out
    )
    found = ci(repo)
    assert (found.code, HOLDS in found.out) == (0, True), found


def test_no_checker_is_started_for_an_untrusted_head(repo: ScratchRepo, tmp_path: Path) -> None:
    start(repo, "{command: {argv: [sh, act.sh]}, asks: true}")
    repo.commit("feat: more", {SCRIPT: f"touch {tmp_path}/ran\necho which currency?\n"})
    found = ci(repo, UNTRUSTED)
    assert LOST not in found.out
    assert not (tmp_path / "ran").exists()
