"""An expectation that nothing reads is a broken rule; one that something reads is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, clerk, config

CHECKS = """\
from guard.plugin import evaluator


@evaluator(reads=("tone", "manner"), writes=("tone",))
def declared(observation, expected):
    if "bad" in observation.reply:
        return False
    return expected["tone"] in observation.reply


def plain(observation, expected):
    return {"key": "tone", "score": expected["tone"] in observation.reply}


def everything(observation, expected):
    return all(value in observation.reply for value in dict(expected).values())


def silent(observation, expected):
    return None
"""
RULE = "dead-expectation"
Files = dict[str, str | bytes | None]


def checked(*functions: str, **changes: Any) -> Files:
    named = [f"evals/checks.py:{name}" for name in functions]
    agents = clerk(cases=["evals/*.json", "evals/*.md"], evaluators=named, **changes)
    return {**config(agents), "evals/checks.py": CHECKS}


def books(*outputs: dict[str, Any], script: str = "echo calm") -> Files:
    examples = [
        {
            "id": "abcdef"[number],
            "inputs": {"utterance": script},
            "outputs": stated,
            "metadata": {"trials": 1},
        }
        for number, stated in enumerate(outputs)
    ]
    return {"evals/books.json": json.dumps({"examples": examples}, indent=1)}


def rules(guard: GuardCommand, *argv: str, ends_in: int) -> list[dict[str, Any]]:
    """Return the rules that `guard run` or `guard check` names."""
    found = json.loads(guard(*argv, "--json", "-").ends_in(ends_in).out)["rules"]
    return [rule for rule in found if rule["rule"] != "unbound-evaluator"]


def test_a_key_of_a_dataset_that_nobody_declares(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**checked("declared"), **books({"tone": "calm"}, {"tone": "calm", "tne": "x"})})
    (found,) = rules(guard, "check", ends_in=1)
    assert (found["rule"], found["agent"]) == (RULE, "clerk")
    assert found["message"] == (
        "evals/books.json:22: no evaluator of agent clerk reads `tne`, which b states; "
        "did you mean `tone`?"
    )
    assert [rule["message"] for rule in rules(guard, "run", ends_in=1)] == [found["message"]]
    repo.write(books({"tone": "calm"}, {"tone": "calm"}))
    assert rules(guard, "check", ends_in=0) == []
    assert rules(guard, "run", ends_in=0) == []


def test_one_key_of_many_examples_is_named_once(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**checked("declared"), **books(*[{"tone": "calm", "zzz": 1}] * 5)})
    (found,) = rules(guard, "check", ends_in=1)
    assert "reads `zzz`, which a, b, c and 2 more state" in found["message"]


def test_in_a_native_case_it_is_an_error(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**checked("declared"), **case("echo calm", {"tone": "calm", "tne": "x"})})
    for command in ("check", "run"):
        guard(command).refuses("evals/one.md:4: expected.tne: ", "did you mean `tone`?")


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("function", "stated"),
    [
        ("plain", {"tone": "calm", "tne": "calm"}),
        ("declared", {"tone": "calm", "manner": "calm"}),
    ],
)
def test_what_nothing_reads_shows_once_it_has_run(
    repo: ScratchRepo, guard: GuardCommand, native: bool, function: str, stated: dict[str, Any]
) -> None:
    dead = [*stated][1]
    files: Files = {**case("echo calm", stated, id="a", trials=1)} if native else books(stated)
    repo.write({**checked(function), **files})
    assert rules(guard, "check", ends_in=0) == []
    (found,) = rules(guard, "run", ends_in=1)
    assert found["rule"] == RULE
    assert f"no evaluator of agent clerk read `{dead}`, which a states" in found["message"]
    # What was seen is known without a run, whatever else of the repository changes ...
    repo.write({"agent/rules.md": "Be kinder.\n"})
    assert rules(guard, "check", ends_in=1) == [found]
    # ... until the code that grades it does.
    repo.write({"evals/checks.py": CHECKS.replace('expected["tone"]', f'expected["{dead}"]')})
    assert rules(guard, "check", ends_in=0) == []


def test_a_pass_that_rests_on_an_unread_key_is_no_pass(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    always = (
        CHECKS + "\n\ndef always(observation, expected):\n    return {'key': 'tne', 'score': 1}\n"
    )
    repo.write({**checked("always"), "evals/checks.py": always, **books({"tne": "x"})})
    found = guard.report(ends_in=1)
    assert [one["verdict"] for one in found["cases"]] == ["PASS"]
    assert [rule["rule"] for rule in found["rules"]] == [RULE]
    # A receipt answers now, and hides nothing.
    again = guard.report(ends_in=1)
    assert again["cases"][0]["runs"] == []
    assert again["rules"] == found["rules"]


def test_a_plain_function_needs_no_value_to_read(repo: ScratchRepo, guard: GuardCommand) -> None:
    asks = CHECKS + "\n\ndef asks(observation, expected):\n    return 'calm' in observation.reply\n"
    repo.write({**checked("asks"), "evals/checks.py": asks, **books({"asks": True}, {"asks": 1})})
    assert rules(guard, "run", ends_in=0) == []
    repo.write(books({"asks": "calm"}))
    (found,) = rules(guard, "run", ends_in=1)
    assert "read `asks`" in found["message"]


def test_what_a_function_reads_is_not_dead(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**checked("everything"), **books({"tone": "calm", "tne": "calm"})})
    assert rules(guard, "run", ends_in=0) == []
    assert rules(guard, "check", ends_in=0) == []


def test_a_trial_that_fails_shows_nothing(repo: ScratchRepo, guard: GuardCommand) -> None:
    stated = {"tone": "calm", "manner": "calm"}
    repo.write({**checked("declared"), **books(stated, script="echo bad")})
    assert rules(guard, "run", ends_in=1) == []
    assert rules(guard, "check", ends_in=0) == []


def test_what_no_score_answers_is_ungraded_beside_what_passes(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    stated = {"tone": "calm", "reply_contains": ["calm"]}
    repo.write({**checked("silent"), **books(stated)})
    report = guard.report(ends_in=1)
    (one,) = report["cases"]
    assert one["verdict"] == "UNGRADED"
    assert one["reason"].startswith("no score for what is expected: tone")
    assert [rule["rule"] for rule in report["rules"]] == [RULE]


def test_a_key_of_always_is_named_where_it_stands(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**checked("plain", always={"tne": "x"}), **books({"tone": "calm"})})
    (found,) = rules(guard, "run", ends_in=1)
    assert found["message"].startswith("guard.yaml: no evaluator of agent clerk read `tne`")
    assert found["paths"] == ["guard.yaml"]


def test_an_option_without_what_it_belongs_to(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(), **case("echo hello", {"min_accuracy": 0.5}, trials=1)})
    (found,) = rules(guard, "run", ends_in=1)
    assert "read `min_accuracy`, which one states" in found["message"]


def test_an_evaluator_of_datasets_that_has_nothing_to_do(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.write({**checked("declared"), **books({"reply_contains": ["calm"]})})
    said = guard("check").ends_in(1).says("unbound-evaluator", "evals/checks.py:declared reads")
    said.says_not(RULE)
    repo.write(books({"tone": "calm"}))
    guard("check").ends_in(0).says_not("unbound-evaluator")
