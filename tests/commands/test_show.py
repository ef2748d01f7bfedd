"""``guard show``: one trial in words, also where much of it is gone."""

from __future__ import annotations

import pytest

from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, config, passes_in


@pytest.fixture
def ran(repo: ScratchRepo, guard: GuardCommand) -> ScratchRepo:
    script = f"echo note > note.md; {passes_in(1, 3)}; echo warned >&2"
    expected = {"reply_contains": ["hello"], "changes_only": ["*.md"]}
    repo.commit("feat: clerk", {**config(), **case(script, expected, trials=3, min_pass_rate=0.6)})
    guard("run").ends_in(0)
    return repo


def test_what_it_was_asked_did_changed_and_said(ran: ScratchRepo, guard: GuardCommand) -> None:
    outcome = guard("show", "one#2").ends_in(0)
    outcome.says("✗ one#2 FAIL: reply_contains", "asked\n  echo note", "A note.md (+1 -0)")
    outcome.says("said\n  no\n", "standard error:\n  warned", "✓ changes_only 1")
    outcome.says_not("one#1", "one#3")
    guard("show", "one#3").ends_in(0).says("✓ one#3 PASS", "said\n  hello")


def test_all_trials_of_the_last_run(ran: ScratchRepo, guard: GuardCommand) -> None:
    outcome = guard("show", "one").ends_in(0).says("one#1", "one#2", "one#3")
    assert outcome.out.count("\nasked\n") == 3


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        ("nosuch", "no trial of nosuch is kept"),
        ("one#4", "there is no such trial; kept are 1, 2, 3"),
        ("one#0", "one#0"),
        ("one#x", "takes CASE, CASE#2, CASE#before-1"),
        ("one#before-", "takes CASE, CASE#2, CASE#before-1"),
        ("one#-1", "takes CASE, CASE#2, CASE#before-1"),
        ("one#middle-1", "takes CASE, CASE#2, CASE#before-1"),
        ("one#before-1", "no trial of one#before-1 is kept"),
        ("one#²", "takes CASE, CASE#2, CASE#before-1"),
        ("", "no trial"),
    ],
)
def test_what_is_not_there_is_refused(
    ran: ScratchRepo, guard: GuardCommand, trial: str, said: str
) -> None:
    guard("show", trial).refuses(said)


def test_a_case_that_is_gone_or_broken_still_shows_its_trials(
    ran: ScratchRepo, guard: GuardCommand
) -> None:
    ran.write({"evals/one.md": "---\nid: one\nnonsense\n"})
    outcome = guard("show", "one#1").ends_in(0).says("said\n  hello")
    assert "evals/one.md:1" in outcome.err
    ran.write({"evals/one.md": None})
    guard("show", "one#1").ends_in(0).says("said\n  hello", "(the case is not there any more)")
    ran.write({"guard.yaml": "version: 1\nagents: [\n"})
    guard("show", "one#1").ends_in(0).says("said\n  hello")


def test_without_a_run_there_is_nothing_to_show(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case()})
    guard("show", "one").refuses("no trial of one is kept", "guard run one")


def test_a_run_that_a_proof_answered_shows_the_trials_of_the_proof(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case("cat rules.md", {"reply_contains": ["ask"]})})
    guard("prove", "one").ends_in(3)
    repo.write({"agent/rules.md": "ask\n"})
    guard("prove", "one").ends_in(0)
    guard("run", "one").ends_in(0).says("answered by a receipt of")
    guard("show", "one#1").ends_in(0).says("✓ one#1 PASS")
    guard("show", "one#before-1").ends_in(0).says("✗ one#before-1 FAIL")
    guard("show", "one#after-1").ends_in(0).says("✓ one#after-1 PASS")


def test_the_later_of_a_run_and_a_proof_is_shown(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case("cat rules.md", {"reply_contains": ["ask"]})})
    guard("run", "--no-cache").ends_in(1)
    repo.write({"agent/rules.md": "ask\n"})
    guard("prove", "one", "--no-record").ends_in(0)
    guard("show", "one").ends_in(0).says("✓ one#1 PASS").says_not("✗ one#1")
    repo.write({"agent/rules.md": "guess\n"})
    guard("run", "--no-cache").ends_in(1)
    guard("show", "one").ends_in(0).says("✗ one#1 FAIL").says_not("✓ one#1")


def test_what_is_missing_is_had_by_the_command_that_is_named(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case()})
    guard("show", "one#before-1").refuses("no trial of one#before-1", "guard prove one")
    guard("show", "one#after-1").refuses("no trial of one#after-1", "guard prove one")
    guard("show", "one#base-1").refuses("no trial of one#base-1", "guard ci\n")
    guard("show", "other").refuses("no trial of other", "guard status")
