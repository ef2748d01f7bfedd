from __future__ import annotations

from guard.rules.agent_without_case import without_case
from tests.guarded_repo import BASE, CASE, CASE_TEXT, GUARD_YAML, SKILL
from tests.judged_repo import Bench

TRAVEL = "  travel: {paths: [skills/travel/**], target: command, options: {argv: [a]}}\n"
EACH = """\
version: 1
agents:
  all:
    each: skills/*
    target: command
    options: {argv: [a]}
    cases: ["{dir}/evals/*.md"]
"""


def test_an_agent_added_to_a_guard_yaml_that_was_there(bench: Bench) -> None:
    files = {"guard.yaml": GUARD_YAML + TRAVEL, "skills/travel/SKILL.md": "x\n"}
    (violation,) = bench.judge(files, "feat: travel").blocking
    assert violation.rule == "agent-without-case"
    assert violation.agent == "travel"
    assert violation.hint == ('guard new-case ID --agent travel --utterance "WHAT WAS SAID"',)


def test_an_agent_added_with_its_case(bench: Bench) -> None:
    travel = TRAVEL.replace("[a]}}", "[a]}, cases: [evals/travel/*.md]}")
    files = {"guard.yaml": GUARD_YAML + travel, "evals/travel/a.md": CASE_TEXT}
    assert bench.rules(files, "feat: travel") == []


def test_an_agent_that_never_had_one_is_left_alone(bench: Bench) -> None:
    judgement = bench.judge(
        {SKILL: "other\n", "guard.yaml": GUARD_YAML + "served: []\n"}, "feat: x"
    )
    assert judgement.violations == ()
    assert judgement.notes == ()


def test_a_new_guard_yaml_names_its_agents_without_a_case(opened_bench: Bench) -> None:
    opened_bench.repo.commit("feat: skill", {SKILL: BASE[SKILL]})
    judgement = opened_bench.judge({"guard.yaml": GUARD_YAML}, "chore: guard")
    assert judgement.violations == ()
    assert judgement.notes == (
        "agent expense has no case yet: "
        'guard new-case ID --agent expense --utterance "WHAT WAS SAID"',
    )


def test_a_new_folder_of_a_pattern_is_named(opened_bench: Bench) -> None:
    files = {"guard.yaml": EACH, "skills/a/SKILL.md": "a\n", "skills/a/evals/a.md": CASE_TEXT}
    opened_bench.repo.commit("feat: base", files)
    judgement = opened_bench.judge({"skills/b/SKILL.md": "b\n"}, "feat: b")
    assert judgement.violations == ()
    assert [note.split(":")[0] for note in judgement.notes] == ["agent b has no case yet"]


def test_taking_away_the_last_case(bench: Bench) -> None:
    second = {"evals/cases/two.md": CASE_TEXT.replace("eur-taxi", "two")}
    bench.repo.commit("test: cases", {CASE: CASE_TEXT, **second})
    assert bench.rules({CASE: None}, "test: drop one") == []
    assert bench.rules({"evals/cases/two.md": None}, "test: drop both") == ["agent-without-case"]


def test_moving_the_last_case_is_not_taking_it_away(bench: Bench) -> None:
    bench.repo.commit("test: case", {CASE: CASE_TEXT})
    assert bench.rules({CASE: None, "evals/cases/moved.md": CASE_TEXT}, "test: move") == []


def test_narrowing_its_cases_takes_them_away(bench: Bench) -> None:
    bench.repo.commit("test: case", {CASE: CASE_TEXT})
    narrower = {"guard.yaml": GUARD_YAML.replace("evals/cases/*.md", "evals/other/*.md")}
    assert "agent-without-case" in bench.rules(narrower, "chore: move cases")


def test_a_whole_tree(bench: Bench) -> None:
    assert [violation.agent for violation in without_case(bench.project())] == ["expense"]
    bench.repo.commit("test: case", {CASE: CASE_TEXT})
    assert without_case(bench.project()) == []
