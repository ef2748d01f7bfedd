"""The ``claude-code`` target: until it drives the client, its trials SKIP and claim nothing."""

from __future__ import annotations

import pytest

from guard_claude_code import guard_targets
from tests.conftest import ScratchRepo
from tests.guard_command import CLERK, GuardCommand, case, config


def agents(**options: object) -> dict[str, str | bytes | None]:
    return config({"clerk": {**CLERK, "target": "claude-code", "options": options}})


def test_it_leaves_the_case_untested_and_says_so(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**agents(prompt="/tea {utterance}", allowed_tools=["Read"]), **case()})
    outcome = guard("run").ends_in(0).says("? one SKIP", "nothing was tested")
    outcome.says("driving Claude Code is not there yet")
    guard("run", "--strict").ends_in(3)
    guard("status").says("no evidence for these files")


def test_doctor_says_it_before_anyone_relies_on_it(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**agents(), **case()})
    guard("doctor").says("? agent clerk is SKIP on this machine: driving Claude Code is not there")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"promt": "x"}, "options.promt: claude-code knows no such option; did you mean `prompt`"),
        ({"allowed_tools": "Read"}, "options.allowed_tools: must be a list of texts"),
        ({"max_turns": 1.5}, "options.max_turns: must be a whole number"),
    ],
)
def test_its_options_are_checked(
    repo: ScratchRepo, guard: GuardCommand, options: dict[str, object], said: str
) -> None:
    repo.write({**agents(**options), **case()})
    guard("run").refuses("guard.yaml:", said)


def test_it_is_offered() -> None:
    (target,) = guard_targets()
    assert target.name == "claude-code"
    assert {option.name for option in target.options} >= {"prompt", "allowed_tools", "model"}
