"""What a change of guard.yaml no longer guards, each in both directions."""

from __future__ import annotations

import pytest

from tests.guarded_repo import CASE, CASE_TEXT, GUARD_YAML, RECORDS
from tests.judged_repo import Bench

AGENT = """\
version: 1
agents:
  expense:
    paths: [skills/expense/**, skills/shared.md]
    target: command
    options: {argv: [cat, SKILL.md]}
    cases: [evals/cases/*.md, evals/more/**]
    always: {no_permission_denials: true}
    prerequisites: [program:git]
    evaluators: [evals/checks.py:exact]
    claims: [asks-first]
    seams: [parsing]
    depends: [evals/books.py]
    max_age: 2h
    timeout: 100
"""
REST = """\
plugins: [evals/guard_plugin.py]
defaults: {gate: firm, prerequisites: [program:sh]}
receipts: {max_age: 12h}
served: [langgraph.json]
fix: {types: [fix, hotfix], patterns: [mend], trailers: [Fixes], cosmetic: refuse}
hooks: {pre-commit: {max_seconds: 60}, pre-push: {max_cost_usd: 2}}
"""
OTHER = "  travel: {paths: [skills/travel/**], target: command, options: {argv: [a]}}\n"
WHOLE = AGENT + OTHER + REST
SERVED = {"langgraph.json": '{"graphs": {}}'}

NARROWER = {
    "an agent": AGENT + REST,
    "a path": WHOLE.replace(", skills/shared.md", ""),
    "a narrower glob": WHOLE.replace("skills/expense/**", "skills/expense/*"),
    "a file instead of a folder": WHOLE.replace("skills/expense/**", "skills/expense/SKILL.md"),
    "a list of some paths": WHOLE.replace(
        "skills/expense/**",
        "skills/expense/SKILL.md, skills/expense/x, skills/expense/x/y, skills/expense/a/b/c.md",
    ),
    "a class of letters": WHOLE.replace(
        "skills/expense/**", "'skills/expense/[xaS]**', 'skills/expense/[xaS]/**'"
    ),
    "cases of some letters": WHOLE.replace("evals/cases/*.md", "'evals/cases/[bcex]*.md'"),
    "older receipts of one agent": WHOLE.replace("max_age: 2h", "max_age: 9999d"),
    "an agent's own age of receipts": WHOLE.replace("    max_age: 2h\n", ""),
    "what its checks need": WHOLE.replace("    depends: [evals/books.py]\n", ""),
    "its later text, called a dependency": WHOLE.replace(
        "[evals/books.py]", "[evals/books.py, skills/expense/later/**]"
    ),
    "its cases": WHOLE.replace(", evals/more/**", ""),
    "its own text, called a dependency": WHOLE.replace(
        "[evals/books.py]", "[evals/books.py, skills/expense/SKILL.md]"
    ),
    "what is served": WHOLE.replace("served: [langgraph.json]\n", ""),
    "a type of fix": WHOLE.replace("[fix, hotfix]", "[fix]"),
    "a pattern": WHOLE.replace("[mend]", "[]"),
    "a trailer": WHOLE.replace("trailers: [Fixes]", "trailers: []"),
    "closing keywords": WHOLE.replace("{types", "{closing_keywords: false, types"),
    "the unit": WHOLE.replace("{types", "{unit: range, types"),
    "cosmetic": WHOLE.replace("cosmetic: refuse", "cosmetic: allow"),
    "enforcement": WHOLE + "enforce: {fix-needs-case: {warn: true, until: 2031-12-31}}\n",
    "a budget": WHOLE.replace("max_seconds: 60", "max_seconds: 30"),
    "what a push owes": WHOLE.replace("{max_cost_usd: 2}", "{max_cost_usd: 2, owed: ci}"),
    "what always holds": WHOLE.replace("    always: {no_permission_denials: true}\n", ""),
    "a prerequisite more": WHOLE.replace("[program:git]", "[program:git, program:sh]"),
    "a time-out": WHOLE.replace("timeout: 100", "timeout: 200"),
    "a weaker gate": WHOLE.replace("timeout: 100", "gate: quick\n    timeout: 100"),
    "the default gate": WHOLE.replace("gate: firm, ", ""),
    "the default time-out": WHOLE.replace("gate: firm", "gate: firm, timeout: 900").replace(
        "    timeout: 100\n", ""
    ),
    "a default precondition": WHOLE.replace(
        "gate: firm", "gate: firm, preconditions: [{file_exists: x}]"
    ),
    "a plugin": WHOLE.replace("plugins: [evals/guard_plugin.py]\n", ""),
    "an evaluator": WHOLE.replace("    evaluators: [evals/checks.py:exact]\n", ""),
    "a claim": WHOLE.replace("[asks-first]", "[]"),
    "a seam": WHOLE.replace("    seams: [parsing]\n", ""),
    "two trials instead of a gate": WHOLE.replace(
        "    timeout: 100", "    deterministic: true\n    timeout: 100"
    ),
    "older receipts": WHOLE.replace("max_age: 12h", "max_age: 1d"),
    "receipts of anyone": WHOLE.replace("max_age: 12h", "max_age: 12h, accept: [ci, local]"),
}


#: Differences that guard no less.
NO_MATTER = {
    "the order of what is listed": WHOLE.replace(
        "[skills/expense/**, skills/shared.md]", "[skills/shared.md, skills/expense/**]"
    ).replace("[fix, hotfix]", "[hotfix, fix]"),
    "the order of keys": WHOLE.replace("version: 1\n", "") + "version: 1\n",
    "block style": WHOLE.replace("served: [langgraph.json]", "served:\n  - langgraph.json"),
    "comments and line ends": f"# guarded\n{WHOLE}".replace("\n", "\r\n"),
    "an anchor": WHOLE.replace("[program:git]", "&needed [program:git]"),
    "defaults by name": WHOLE + "enforce: {fix-needs-case: block}\n",
    "a glob in two": WHOLE.replace("skills/expense/**", "skills/expense/*, skills/expense/*/**"),
    "a folder by its name": WHOLE.replace("skills/expense/**", "skills/expense"),
    "a file by its folder": WHOLE.replace("skills/shared.md", "skills/*.md"),
    "newer receipts of one agent": WHOLE.replace("max_age: 2h", "max_age: 1h"),
    "a dependency that lies elsewhere": WHOLE.replace("evals/books.py", "checks/books.py"),
    "a dependency more": WHOLE.replace("[evals/books.py]", "[evals/books.py, 'checks/*']"),
    "a wider glob": WHOLE.replace("skills/expense/**, skills/shared.md", "skills/**"),
    "what else is recorded of an agent": WHOLE.replace(
        "timeout: 100", "timeout: 100\n    paid: true"
    ),
    "a plugin that lies elsewhere": WHOLE.replace("evals/guard_plugin.py", "guard_plugin.py"),
    "an evaluator that lies elsewhere": WHOLE.replace("evals/checks.py", "checks/all.py"),
}


def begin(retained: Bench) -> None:
    """Commit a guard.yaml with one of everything."""
    plugin = {"evals/guard_plugin.py": "", "guard_plugin.py": "", **SERVED}
    files = {"guard.yaml": WHOLE, "skills/shared.md": "s\n", "skills/travel/x": "x\n", **plugin}
    files["evals/cases/travel.md"] = CASE_TEXT.replace("id: eur-taxi", "id: t\nagent: travel")
    files["evals/books.py"] = "\n"
    files["guard.yaml"] = with_cases(WHOLE)
    files[CASE] = CASE_TEXT.replace("id:", "agent: expense\nid:")
    retained.repo.commit("chore: all", files)


def with_cases(config: str) -> str:
    """Give the other agent its cases."""
    return config.replace("{argv: [a]}}", "{argv: [a]}, cases: [evals/cases/*.md]}")


@pytest.mark.parametrize("what", NO_MATTER)
def test_guard_yaml_that_says_the_same_needs_none(retained: Bench, what: str) -> None:
    begin(retained)
    if "elsewhere" in what:
        retained.repo.commit("chore: move", {"evals/books.py": None, "checks/books.py": "\n"})
    same = with_cases(NO_MATTER[what])
    assert same != with_cases(WHOLE)
    assert retained.rules({"guard.yaml": same}, "chore: tidy") == []


@pytest.mark.parametrize("what", NARROWER)
def test_guard_yaml_that_guards_less_needs_a_trailer(retained: Bench, what: str) -> None:
    begin(retained)
    narrower = with_cases(NARROWER[what])
    if what == "an agent":
        retained.repo.commit("test: no case", {"evals/cases/travel.md": None})
    found = retained.judge({"guard.yaml": narrower}, "chore: narrow").blocking
    assert [violation.rule for violation in found] == ["case-weakened"], found
    assert found[0].paths == ("guard.yaml",)
    assert found[0].hint == ("Case-Weakened: guard.yaml: REASON",)
    trailer = "chore: narrow\n\nCase-Weakened: guard.yaml: the team decided so"
    assert retained.rules({}, trailer) == []


@pytest.mark.parametrize("what", [w for w in NARROWER if w != "an agent"])
def test_guard_yaml_that_guards_more_needs_none(retained: Bench, what: str) -> None:
    files = {"guard.yaml": NARROWER[what], "skills/shared.md": "s\n", "skills/travel/x": "x\n"}
    files |= {"evals/guard_plugin.py": "", **SERVED}
    retained.repo.commit("chore: narrower", files, "--no-verify")
    assert retained.rules({"guard.yaml": WHOLE}, "chore: widen") == []


def test_a_folder_that_is_named_is_covered_by_its_glob(retained: Bench) -> None:
    plain = GUARD_YAML.replace("skills/expense/**", "skills/expense")
    retained.repo.commit("chore: plain", {"guard.yaml": plain})
    assert retained.rules({"guard.yaml": GUARD_YAML}, "chore: glob") == []
    narrower = GUARD_YAML.replace("expense/**", "expense/*")
    assert retained.rules({"guard.yaml": narrower}, "chore: x") == ["case-weakened"]


def test_another_target_makes_records_pending(retained: Bench) -> None:
    other = GUARD_YAML.replace("[cat, SKILL.md]", "[head, SKILL.md]")
    judgement = retained.judge({"guard.yaml": other}, "chore: target")
    assert judgement.violations == ()
    assert "PENDING" in judgement.notes[0]
    assert "its agent's options" in judgement.notes[0]


def test_a_folder_of_a_pattern_may_go(retained: Bench) -> None:
    each = 'version: 1\nagents:\n  all: {each: "skills/*", target: command, options: {argv: [a]}}\n'
    retained.repo.commit(
        "chore: each", {"guard.yaml": each, "skills/b/SKILL.md": "b\n", RECORDS: None}
    )
    assert retained.rules({"skills/b/SKILL.md": None}, "feat: drop b") == []
    less = each.replace("skills/*", "skills/b*")
    assert retained.rules({"guard.yaml": less}, "chore: less") == ["case-weakened"]
