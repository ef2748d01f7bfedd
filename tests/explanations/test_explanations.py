"""Every word, rule, verdict and expectation key has a text, and its example is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from guard import model
from guard.cases.markdown import parse as parse_case
from guard.config import parse_config
from guard.evaluators import check_expectation, declared_keys
from guard.explanations import Explanation, all_explanations, find_explanations
from guard.messages.message import exemption, parse_message, weakenings
from guard.yamlfile import load_yaml

#: The words, in the order of the guide.
WORDS = (
    "agent",
    "target",
    "case",
    "trial",
    "workspace",
    "observation",
    "evaluator",
    "score",
    "regression",
    "proof",
    "receipt",
    "owed",
    "claim",
    "seam",
)
#: The offline rules.
RULES = (
    "fix-needs-case",
    "fix-needs-record",
    "case-weakened",
    "record-invalid",
    "dead-expectation",
    "impossible-baseline",
    "agent-without-case",
    "unserved-agent",
    "unbound-evaluator",
    "near-miss-header",
    "anti-slop",
    "evidence",
)


def of_kind(kind: str) -> list[Explanation]:
    return [item for item in all_explanations() if item.kind == kind]


def example_of(name: str, kind: str) -> str:
    (found,) = (item for item in find_explanations(name) if item.kind == kind)
    return found.example


def test_every_word_of_the_design_is_explained() -> None:
    names = [item.name for item in of_kind("words")]
    assert tuple(names[: len(WORDS)]) == WORDS


def test_every_rule_is_explained_and_no_other() -> None:
    assert {item.name for item in of_kind("rules")} == {*RULES, *rules_of_the_source()}


def rules_of_the_source() -> set[str]:
    folder = Path(__file__).parents[2] / "guard/rules"
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.py")]
    found = {name for text in texts for name in re.findall(r'^RULE\b.*= "(.+)"$', text, re.M)}
    assert "fix-needs-case" in found
    return found


def test_every_verdict_is_explained_and_no_other() -> None:
    verdicts = {
        value
        for name, value in vars(model).items()
        if name == value and isinstance(value, str) and name.isupper()
    }
    assert {item.name for item in of_kind("verdicts")} == verdicts
    assert "PROVEN" in verdicts


def test_every_expectation_key_is_explained_and_no_other() -> None:
    keys = [item.name for item in of_kind("expectations")]
    assert keys == sorted(keys, key=keys.index)
    assert set(keys) == set(declared_keys())


@pytest.mark.parametrize("item", all_explanations(), ids=lambda item: f"{item.kind}-{item.name}")
def test_each_has_a_sentence_and_an_example_and_fits_a_screen(item: Explanation) -> None:
    assert item.summary.endswith((".", ":")), item.summary
    assert item.example.strip()
    assert all(len(line) <= 104 for line in item.text.splitlines())
    assert len(item.text.splitlines()) <= 20


@pytest.mark.parametrize("item", of_kind("expectations"), ids=lambda item: item.name)
def test_the_example_of_an_expectation_is_accepted(item: Explanation) -> None:
    stated: dict[str, Any] = load_yaml(item.example, "example")
    assert item.name in stated
    assert {check_expectation(key, value) for key, value in stated.items()} == {None}


def test_the_examples_of_words_are_accepted() -> None:
    config = parse_config(f"version: 1\n{example_of('agent', 'words')}\n".encode())
    assert list(config.agents) == ["expense"]
    (case,) = parse_case("x.md", example_of("case", "words"))
    assert case["id"] == "eur-taxi"


@pytest.mark.parametrize("name", ["baseline", "precondition", "counter-example", "gate"])
def test_the_examples_of_parts_of_a_case_are_accepted(name: str) -> None:
    assert parse_case("x.md", f"---\nid: x\n{example_of(name, 'words')}\n---\n")


def test_the_trailers_that_are_taught_have_an_effect() -> None:
    fix = find_explanations("fix-needs-case")[0].text
    exempt = exemption(parse_message(f"fix: x\n\n{fix.strip().splitlines()[-1].strip()}\n"))
    assert exempt is not None
    assert exempt.agents == ("expense",)
    weaker = example_of("case-weakened", "rules")
    assert set(weakenings(parse_message(f"feat: x\n\n{weaker}\n"))) == {"eur-taxi"}


def test_a_name_is_found_whichever_its_case_and_dashes() -> None:
    assert [i.name for i in find_explanations("wrong-reason")] == ["WRONG_REASON"]
    assert {i.name for i in find_explanations("Counter Example")} == {"counter-example"}
    assert [i.name for i in find_explanations("anti-slop/single-trial")] == ["anti-slop"]
    assert [(i.name, i.kind) for i in find_explanations("owed")] == [
        ("owed", "words"),
        ("OWED", "verdicts"),
    ]
    assert find_explanations("no-such-thing") == []


OF_OUTPUTS = """\
live pinned branch capsule fails_on before after kept p p-value isolation base receipt owed
observations quick standard firm strict critical
"""


@pytest.mark.parametrize("word", OF_OUTPUTS.split())
def test_the_words_of_outputs_are_explained(word: str) -> None:
    assert find_explanations(word)
