"""What an import asks of each trial in a receipt: the verdict that stands in it proves nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.clerk import BASE, CASE_PATH, FIXED, SKILL_PATH, case
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.exchange.files import Fields, cloned, exported, forged, receipts, trials
from tests.running.dates import ago

KEY = "reply_contains"
BASELINE = "expected_baseline:\n- {failing_keys: [reply_contains]}\n"


@pytest.fixture
def held(repo: ScratchRepo) -> ScratchRepo:
    """A repository whose one case was run, and holds."""
    repo.commit("feat: clerk", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case()})
    assert call_guard(repo.root, "run").code == 0
    return repo


def every(**changes: object) -> Callable[[Fields], None]:
    """Return a change of all trials."""

    def change(fields: Fields) -> None:
        for trial in trials(fields):
            trial.update(changes)

    return change


def seen(**changes: object) -> Callable[[Fields], None]:
    """Return a change of what all trials observed."""

    def change(fields: Fields) -> None:
        for trial in trials(fields):
            trial["observation"].update(changes)

    return change


def scored(key: str, value: float, **more: object) -> Callable[[Fields], None]:
    return every(scores=[{"key": key, "value": value, "reason": ""}], **more)


def excused(fields: Fields) -> None:
    scored(KEY, 0.0, verdict="XFAIL", failing=[KEY], excused=[KEY])(fields)
    fields["verdict"] = "XFAIL"


def of_case(name: str) -> Callable[[Fields], None]:
    def change(fields: Fields) -> None:
        fields["case"] = name
        every(case=name)(fields)

    return change


FORGED: Mapping[str, tuple[Callable[[Fields], None], str]] = {
    "all failed": (scored(KEY, 0.0, failing=[KEY]), "says PASS, and what it holds shows FAIL"),
    "no failing key named": (scored(KEY, 0.0), "says PASS, and what it holds shows FAIL"),
    "a failing key without a score": (every(failing=[KEY]), "other failing keys than its scores"),
    "no score": (every(scores=[]), "shows UNGRADED (no score for what is expected: reply_contains"),
    "a score of something else": (scored("no_changes", 1.0), "shows UNGRADED (no score for"),
    "a score above one": (scored(KEY, 7.0), "a score that is not from 0 to 1"),
    "excused by no baseline": (excused, "says XFAIL, and what it holds shows FAIL"),
    "a time-out": (
        scored("timeout", 0.0, failing=["timeout"]),
        "says PASS, and what it holds shows FAIL",
    ),
    "the agent wasn't loaded": (seen(loaded=False), "shows ERROR (agent_not_loaded"),
    "a process left running": (every(orphan_pids=[17]), "says PASS, and what it holds shows FAIL"),
    "a process of no number": (every(orphan_pids=[0]), "a process of no number"),
    "one trial twice": (every(trial_id="same"), "one trial several times"),
    "trials without ids": (every(trial_id=""), "a trial without an id"),
    "numbers below one": (lambda f: trials(f)[0].update(number=0), "not in order"),
    "trials after it": (every(started=ago("-2h")), "before its trials were started"),
    "trials long before": (every(started=ago("20d")), "long after its trials were run"),
    "a first trial of years ago": (
        lambda f: trials(f)[0].update(started=ago("800d")),
        "long after its trials were run",
    ),
    "trials without a date": (every(started=""), "has no date"),
    "a date of no zone": (every(started="2026-01-01T00:00:00"), "a date of no zone"),
    "dated back": (lambda f: f.update(date=ago("2h")), "before its trials were started"),
    "less than no time": (seen(seconds=-1.0), "has seconds below zero"),
    "less than no cost": (seen(cost_usd=-0.5), "has a cost below zero"),
    "less than no tokens": (seen(tokens={"input": -1}), "has tokens below zero"),
    "less than no turns": (seen(turns=-1), "has turns below zero"),
    "less than no lines": (
        seen(changes=[{"path": "a", "status": "M", "insertions": -1}]),
        "has changed lines below zero",
    ),
    "a maker in colour": (lambda f: f.update(producer="\x1b[31mci"), "its producer is none"),
    "another case": (of_case("lunch"), "its key is one of case taxi of clerk"),
    "another agent": (lambda f: f.update(agent="porter"), "its key is one of case taxi of clerk"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_trial_that_cannot_have_been(held: ScratchRepo, tmp_path: Path, name: str) -> None:
    change, reason = FORGED[name]
    (file,) = exported(held, tmp_path / "out")
    honest = file.read_bytes()
    forged(file, change)
    other = cloned(held, tmp_path / "other")
    outcome = receipts(other, "import", str(file))
    assert (outcome.code, outcome.out) == (2, "0 receipts imported, 1 refused\n")
    assert reason in outcome.err, outcome
    file.write_bytes(honest)
    assert receipts(other, "import", str(file)).out == "1 receipt imported\n"


def test_a_receipt_of_no_case_here_agrees_with_itself(held: ScratchRepo, tmp_path: Path) -> None:
    """The key of other files: which expectations they state isn't known, the trials are."""
    (file,) = exported(held, tmp_path / "out")

    def elsewhere(change: Callable[[Fields], None]) -> Callable[[Fields], None]:
        def both(fields: Fields) -> None:
            fields["key"] = "sha256:" + "a" * 64
            change(fields)

        return both

    other = cloned(held, tmp_path / "other")
    for name in ("all failed", "no score", "the agent wasn't loaded", "a process left running"):
        wrong = forged(file, elsewhere(FORGED[name][0]), "wrong.json")
        assert receipts(other, "import", str(wrong)).code == 2, name
    for change in (scored("of_another_version", 1.0), excused):
        right = forged(file, elsewhere(change), "right.json")
        outcome = receipts(cloned(held, tmp_path / change.__name__), "import", str(right))
        assert outcome.code == 0, outcome


EVALUATOR = "def asks(observation, expected):\n    return 'currency' in observation.reply\n"
HONEST: Mapping[str, tuple[Mapping[str, str], int]] = {
    "expected to fail": ({CASE_PATH: case(more=BASELINE)}, 0),
    "failing": ({CASE_PATH: case()}, 1),
    "out of time": ({CASE_PATH: case(more="timeout: 0.3\n"), SKILL_PATH: "sleep"}, 1),
    "several keys": (
        {CASE_PATH: case("{no_changes: true, exit_code: 0}"), SKILL_PATH: FIXED},
        0,
    ),
    "a function of one's own": (
        {
            "guard.yaml": BASE["guard.yaml"] + "    evaluators: [evals/checks.py:asks]\n",
            "evals/checks.py": EVALUATOR,
            CASE_PATH: case("{asks: true}"),
            SKILL_PATH: FIXED,
        },
        0,
    ),
    "what an agent always has": (
        {
            "guard.yaml": BASE["guard.yaml"] + "    always: {no_changes: true}\n",
            CASE_PATH: case("{exit_code: 0}"),
        },
        0,
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_was_run_is_taken(repo: ScratchRepo, tmp_path: Path, name: str) -> None:
    files, code = HONEST[name]
    repo.commit("feat: clerk", {**BASE, **files})
    outcome = call_guard(repo.root, "run")
    assert outcome.code == code, outcome
    (file,) = exported(repo, tmp_path / "out")
    outcome = receipts(cloned(repo, tmp_path / "other"), "import", str(file))
    assert (outcome.code, outcome.out) == (0, "1 receipt imported\n"), outcome


def test_a_broken_side_is_asked_the_same(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("feat: clerk", {**BASE, CASE_PATH: case()})
    assert call_guard(repo.root, "prove", "taxi").code == 3
    files = exported(repo, tmp_path / "out")
    red = next(file for file in files if json.loads(file.read_text())["kind"] == "red")
    other = cloned(repo, tmp_path / "other")
    for change in (scored(KEY, 1.0, failing=[]), scored("no_changes", 0.0), of_case("lunch")):
        wrong = forged(red, change, "wrong.json")
        assert receipts(other, "import", str(wrong)).code == 2
    assert receipts(other, "import", str(red)).out == "1 receipt imported\n"
