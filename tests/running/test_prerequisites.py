"""Conditions on the machine: each kind there and missing; a missing one makes a case SKIP."""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from guard.errors import PluginError, UsageError
from guard.model import Agent, Case
from guard.plugin import Prerequisite
from guard.running.prerequisites import agent_python, find_missing
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, cases, clerk, config

CLERK = Agent("clerk")


@pytest.fixture
def service() -> Iterator[int]:
    """The port of something that listens on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def closed() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def missing(
    *wanted: str,
    root: Path | str = "",
    agent: Agent = CLERK,
    offered: Mapping[str, Prerequisite] = {},
) -> str | None:
    one = Case("one", "clerk", "evals/one.md", prerequisites=wanted)
    return find_missing(agent, one, str(root), offered)


@pytest.mark.parametrize(
    ("there", "absent", "said"),
    [
        ("program:sh", "program:no-such-program", "the program no-such-program is not on PATH"),
        ("program:/bin/sh", "program:/bin/no-such", "/bin/no-such is not a program"),
        ("program:tool", "program:other", "the program other is not on PATH"),
        ("program:bin/tool", "program:bin/plain", "bin/plain is not a program"),
        ("env:HOME", "env:NOT_SET_HERE", "the environment variable NOT_SET_HERE is not set"),
        ("file:bin/tool", "file:bin/other", "the file bin/other is not there"),
        ("file:bin", "file:bin/tool/x", "the file bin/tool/x is not there"),
        ("python:json", "python:no_such_module", "can't import no_such_module"),
        ("python:json.decoder", "python:json.no_such", "can't import json.no_such"),
    ],
)
def test_each_kind_there_and_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str, absent: str, said: str
) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "bin" / "plain").write_text("x\n")
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    assert missing(there, root=tmp_path) is None
    found = missing(absent, root=tmp_path)
    assert found is not None
    assert said in found
    assert missing(there, absent, root=tmp_path) == found


def test_a_service_there_and_missing(service: int, closed: int) -> None:
    assert missing(f"tcp:127.0.0.1:{service}") is None
    found = missing(f"tcp:127.0.0.1:{closed}")
    assert found is not None
    assert found.startswith(f"nothing answers at 127.0.0.1:{closed}")


@pytest.mark.parametrize("address", ["127.0.0.1:99999", "127.0.0.1:0", ".:80", f"{'x' * 80}.y:80"])
def test_an_address_that_is_none_is_missing_and_no_bug(address: str) -> None:
    assert f"nothing answers at {address}" in (missing(f"tcp:{address}") or "")


def test_the_agents_own_python_is_asked(tmp_path: Path) -> None:
    fake = tmp_path / "venv" / "python"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nfor last; do :; done\n[ "$last" = only_there ]\n')
    fake.chmod(0o755)
    agent = Agent("clerk", python=("venv/python", "-X", "utf8"))
    assert agent_python(agent, str(tmp_path)) == [str(fake), "-X", "utf8"]
    assert missing("python:only_there", root=tmp_path, agent=agent) is None
    assert missing("python:json", root=tmp_path, agent=agent) is not None
    gone = Agent("clerk", python=("venv/gone",))
    assert "can't be started" in (missing("python:json", root=tmp_path, agent=gone) or "")
    assert agent_python(Agent("clerk", python=(sys.executable,)), "/x") == [sys.executable]


def test_a_module_that_is_asked_for_reads_nothing_of_the_hooks_input(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text("import sys\nassert sys.stdin.read() == ''\n")
    read, write = os.pipe()
    before = os.dup(0)
    os.write(write, b"refs of a push\n")
    os.dup2(read, 0)
    try:
        assert missing("python:reader", root=tmp_path) is None
        os.close(write)
        assert os.read(0, 100) == b"refs of a push\n"
    finally:
        os.dup2(before, 0)
        for descriptor in (read, before):
            os.close(descriptor)


def test_a_plugins_own_is_asked_with_its_argument() -> None:
    asked: list[str] = []

    def check(argument: str) -> str | None:
        asked.append(argument)
        return None if argument == "warm:yes" else "the kettle is cold"

    offered = {"kettle": Prerequisite("kettle", check)}
    assert missing("kettle:warm:yes", offered=offered) is None
    assert missing("kettle:no", offered=offered) == "the kettle is cold"
    assert asked == ["warm:yes", "no"]


def test_a_plugins_own_that_breaks_is_named() -> None:
    def check(argument: str) -> str | None:
        raise KeyError(argument)

    with pytest.raises(PluginError, match="prerequisite kettle:hot raised KeyError: 'hot'"):
        missing("kettle:hot", offered={"kettle": Prerequisite("kettle", check)})


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="'programme:sh' is not known; did you mean `program`"):
        missing("programme:sh")


def test_what_agent_and_target_ask_for_counts_too() -> None:
    one = Case("one", "clerk", "evals/one.md")
    asking = Agent("clerk", prerequisites=("env:NOT_SET_HERE",))
    assert "NOT_SET_HERE" in (find_missing(asking, one, "", {}) or "")
    assert "NOT_SET_HERE" in (find_missing(Agent("clerk"), one, "", {}, ["env:NOT_SET_HERE"]) or "")
    needing = Agent("clerk", env=("NOT_SET_HERE",))
    assert "NOT_SET_HERE" in (find_missing(needing, one, "", {}) or "")
    assert find_missing(Agent("clerk"), one, "", {}) is None


@pytest.mark.parametrize(
    "wanted",
    [
        "program:no-such-program",
        "env:NOT_SET_HERE",
        "file:no/such",
        "python:no_such_module",
        "tcp:127.0.0.1:99999",
    ],
)
def test_a_missing_one_makes_the_case_skip(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path, wanted: str
) -> None:
    log = tmp_path / "log"
    files = case(f"touch {log}; echo hello", trials=1, prerequisites=[wanted])
    repo.commit("feat: clerk", {**config(), **files})
    outcome = guard("run").ends_in(0).says("? one SKIP: ", "not established: one (SKIP)")
    outcome.says("nothing was tested: 0 of 1 case ran")
    guard("run", "--strict").ends_in(3)
    assert not log.exists()


@pytest.mark.parametrize(
    ("settings", "stated", "place"),
    [
        ({"prerequisites": ["progam:x"]}, {}, "guard.yaml:"),
        ({}, {"prerequisites": ["progam:x"]}, "evals/one.md:"),
    ],
)
def test_an_unknown_kind_is_named_where_it_stands(
    repo: ScratchRepo, guard: GuardCommand, settings: Any, stated: Any, place: str
) -> None:
    repo.commit("feat: clerk", {**config(clerk(**settings)), **case("echo hello", **stated)})
    said = guard("run").ends_in(2).err
    assert said.startswith(f"guard: {place}")
    assert "prerequisites: 'progam:x' is not known; did you mean `program`?" in said


def test_skip_of_one_case_leaves_the_others(repo: ScratchRepo, guard: GuardCommand) -> None:
    skipped: dict[str, Any] = {"prerequisites": ["env:NOT_SET_HERE"]}
    files = {**cases({"good": "echo hello"}, trials=1), **case(id="skipped", **skipped)}
    repo.commit("feat: clerk", {**config(), **files})
    assert guard.verdicts() == {"good": "PASS", "skipped": "SKIP"}
    env = {"NOT_SET_HERE": "now it is"}
    assert guard.verdicts("--trials", "1", env=env) == {"good": "PASS", "skipped": "PASS"}


@pytest.mark.parametrize("value", [None, ""])
def test_a_variable_that_trials_get_and_that_is_not_set_makes_skip(
    repo: ScratchRepo, guard: GuardCommand, value: str | None
) -> None:
    repo.commit("feat: clerk", {**config(clerk(env=["TEA_KEY"])), **case(trials=1)})
    env = {} if value is None else {"TEA_KEY": value}
    assert guard.verdicts(env=env) == {"one": "SKIP"}
    assert guard.verdicts("--strict", ends_in=3, env=env) == {"one": "SKIP"}
    assert guard.verdicts(env={"TEA_KEY": "x"}) == {"one": "PASS"}
