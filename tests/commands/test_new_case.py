"""``guard new-case``: a case that loads as it is, in the right place, never over another."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.cases.markdown import parse
from guard.commands.new_case import case_path, case_text
from guard.errors import UsageError
from guard.model import Agent
from tests.commands.calling import Outcome, call_guard, start_guard
from tests.conftest import ScratchRepo

CONFIG = """\
version: 1
agents:
  echo ü:
    paths: [echo.py]
    target: command
    options: {argv: [python3, echo.py]}
    cases: [my evals/*.md]
  other:
    paths: [other/**]
    target: command
    options: {argv: ["true"]}
"""


def new_case(repo: ScratchRepo, *arguments: str) -> Outcome:
    repo.write({"guard.yaml": CONFIG, "echo.py": "print(1)\n"})
    return call_guard(repo.root, "new-case", *arguments)


def test_it_is_written_and_runs(repo: ScratchRepo) -> None:
    outcome = new_case(repo, "ü-1", "--agent", "echo ü", "--utterance", 'say "400": # yes')
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("wrote my evals/ü-1.md")
    assert outcome.out.splitlines()[-1].endswith("prove ü-1")
    (fields,) = parse("x.md", (repo.root / "my evals/ü-1.md").read_text(encoding="utf-8"))
    assert fields["utterance"] == 'say "400": # yes'
    assert fields["expected"] == {"no_changes": True}
    assert "Why" not in fields["body"]
    assert call_guard(repo.root, "run", "ü-1").code == 0


def test_without_an_utterance_none_is_made_up(repo: ScratchRepo) -> None:
    outcome = new_case(repo, "x", "--agent", "echo ü")
    assert outcome.code == 0
    assert "add `utterance:`" in outcome.out
    (fields,) = parse("x.md", (repo.root / "my evals/x.md").read_text(encoding="utf-8"))
    assert "utterance" not in fields


def test_it_overwrites_nothing(repo: ScratchRepo) -> None:
    repo.write({"my evals/x.md": "---\nid: y\n---\nmine\n"})
    outcome = new_case(repo, "x", "--agent", "echo ü")
    assert outcome.code == 2
    assert "my evals/x.md is there already" in outcome.err
    assert (repo.root / "my evals/x.md").read_text().endswith("mine\n")


def test_an_id_that_is_taken(repo: ScratchRepo) -> None:
    repo.write({"my evals/elsewhere.md": "---\nid: x\n---\n"})
    outcome = new_case(repo, "x", "--agent", "echo ü")
    assert outcome.code == 2
    assert "my evals/elsewhere.md" in outcome.err
    assert not (repo.root / "my evals/x.md").exists()


@pytest.mark.parametrize("name", ["a b", "a#b", "a:b", "a*", "", "a,b"])
def test_an_id_that_is_none(repo: ScratchRepo, name: str) -> None:
    outcome = new_case(repo, name, "--agent", "echo ü")
    assert outcome.code == 2
    assert not (repo.root / "my evals").exists()


def test_an_agent_that_there_is_not(repo: ScratchRepo) -> None:
    outcome = new_case(repo, "x", "--agent", "ehco ü")
    assert outcome.code == 2
    assert "did you mean `echo ü`?" in outcome.err


def test_an_agent_without_a_place_for_cases(repo: ScratchRepo) -> None:
    outcome = new_case(repo, "x", "--agent", "other")
    assert outcome.code == 2
    assert "agent other: no `cases` glob takes a new Markdown file" in outcome.err


def test_an_ignored_file_is_said(repo: ScratchRepo) -> None:
    repo.write({".gitignore": "my evals/\n"})
    outcome = new_case(repo, "x", "--agent", "echo ü")
    assert outcome.code == 0
    assert "! .gitignore:1 ignores it: git add --force 'my evals/x.md'" in outcome.out


def test_a_place_that_cannot_be_written(repo: ScratchRepo) -> None:
    repo.write({"my evals": "a file, not a folder\n"})
    outcome = new_case(repo, "x", "--agent", "echo ü")
    assert outcome.code == 2
    assert "can't be written" in outcome.err


def test_without_a_guard_yaml_a_repository_or_git(repo: ScratchRepo, tmp_path: Path) -> None:
    arguments = ("new-case", "x", "--agent", "a")
    assert "no guard.yaml" in call_guard(repo.root, *arguments).err
    outside = tmp_path / "outside"
    outside.mkdir()
    assert call_guard(outside, *arguments).code == 2
    assert start_guard(repo, *arguments, env={"PATH": "/nonexistent"}).code == 2


def test_the_agent_must_be_named(repo: ScratchRepo) -> None:
    assert new_case(repo, "x").code == 2


@pytest.mark.parametrize(
    ("globs", "path"),
    [
        (("evals/*.md",), "evals/x.md"),
        (("evals/**",), "evals/x.md"),
        (("evals/**/*.md",), "evals/x.md"),
        (("evals",), "evals/x.md"),
        (("*.md",), "x.md"),
        (("evals/case-*.md",), "evals/case-x.md"),
        (("evals/*.case.md",), "evals/x.case.md"),
        (("evals/*.json", "cases/*.markdown"), "cases/x.markdown"),
        (("evals/one.md", "more/*.md"), "more/x.md"),
        (("skills/[[]a]/evals/*.md",), "skills/[a]/evals/x.md"),
        (("plugins/*/evals/*.md", "evals/*.md"), "evals/x.md"),
    ],
)
def test_the_place_of_a_case(globs: tuple[str, ...], path: str) -> None:
    assert case_path(Agent("a", cases=globs), "x") == path


def test_names_that_a_file_cannot_have() -> None:
    agent = Agent("a", cases=("evals/*.md",))
    assert case_path(agent, "group/x") == "evals/group-x.md"
    assert case_path(agent, "README") == "evals/case-README.md"
    with pytest.raises(UsageError):
        case_path(Agent("a", cases=("evals/x.json",)), "x")


@pytest.mark.parametrize("text", ["plain", "a: b", "#", "---", "'\"\\", "ü\n\nx\t", "{a}"])
def test_any_utterance_is_read_as_itself(text: str) -> None:
    (fields,) = parse("x.md", case_text("x", "a, b", text))
    assert (fields["utterance"], fields["agent"]) == (text, "a, b")


@pytest.mark.parametrize(
    "words", [("ID",), ("taxi", "--utterance", "WHAT WAS SAID")], ids=["name", "utterance"]
)
def test_what_a_refusal_prints_to_be_replaced_is_refused(
    words: tuple[str, ...], repo: ScratchRepo
) -> None:
    repo.commit("start", {"guard.yaml": CONFIG})
    outcome = call_guard(repo.root, "new-case", *words, "--agent", "other")
    assert outcome.code == 2
    assert "stands for" in outcome.err
