"""The grader proof: today's checks on what a proof's trials left behind, without any run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ScratchRepo
from tests.proven_repo import (
    ACCEPTED,
    CASE,
    CHECKS,
    CONFIG,
    RECORDS,
    REJECTED,
    SCRIPT,
    case,
    edit,
    guard,
    observation,
    prove,
    record_of,
)

HOLDS = "✓ the checks of 1 regression still tell what happened from what is right"
LOST = "the checks of taxi no longer tell its bug from its fix: "
FUNCTION = "    evaluators: [evals/checks.py:asks]\n    python: python3\n"
ASKS = "def asks(observation, expected):\n    return 'currency' in observation.reply\n"


def check(repo: ScratchRepo, *arguments: str) -> tuple[int, str]:
    found = guard(repo, "check", *arguments)
    return found.code, found.out + found.err


def test_a_proof_keeps_both_observations_and_its_checks_hold(repo: ScratchRepo) -> None:
    said = prove(repo)
    assert f"git add {SCRIPT} {CASE} {RECORDS} {REJECTED} {ACCEPTED}" in said.out
    assert record_of(repo)["observations"] == {"rejected": REJECTED, "accepted": ACCEPTED}
    rejected, accepted = observation(repo), observation(repo, ACCEPTED)
    assert (rejected["verdict"], accepted["verdict"]) == ("FAIL", "PASS")
    assert rejected["observation"]["reply"] == "booked 457\n"
    assert [file["text"] for file in rejected["files"]] == ["taxi 457\n"]
    # Any run of the agent would tell: its program is gone.
    repo.write({SCRIPT: "exit 126\n"})
    code, told = check(repo)
    assert (code, HOLDS in told) == (0, True), told


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("{no_changes: true, reply_contains: [o]}", "reply_contains accepts now what happened"),
        ("{reply_contains: [currency]}", "nothing scores no_changes, on which what happened"),
        ("{changes_only: [budget.md], reply_contains: [currency]}", "nothing scores no_changes"),
        ("{no_changes: true, reply_matches: [currency]}", "nothing scores reply_contains"),
    ],
    ids=["loosened", "dropped", "another-key", "renamed"],
)
def test_a_case_that_can_no_longer_see_its_bug(repo: ScratchRepo, expected: str, said: str) -> None:
    prove(repo)
    repo.write({CASE: case(expected)})
    code, told = check(repo)
    assert code == 1
    # A key that is gone is no key of the record's case either.
    assert f"{LOST}{said}" in told or "its case never writes" in told


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return True", "asks accepts now what happened before the fix"),
        (
            "return {'key': 'asked', 'score': 'currency' in observation.reply}",
            "nothing scores asks",
        ),
        ("return False", "what the fix does is no longer accepted: asks"),
        ("return None", "nothing scores asks"),
    ],
    ids=["always-true", "renamed", "always-false", "silent"],
)
def test_an_evaluator_that_changed(repo: ScratchRepo, body: str, said: str) -> None:
    prove(repo, "{asks: true}", config=CONFIG + FUNCTION, files={CHECKS: ASKS})
    assert check(repo)[0] == 0
    repo.write({CHECKS: f"def asks(observation, expected):\n    {body}\n"})
    code, told = check(repo)
    assert (code, f"{LOST}{said}" in told) == (1, True), told
    # And its negative control: what it was is right again.
    repo.write({CHECKS: ASKS + "\n# Reformatted.\n"})
    assert check(repo)[0] == 0


def test_an_evaluator_that_breaks_tells_nothing(repo: ScratchRepo) -> None:
    prove(repo, "{asks: true}", config=CONFIG + FUNCTION, files={CHECKS: ASKS})
    repo.write({CHECKS: "def asks(observation, expected):\n    raise OSError('no disk')\n"})
    code, told = check(repo)
    assert code == 3
    assert "? not established: whether the checks of taxi still see its bug" in told
    assert "no disk" in told


def test_a_plain_function_reads_the_files_that_were_left(repo: ScratchRepo) -> None:
    reads = (
        "import pathlib\n\n\ndef asks(observation, expected):\n"
        "    return '457' not in (pathlib.Path(observation.workspace) / 'budget.md').read_text()\n"
    )
    prove(repo, "{asks: true}", config=CONFIG + FUNCTION, files={CHECKS: reads})
    assert check(repo)[0] == 0
    assert record_of(repo)["fails_on"] == ["asks"]
    repo.write({CHECKS: reads.replace("budget", "other"), "agent/other.md": "fine\n"})
    code, told = check(repo)
    assert (code, "asks accepts now what happened" in told) == (1, True), told


def test_what_reads_the_agents_own_text_finds_it_as_it_was(repo: ScratchRepo) -> None:
    """The broken agent is part of what was rejected: the fixed text must not stand in for it."""
    reads = (
        "import pathlib\n\n\ndef asks(observation, expected):\n"
        "    return 'which' in (pathlib.Path(observation.workspace) / 'act.sh').read_text()\n"
    )
    prove(repo, "{asks: true}", config=CONFIG + FUNCTION, files={CHECKS: reads})
    assert [file["path"] for file in observation(repo)["files"]] == ["act.sh", "budget.md"]
    code, told = check(repo)
    assert (code, HOLDS in told) == (0, True), told


def test_a_file_that_an_expectation_names_is_kept_though_nothing_changed_it(
    repo: ScratchRepo,
) -> None:
    expected = "{files: {budget.md: {contains: 'taxi 400'}, act.sh: {min_bytes: 1}}}"
    prove(repo, expected)
    assert check(repo)[0] == 0
    # Data of the user's that is another since proves nothing of the checks.
    repo.write({"agent/budget.md": "rent 9\n"})
    assert check(repo)[0] == 0


def test_checkers_are_started_where_that_is_asked_for(repo: ScratchRepo, tmp_path: Path) -> None:
    checker = "{command: {argv: [sh, '{repo}/evals/ask.sh'], exit_code: 0}}"
    ask = f"touch {tmp_path}/asked\ngrep -q 400 budget.md\n"
    prove(repo, checker, files={"evals/ask.sh": ask})
    (tmp_path / "asked").unlink()
    code, told = check(repo)
    assert code == 0
    assert "? taxi: checked by programs or a judge, not asked here (programs: " in told
    assert not (tmp_path / "asked").exists()
    code, told = check(repo, "--run-checkers")
    assert (code, HOLDS in told) == (0, True), told
    assert (tmp_path / "asked").exists()
    repo.write({"evals/ask.sh": "true\n"})
    code, told = check(repo, "--run-checkers")
    assert (code, "command accepts now what happened" in told) == (1, True), told
    assert check(repo)[0] == 0


@pytest.mark.parametrize(
    "expected",
    [
        "{no_changes: true, reply_contains: [currency, please]}",
        "{no_changes: true, reply_contains: [currency], stderr_contains: [x]}",
        "{no_changes: true, reply_contains: [currency], tools_used: [Read]}",
    ],
)
def test_a_case_that_asks_for_more_is_to_be_proven_again(repo: ScratchRepo, expected: str) -> None:
    prove(repo)
    repo.write({CASE: case(expected)})
    code, told = check(repo)
    assert code == 0
    assert "? taxi: it asks for something else than when proven: " in told
    assert "guard prove taxi" in told
    assert check(repo, "--strict")[0] == 3


def test_prose_and_what_the_kept_reply_fulfils_as_well_are_no_other_case(
    repo: ScratchRepo,
) -> None:
    prove(repo)
    expected = "{no_changes: true, reply_contains: [currency, which]}"
    repo.write({CASE: case(expected) + "More.\n"})
    code, told = check(repo, "--strict")
    assert (code, HOLDS in told) == (0, True), told


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        (REJECTED, None, f"{REJECTED} is missing"),
        (ACCEPTED, None, f"{ACCEPTED} is missing"),
        (REJECTED, "{", f"{REJECTED} is not valid JSON"),
        (REJECTED, "[]", f"{REJECTED} is not an observation"),
        (ACCEPTED, "{}", f"{ACCEPTED} has not the fields of an observation"),
        (ACCEPTED, b"\xff\xfe", f"{ACCEPTED} is not valid JSON"),
    ],
)
def test_an_observation_that_cannot_be_had_is_no_pass(
    repo: ScratchRepo, path: str, content: str | bytes | None, said: str
) -> None:
    prove(repo)
    repo.write({path: content})
    code, told = check(repo)
    assert (code, said in told, HOLDS in told) == (3, True, False), told


def test_an_observation_that_was_edited_is_no_pass(repo: ScratchRepo) -> None:
    prove(repo)

    def loosen(document: dict[str, Any]) -> None:
        document["observation"]["reply"] = "which currency?"

    edit(repo, REJECTED, loosen)
    code, told = check(repo)
    assert (code, "was edited: it doesn't fit its own digest" in told) == (3, True), told


def test_an_observation_of_the_other_side_is_no_pass(repo: ScratchRepo) -> None:
    prove(repo)
    repo.write({ACCEPTED: (repo.root / REJECTED).read_bytes()})
    code, told = check(repo)
    assert (code, "is the rejected one of record taxi" in told) == (3, True), told


def test_a_record_of_before_is_counted_and_not_refused(repo: ScratchRepo) -> None:
    prove(repo)
    repo.write({REJECTED: None, ACCEPTED: None})
    edit(repo, RECORDS, lambda document: document["regressions"]["taxi"].pop("observations"))
    code, told = check(repo)
    assert code == 0
    assert "! 1 proven regression keeps no observation to ask its checks again" in told
    # A record that was never proven owes none yet.
    edit(repo, RECORDS, lambda document: document["regressions"]["taxi"].update(proof=None))
    assert "observation" not in check(repo)[1]


def test_observations_elsewhere_are_found(repo: ScratchRepo) -> None:
    prove(repo)
    moved = {"rejected": "evals/kept/no.json", "accepted": "evals/kept/yes.json"}
    for side, path in (("rejected", REJECTED), ("accepted", ACCEPTED)):
        repo.write({moved[side]: (repo.root / path).read_bytes(), path: None})
    edit(repo, RECORDS, lambda document: document["regressions"]["taxi"].update(observations=moved))
    code, told = check(repo)
    assert (code, HOLDS in told) == (0, True), told


def test_a_retired_record_is_not_asked(repo: ScratchRepo) -> None:
    prove(repo)
    retired = {"status": "retired", "retirement": {"reason": "gone", "date": "2031-01-01"}}
    edit(repo, RECORDS, lambda document: document["regressions"]["taxi"].update(retired))
    repo.write({REJECTED: None})
    code, told = check(repo)
    assert (code, "taxi" in told) == (0, False), told


def test_a_precondition_that_no_longer_holds_is_named(repo: ScratchRepo) -> None:
    config = CONFIG + FUNCTION
    more = 'preconditions: [{file_exists: "rates.md"}]\n'
    prove(
        repo,
        "{asks: true}",
        config=config,
        files={CHECKS: ASKS, "agent/rates.md": "1\n"},
        more=more,
    )
    repo.write({"agent/rates.md": None})
    code, told = check(repo)
    assert (code, "stale, needs review" in told) == (3, True), told


def test_proving_again_replaces_them(repo: ScratchRepo) -> None:
    prove(repo)
    before = observation(repo, ACCEPTED)["observation"]["reply"]
    repo.write({SCRIPT: "echo in which currency, please?\n"})
    assert guard(repo, "prove", "taxi").code == 0
    assert observation(repo, ACCEPTED)["observation"]["reply"] != before
    assert check(repo)[0] == 0


def test_they_are_in_no_workspace_and_no_repo_of_a_target(repo: ScratchRepo) -> None:
    """What an agent could read there would tell it what is expected."""
    config = (
        CONFIG.replace("    workspace: agent\n", "")
        .replace("[agent/act.sh]", "[agent/act.sh, keep.md]")
        .replace("[sh, act.sh]", '[sh, agent/act.sh, "{repo}"]')
    )
    prove(repo, config=config, broken="sed -i s/4/5/ agent/budget.md", files={"keep.md": "x\n"})
    look = 'ls -R . "$1"; echo which currency?\n'
    repo.write({SCRIPT: look})
    shown = guard(repo, "run", "taxi", "--json", "-").out
    assert "keep.md" in shown
    assert "rejected.json" not in shown
    assert "regressions" not in shown.split('"stdout"')[1].split('"reply"')[0]


def test_they_are_not_taken_away_unnoticed(repo: ScratchRepo) -> None:
    prove(repo)
    repo.commit("fix(clerk): ask")
    repo.git("rm", "-q", REJECTED)
    repo.commit("chore: tidy")
    code, told = check(repo, "--base", "HEAD^")
    assert code == 1
    assert f"✗ case-weakened [{head(repo)} chore: tidy]: the retained case taxi gets weaker" in told
    assert f"{REJECTED} is deleted, of which its checks are asked again" in told
    repo.git("commit", "-q", "--amend", "-m", "chore: x\n\nCase-Weakened: taxi: it held a name")
    assert "case-weakened" not in check(repo, "--base", "HEAD^")[1]


def test_they_may_move_and_go_with_their_record(repo: ScratchRepo) -> None:
    prove(repo)
    repo.commit("fix(clerk): ask")
    moved = {"rejected": "evals/kept/no.json", "accepted": ACCEPTED}
    repo.write({"evals/kept/no.json": (repo.root / REJECTED).read_bytes(), REJECTED: None})
    edit(repo, RECORDS, lambda document: document["regressions"]["taxi"].update(observations=moved))
    repo.commit("chore: move")
    code, told = check(repo, "--base", "HEAD^")
    assert (code, HOLDS in told) == (0, True), told
    retired = {"status": "retired", "retirement": {"reason": "gone", "date": "2031-01-01"}}
    edit(repo, RECORDS, lambda document: document["regressions"]["taxi"].update(retired))
    repo.commit("chore: retire", {"evals/kept/no.json": None})
    assert "case-weakened" not in check(repo, "--base", "HEAD^")[1]


def head(repo: ScratchRepo) -> str:
    return repo.git("rev-parse", "--short=10", "HEAD").strip()
