"""Which object the deploy manifest names: told before anything is started."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guard.plugin import Agent, Project
from guard_langgraph.target import OPTIONS, verify
from tests.plugins.langgraph.conftest import Lab

GRAPHS = {"graphs": {"desk": "./desk.py:graph", "clerk": "./shop/clerk.py:graph"}}


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("{", "langgraph.json:1: not valid JSON"),
        ('{"graphs": {"desk": "a", "desk": "b"}}', "the key 'desk' stands twice"),
        ('{"graphs": []}', "`graphs` must be a mapping"),
        ('{"graphs": {"desk": "desk.py"}}', "graph desk must be FILE:OBJECT, not 'desk.py'"),
        ('{"graphs": {"desk": "./none.py:graph"}}', "names nothing: no none.py"),
        ('{"graphs": {"desk": "./desk.ts:graph"}}', "only Python graphs can be run"),
        ('{"graphs": {"desks": "./desk.py:graph"}}', "serves no graph desk; did you mean `desks`?"),
        ('{"graphs": {}}', "serves no graph desk (there are: none;"),
    ],
)
def test_a_manifest_that_names_nothing_is_told(lab: Lab, manifest: str, said: str) -> None:
    lab.desk("graph = 1")
    lab.write({"langgraph.json": manifest})
    assert said in lab.refuses()


def test_the_nearest_manifest_is_taken(lab: Lab) -> None:
    (lab.workspace / "langgraph.json").unlink()
    assert "there is no langgraph.json in the workspace" in lab.refuses()
    lab.write({"a/b/langgraph.json": "{}", "c/langgraph.json": json.dumps({"graphs": {}})})
    lab.write({"node_modules/langgraph.json": "{}"})
    assert lab.refuses().startswith("c/langgraph.json serves no graph desk")
    lab.write({"d/langgraph.json": "{}"})
    assert "several manifests: `options: {manifest: c/langgraph.json}` names one" in lab.refuses()
    assert "there is no e.json in the workspace" in lab.refuses(manifest="e.json")


# Before any run ---------------------------------------------------------------------------------


def said_of(served: tuple[str, ...], agent: Agent, **options: Any) -> str | None:
    files = {
        "langgraph.json": json.dumps(GRAPHS).encode(),
        "evals/langgraph.json": json.dumps(GRAPHS).encode(),
        "app/langgraph.json": json.dumps(GRAPHS).encode(),
        "plugin.json": b"{}",
    }
    project = Project("/nowhere", files.get, lambda: list(files), served)
    return verify(agent, {**{o.name: o.default for o in OPTIONS}, **options}, project)


@pytest.mark.parametrize(
    ("served", "agent", "options"),
    [
        ((), Agent("any"), {"manifest": "evals/langgraph.json"}),
        (("langgraph.json",), Agent("desk"), {}),
        (("langgraph.json",), Agent("front", serves=("desk",)), {"graph": "desk"}),
        (("app/langgraph.json", "plugin.json"), Agent("desk", workspace="app"), {}),
        (("plugin.json",), Agent("desk"), {"manifest": "evals/langgraph.json"}),
        (("langgraph.json",), Agent("probe"), {"graph": "desk"}),
    ],
)
def test_the_served_graph_is_the_real_one(
    served: tuple[str, ...], agent: Agent, options: dict[str, Any]
) -> None:
    assert said_of(served, agent, **options) is None


@pytest.mark.parametrize(
    ("agent", "options", "said"),
    [
        (
            Agent("desk"),
            {"manifest": "evals/langgraph.json"},
            "its graphs come from evals/langgraph.json, and langgraph.json says what is served",
        ),
        (Agent("desk"), {"graph": "clerk"}, "it serves desk, and runs clerk"),
        (Agent("a", serves=("desk",)), {"graph": "clerk"}, "it serves desk, and runs clerk"),
        (Agent("desk", workspace="papers"), {}, "there is no langgraph.json in the workspace"),
    ],
)
def test_another_graph_than_the_served_one_is_told(
    agent: Agent, options: dict[str, Any], said: str
) -> None:
    assert (said_of(("langgraph.json",), agent, **options) or "").startswith(said)
