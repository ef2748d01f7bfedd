"""A case that states nothing fails a check, and is UNGRADED wherever it is run."""

from __future__ import annotations

import json

from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, clerk, config

RULE = "case-without-expectation"
EMPTY = {
    "examples": [{"id": "a", "inputs": {"utterance": "echo hello"}, "metadata": {"trials": 1}}]
}
BOTH = clerk(cases=["evals/*.md", "evals/*.json"])


def test_an_example_and_a_case_that_state_none(repo: ScratchRepo, guard: GuardCommand) -> None:
    dataset = {"evals/books.json": json.dumps(EMPTY, indent=1)}
    repo.write({**config(BOTH), **dataset, **case("echo hello", {}, trials=1)})
    said = guard("check").ends_in(1)
    said.says(f"{RULE}: evals/books.json:4: a states nothing it expects, so nothing can fail it")
    said.says(f"{RULE}: evals/one.md:2: one states nothing")
    assert guard.verdicts(ends_in=3) == {"a": "UNGRADED", "one": "UNGRADED"}


def test_what_the_agent_always_expects_will_do(repo: ScratchRepo, guard: GuardCommand) -> None:
    always = {**BOTH["clerk"], "always": {"reply_contains": ["hello"]}}
    dataset = {"evals/books.json": json.dumps(EMPTY)}
    repo.write({**config({"clerk": always}), **dataset})
    guard("check").ends_in(0).says_not(RULE)
    assert guard.verdicts() == {"a": "PASS"}


def test_with_a_base_only_what_is_changed_counts(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: all", {**config(BOTH), **case("echo hello", {}, trials=1)})
    guard("check", "--base", "HEAD").ends_in(0).says_not(RULE)
    repo.commit("test: more", {"evals/books.json": json.dumps(EMPTY)})
    said = (
        guard("check", "--base", "HEAD~").ends_in(1).says(f"{RULE}: evals/books.json:1: a states")
    )
    said.says_not("one states")
