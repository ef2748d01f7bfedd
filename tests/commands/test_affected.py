"""``guard affected`` lists, and runs nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, cases, config


@pytest.fixture
def started(tmp_path: Path) -> Path:
    return tmp_path / "started"


@pytest.fixture
def committed(repo: ScratchRepo, started: Path) -> ScratchRepo:
    scripts = {"one": f"touch {started}", "two": f"touch {started}; true"}
    repo.commit("feat: clerk", {**config(), **cases(scripts, trials=1)})
    return repo


def test_nothing_is_affected_without_a_change(committed: ScratchRepo, guard: GuardCommand) -> None:
    guard("affected").ends_in(0).says("nothing is affected since HEAD")


def test_each_case_is_listed_with_its_reasons_and_none_is_run(
    committed: ScratchRepo, guard: GuardCommand, started: Path
) -> None:
    committed.write({"agent/rules.md": "Be stern.\n", **case("echo ho", id="two")})
    outcome = guard("affected").ends_in(0)
    assert outcome.out == "one  agent\ntwo  case, agent\n"
    assert outcome.err == ""
    assert not started.exists()


def test_as_json(committed: ScratchRepo, guard: GuardCommand) -> None:
    assert json.loads(guard("affected", "--json").ends_in(0).out) == []
    committed.write(case("echo ho", id="two"))
    assert json.loads(guard("affected", "--json").ends_in(0).out) == [
        {"id": "two", "agent": "clerk", "path": "evals/two.md", "affected_by": ["case"]}
    ]


def test_a_base_of_ones_own(committed: ScratchRepo, guard: GuardCommand) -> None:
    committed.commit("feat: stern", {"agent/rules.md": "Be stern.\n"})
    committed.commit("feat: other", {"readme.md": "x\n"})
    assert guard("affected", "HEAD~1").ends_in(0).out == "nothing is affected since HEAD~1\n"
    assert guard("affected", "HEAD~2").ends_in(0).out == "one  agent\ntwo  agent\n"
    guard("affected", "nosuch").refuses("nosuch names no commit or tree here")


def test_at_names_the_tree(committed: ScratchRepo, guard: GuardCommand) -> None:
    committed.write({"agent/rules.md": "Be stern.\n"})
    assert "nothing" in guard("affected", "--at", "index").ends_in(0).out
    committed.git("add", "--all")
    committed.write({"agent/rules.md": "Be kind.\n"})
    assert "nothing" in guard("affected").ends_in(0).out
    assert "one  agent" in guard("affected", "--at", "index").ends_in(0).out


def test_a_last_verdict_is_a_reason_until_it_holds(
    committed: ScratchRepo, guard: GuardCommand
) -> None:
    committed.commit("feat: bad case", case("echo no", id="two", trials=1))
    guard("run", "two").ends_in(1)
    assert guard("affected").ends_in(0).out == "two  last-verdict\n"
    committed.commit("feat: good case", case("echo hello", id="two", trials=1))
    guard("run", "two").ends_in(0)
    assert guard("affected").ends_in(0).out == "nothing is affected since HEAD\n"


def test_before_the_first_commit_and_without_a_configuration(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    guard("affected").refuses("there is no guard.yaml here", "guard init")
    repo.write({**config(), **case()})
    assert guard("affected").ends_in(0).out == "one  case, agent, config\n"
