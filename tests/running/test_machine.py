"""What of the machine voids evidence: variables, the agent's Python, and what is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.model import Agent
from guard.running.machine import machine_facts


def test_values_of_variables_are_kept_as_digests_only(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Agent("clerk", env=("MODE", "NOT_SET_ANYWHERE"))
    monkeypatch.setenv("MODE", "secret-value")
    facts = machine_facts(agent, "/")
    assert "secret-value" not in repr(facts)
    assert "NOT_SET_ANYWHERE" not in facts["variables"]
    monkeypatch.setenv("OTHER", "1")
    assert machine_facts(agent, "/") == facts
    monkeypatch.setenv("MODE", "another")
    assert machine_facts(agent, "/") != facts


@pytest.mark.parametrize("name", ["TZ", "LANG", "LC_TIME"])
def test_how_dates_and_words_are_written(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(name, raising=False)
    before = machine_facts(Agent("clerk"), "/")
    monkeypatch.setenv(name, "C")
    assert machine_facts(Agent("clerk"), "/") != before


def test_the_agent_s_own_environment(tmp_path: Path) -> None:
    packages = tmp_path / ".venv/lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    config = tmp_path / ".venv/pyvenv.cfg"
    config.write_text("home = /usr/bin\nversion = 3.12.1\n")
    (packages / "langgraph-1.0.dist-info").mkdir()
    agent = Agent("clerk", python=(".venv/bin/python",))
    before = machine_facts(agent, str(tmp_path))
    assert before["agent's python"] == ["3.12.1", "langgraph-1.0.dist-info"]
    (packages / "langgraph").mkdir()
    config.write_text("home = /opt/bin\nversion = 3.12.1\n")
    assert machine_facts(agent, str(tmp_path)) == before
    (packages / "langgraph-1.0.dist-info").rename(packages / "langgraph-1.1.dist-info")
    assert machine_facts(agent, str(tmp_path)) != before


@pytest.mark.parametrize("python", ["/nowhere/python", "no-such-python", "python3"])
def test_an_interpreter_without_an_environment(python: str) -> None:
    assert machine_facts(Agent("clerk", python=(python, "-X", "dev")), "/")["agent's python"]
    assert "agent's python" not in machine_facts(Agent("clerk"), "/")
