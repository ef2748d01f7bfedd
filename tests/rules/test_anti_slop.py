"""Evidence that only looks like it: cases that doing nothing passes, and cases of mere wording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.proven_repo import BROKEN, CASE, CONFIG, RECORDS, SCRIPT, case, edit, guard, prove

NULL = "! anti-slop/null: taxi passes with an agent that does nothing"
WORDING = "! anti-slop/wording: taxi tests the wording of clerk, and nothing that it does"


def start(repo: ScratchRepo, expected: str, config: str = CONFIG, more: str = "") -> None:
    repo.commit(
        "start",
        {
            "guard.yaml": config,
            SCRIPT: BROKEN,
            "agent/budget.md": "taxi 400\n",
            "agent/SKILL.md": "Ask which currency.\n",
            CASE: case(expected, more),
        },
    )


def check(repo: ScratchRepo, *arguments: str) -> tuple[int, str]:
    found = guard(repo, "check", *arguments)
    return found.code, found.out + found.err


@pytest.mark.parametrize(
    ("expected", "passes"),
    [
        ("{no_changes: true}", True),
        ("{no_changes: true, reply_excludes: [booked]}", True),
        ("{files: {budget.md: {contains: '400'}}, exit_code: 0}", True),
        ("{no_permission_denials: true, max_cost_usd: 1, max_turns: 3, max_seconds: 5}", True),
        ("{tools_not_used: [Bash]}", True),
        ("{reply_excludes: [x], stdout_excludes: [y], artifacts: [{path: z, absent: true}]}", True),
        ("{no_changes: true, reply_contains: [currency]}", False),
        ("{files: {budget.md: {contains: '457'}}}", False),
        ("{tools_used: [Bash]}", False),
        ("{exit_code: 1}", False),
        ("{output: [{pointer: /a, equals: 1}]}", False),
        ("{fields: {a: 1}}", False),
    ],
)
def test_what_an_agent_passes_that_does_nothing(
    repo: ScratchRepo, expected: str, passes: bool
) -> None:
    start(repo, expected)
    code, told = check(repo, "--null")
    assert (code, NULL in told) == (0, passes), told
    assert f"1 case tried on an agent that does nothing: {int(passes)} pass" in told
    assert (check(repo, "--null", "--strict")[0]) == (3 if passes else 0)
    # Only where it is asked for.
    assert "does nothing" not in check(repo)[1]


def test_a_proof_stands_behind_what_rightly_changes_nothing(repo: ScratchRepo) -> None:
    prove(repo, "{no_changes: true}")
    code, told = check(repo, "--null", "--strict")
    assert (code, NULL in told) == (0, False), told
    assert "1 case rightly passes it: proven to fail before its fix" in told


def test_numbers_typed_by_hand_are_no_proof(repo: ScratchRepo) -> None:
    prove(repo, "{no_changes: true}")
    edit(
        repo,
        RECORDS,
        lambda document: document["regressions"]["taxi"]["proof"].update(receipts=["sha256:1"]),
    )
    code, told = check(repo, "--null", "--strict")
    assert (code, NULL in told) == (3, True), told


def test_no_target_is_run_and_checkers_where_that_is_asked_for(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    script = f"touch {tmp_path}/asked; grep -q 400 budget.md"
    start(repo, json.dumps({"command": {"argv": ["sh", "-c", script]}, "no_changes": True}))
    repo.write({SCRIPT: f"touch {tmp_path}/ran\n"})
    code, told = check(repo, "--null")
    assert (code, "? taxi: only command could tell" in told) == (0, True), told
    assert not (tmp_path / "asked").exists()
    code, told = check(repo, "--null", "--run-checkers")
    assert (code, NULL in told) == (0, True), told
    assert (tmp_path / "asked").exists()
    assert "checkers were run, no agent" in told
    assert not (tmp_path / "ran").exists()


def test_a_checker_that_sees_that_nothing_was_done(repo: ScratchRepo) -> None:
    start(repo, json.dumps({"command": {"argv": ["grep", "-q", "457", "budget.md"]}}))
    code, told = check(repo, "--null", "--run-checkers", "--strict")
    assert (code, NULL in told, "0 pass" in told) == (0, False, True), told


def test_a_precondition_that_does_not_hold_is_named(repo: ScratchRepo) -> None:
    start(repo, "{no_changes: true}", more="preconditions: [{file_exists: gone.md}]\n")
    code, told = check(repo, "--null")
    assert (code, "? taxi: stale, needs review" in told) == (0, True), told


FIRST_TOOL = (
    "def asks(observation, expected):\n    return observation.tool_calls[0].name == 'ask'\n"
)
OPINION = """\
from guard.plugin import Evaluator, hookimpl

def opinion(observation, expected):
    raise AssertionError("a judge is never asked here")

@hookimpl
def guard_evaluators():
    return [Evaluator("opinion", opinion, reads=("opinion",), judge=True)]
"""


def test_a_check_that_breaks_on_nothing_is_no_pass_and_is_named(repo: ScratchRepo) -> None:
    repo.write({"evals/checks.py": FIRST_TOOL})
    start(repo, "{asks: true}", CONFIG + "    evaluators: [evals/checks.py:asks]\n")
    code, told = check(repo, "--null")
    assert (code, "0 pass" in told) == (0, True), told
    assert check(repo, "--null", "--strict")[0] == 3  # what it would say isn't known
    assert "? taxi: no pass, but a check breaks on it: evaluator evals/checks.py:asks" in told


@pytest.mark.parametrize("expected", ["{opinion: polite}", "{opinion: polite, no_changes: true}"])
def test_what_a_judge_alone_could_tell_is_named(repo: ScratchRepo, expected: str) -> None:
    repo.write({"evals/opinion.py": OPINION})
    start(repo, expected, CONFIG + "plugins: [evals/opinion.py]\n")
    code, told = check(repo, "--null")
    assert (code, NULL in told) == (0, False), told
    assert "? taxi: only opinion could tell" in told


OWN = CONFIG.replace("[agent/act.sh]", "[agent/act.sh, agent/SKILL.md]")


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("{files: {SKILL.md: {contains: currency}}}", True),
        ("{artifacts: [{path: ./SKILL.md, min_bytes: 3}], files: {act.sh: {excludes: x}}}", True),
        ("{command: {argv: [grep, -q, currency, SKILL.md]}}", True),
        ("{command: [{argv: [/bin/cat, '{workspace}/SKILL.md']}]}", True),
        # What the agent does is asked for as well, or a file that isn't its own text.
        ("{files: {SKILL.md: {contains: currency}}, no_changes: true}", False),
        ("{files: {SKILL.md: {contains: currency}, budget.md: {contains: '4'}}}", False),
        ("{files: {new.md: {contains: currency}}}", False),
        ("{command: {argv: [sh, act.sh]}}", False),
        ("{command: {argv: [grep, -q, '4', budget.md, SKILL.md]}}", False),
        ("{command: {argv: [grep, -q, '4', budget.md]}}", False),
        ("{reply_contains: [currency]}", False),
    ],
)
def test_a_case_of_mere_wording(repo: ScratchRepo, expected: str, found: bool) -> None:
    start(repo, expected, OWN)
    code, told = check(repo)
    assert (code, WORDING in told) == (0, found), told
    assert check(repo, "--strict")[0] == 0
    if found:
        assert check(repo, "--null", "--strict")[0] == 3


def test_a_file_that_the_case_itself_gives_is_no_text_of_the_agents(repo: ScratchRepo) -> None:
    given = "given: {files: {SKILL.md: 'Ask which currency.'}}\n"
    start(repo, "{files: {SKILL.md: {contains: currency}}}", OWN, given)
    assert WORDING not in check(repo)[1]


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        ("[cat, SKILL.md]", True),
        ("[grep, -n, currency, SKILL.md, '{utterance}']", True),
        ("[cat, budget.md]", False),
        ("[sh, act.sh, SKILL.md]", False),
        ("[cat, '{utterance}']", False),
    ],
)
def test_a_target_that_prints_its_own_text(repo: ScratchRepo, argv: str, found: bool) -> None:
    start(repo, "{reply_contains: [currency]}", OWN.replace("[sh, act.sh]", argv))
    code, told = check(repo)
    assert (code, WORDING in told) == (0, found), told


def test_a_proof_does_not_make_wording_behaviour(repo: ScratchRepo) -> None:
    """It fails without the sentence, and passes with it, whatever any agent makes of it."""
    own = OWN.replace("agent/act.sh, ", "")
    files = {"agent/SKILL.md": "Book it.\n"}
    repo.commit("start", {"guard.yaml": own, SCRIPT: BROKEN, **files})
    expected = "{files: {SKILL.md: {contains: currency}}}"
    repo.write({CASE: case(expected), "agent/SKILL.md": "Ask which currency.\n"})
    assert guard(repo, "prove", "taxi").code == 0
    code, told = check(repo, "--null")
    assert (code, WORDING in told, NULL in told) == (0, True, False), told
    assert "✓ the checks of 1 regression still tell" in told
