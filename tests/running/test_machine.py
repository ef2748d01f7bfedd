"""What of the machine voids evidence: variables, the agent's Python, and what is installed."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from guard.model import Agent
from guard.running import installed
from guard.running.machine import machine_facts
from guard.store import Store


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


INFO = ".venv/lib/python3.12/site-packages/tool-1.0.dist-info"
LISTED = """\
../../../bin/tool,sha256=a,230
__pycache__/tool.cpython-312.pyc,,
tool-1.0.dist-info/INSTALLER,sha256=p,4
tool-1.0.dist-info/RECORD,,
tool-1.0.dist-info/entry_points.txt,sha256=e,40
tool.py,sha256=t,9
"""
EDITABLE = json.dumps({"dir_info": {"editable": True}, "url": "file:///srv/tool"})


def environment(root: Path, record: str = LISTED, origin: str = "") -> str:
    files = {"RECORD": record, "direct_url.json": origin}
    (root / INFO).mkdir(parents=True, exist_ok=True)
    (root / ".venv/pyvenv.cfg").write_text("version = 3.12.1\n")
    for name, content in files.items():
        (root / INFO / name).unlink(missing_ok=True)
        if content:
            (root / INFO / name).write_text(content)
    return str(root)


def facts_of(root: str, store: Store | None = None) -> object:
    return machine_facts(Agent("clerk", python=(".venv/bin/python",)), root, store)


@pytest.mark.parametrize(
    ("record", "origin"),
    [
        (LISTED.replace("sha256=t", "sha256=u"), ""),
        (LISTED + "tool.dat,sha256=d,1\n", ""),
        (LISTED.replace("sha256=a,230", "sha256=b,24000000"), ""),
        (LISTED.replace("sha256=e", "sha256=f"), ""),
        (LISTED, EDITABLE),
        (LISTED, '{"url": "https://a.example/t", "vcs_info": {"commit_id": "c0ffee"}}'),
        (LISTED, "broken"),
        ("", ""),
    ],
    ids=["content", "file more", "program", "starts", "editable", "git", "no JSON", "no list"],
)
def test_the_same_version_with_other_content(tmp_path: Path, record: str, origin: str) -> None:
    before = facts_of(environment(tmp_path))
    assert facts_of(environment(tmp_path)) == before
    assert facts_of(environment(tmp_path, record, origin)) != before


@pytest.mark.parametrize(
    "record",
    [
        LISTED.replace("sha256=a,230", "sha256=b,251"),
        LISTED.replace("__pycache__/tool.cpython-312.pyc,,\n", ""),
        LISTED.replace("sha256=p,4", "sha256=u,2"),
        LISTED.replace("tool.py,sha256=t,9\n", "") + "tool.py,sha256=t,9\n",
        "\n".join(reversed(LISTED.splitlines())) + "\n",
        LISTED.replace("\n", "\r\n"),
        LISTED + "tool-1.0.dist-info/direct_url.json,sha256=d,60\n",
        LISTED + "__editable__.tool-1.0.pth,sha256=x,20\n",
    ],
)
def test_who_installed_it_where_and_when_is_no_other_content(tmp_path: Path, record: str) -> None:
    before = facts_of(environment(tmp_path / "a"))
    assert facts_of(environment(tmp_path / "b", record)) == before


def test_an_editable_install_in_the_repository_is_named_by_its_folder(tmp_path: Path) -> None:
    found: list[object] = []
    for name in ("a", "b"):
        root = tmp_path / name
        where = {"dir_info": {"editable": True}, "url": f"file://{root}/libs/my%20tool"}
        found.append(facts_of(environment(root, origin=json.dumps(where))))
    assert found[0] == found[1]
    assert facts_of(environment(tmp_path / "a", origin=EDITABLE)) != found[1]


def test_lists_that_are_known_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = environment(tmp_path)
    with closing(Store.open(str(tmp_path / "memory"))) as store:
        before = facts_of(root, store)
        assert before == facts_of(root)
        with monkeypatch.context() as blind:
            blind.setattr(installed, "_read", None)
            assert facts_of(root, store) == before
        assert facts_of(environment(tmp_path, LISTED + "b.py,sha256=b,1\n"), store) != before


@pytest.mark.parametrize("python", ["/nowhere/python", "no-such-python", "python3"])
def test_an_interpreter_without_an_environment(python: str) -> None:
    assert machine_facts(Agent("clerk", python=(python, "-X", "dev")), "/")["agent's python"]
    assert "agent's python" not in machine_facts(Agent("clerk"), "/")
