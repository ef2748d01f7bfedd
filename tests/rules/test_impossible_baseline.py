"""A baseline that can't apply is a broken rule; one that can is none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, clerk, config

CHECKS = """\
from guard.plugin import evaluator


@evaluator(reads=("tone",), writes=("tone", "bound"), never_excuse=("bound",))
def declared(observation, expected):
    calm = expected["tone"] in observation.reply
    return [{"key": "tone", "score": calm}, {"key": "bound", "score": 1}]


def plain(observation, expected):
    return {"key": "tone", "score": expected["tone"] in observation.reply}
"""
RULE = "impossible-baseline"
LOUD = "echo loud"


def stated(
    *groups: dict[str, Any], function: str = "declared", **expected: Any
) -> dict[str, str | bytes | None]:
    agents = clerk(evaluators=[f"evals/checks.py:{function}"])
    wanted = {"tone": "calm", **expected}
    keys = {"expected_baseline": list(groups), "trials": 1}
    return {**config(agents), "evals/checks.py": CHECKS, **case(LOUD, wanted, **keys)}


def group(*keys: str, **more: Any) -> dict[str, Any]:
    return {"failing_keys": list(keys), **more}


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("tne", "excuses `tne`, which nothing scores in this case; did you mean `tone`?"),
        ("no_changes", "excuses `no_changes`, which nothing scores in this case"),
        ("timeout", "excuses `timeout`, which is never excused"),
        ("orphans", "excuses `orphans`, which is never excused"),
        ("bound", "excuses `bound`, which is never excused, by evaluator evals/checks.py:declared"),
    ],
)
@pytest.mark.parametrize("intermittent", [True, False])
def test_a_key_that_no_baseline_excuses(
    repo: ScratchRepo, guard: GuardCommand, key: str, said: str, intermittent: bool
) -> None:
    repo.write(stated(group("tone", key, intermittent=intermittent)))
    guard("check").ends_in(1).says(f"✗ {RULE}: evals/one.md:5: the baseline of one {said}")
    guard("run").ends_in(1).says("one XFAIL", RULE)


def test_a_key_that_fails_is_excused(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write(stated(group("tone")))
    guard("check").ends_in(0).says_not(RULE)
    guard("run").ends_in(0).says("one XFAIL").says_not(RULE)


@pytest.mark.parametrize(
    ("options", "possible", "impossible"),
    [
        ({}, "fields", "fields_floor"),
        ({"min_accuracy": 0.5}, "fields_floor", ""),
        ({"ratio_gates": False}, "fields_floor", "fields"),
    ],
)
def test_the_two_keys_of_fields(
    repo: ScratchRepo, guard: GuardCommand, options: dict[str, Any], possible: str, impossible: str
) -> None:
    repo.write(stated(group(possible), fields={"a": 1}, **options))
    guard("check").ends_in(0)
    repo.write(stated(group(possible), fields={"a": 1, **options}))
    guard("check").ends_in(0)
    if impossible:
        repo.write(stated(group(impossible), fields={"a": 1}, **options))
        guard("check").ends_in(1).says(f"excuses `{impossible}`, which nothing scores")


def test_of_plain_functions_it_is_known_once_they_have_run(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.write(stated(group("tne"), function="plain"))
    guard("check").ends_in(0).says_not(RULE)
    said = "the baseline of one excuses `tne`, which nothing scored when it was run"
    guard("run").ends_in(1).says("one FAIL", f"{RULE}: evals/one.md:5: {said}")
    guard("check").ends_in(1).says(said)
    # The other text is another question.
    repo.write(stated(group("tone"), function="plain"))
    guard("check").ends_in(0)
    guard("run").ends_in(0).says("one XFAIL")
    repo.write({"evals/one.md": None, **case("echo calm", {"tone": "calm"})})
    guard("check").ends_in(0)


def test_what_fails_now_and_then_may_be_scored_now_and_then(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    once = CHECKS.replace("return {", "return None if 'calm' in observation.reply else {")
    groups = group("slip", intermittent=True), group("tone")
    repo.write({**stated(*groups, function="plain"), "evals/checks.py": once})
    guard("run").ends_in(0).says("one XFAIL").says_not(RULE)


def test_a_condition_that_never_held_shows_nothing(repo: ScratchRepo, guard: GuardCommand) -> None:
    output = "echo '{\"n\": 1}' # loud"
    keys = {"expected_baseline": [group("tne", only_when={"n": 0})], "trials": 1}
    files = stated(function="plain")
    repo.write({**files, **case(output, {"tone": "calm"}, **keys)})
    guard("run").says_not(RULE)
