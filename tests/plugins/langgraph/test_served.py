"""langgraph.json: the graphs that it serves, and entries that name nothing."""

from __future__ import annotations

import json

import pytest

from guard.plugin import TargetError
from guard_langgraph import guard_served_agents
from guard_langgraph.names import names_of
from guard_langgraph.served import place_of
from tests.plugins.trees import view

CODE = "def make():\n    pass\n\ngraph = make()\n"
#: Two ways in which real manifests name a graph.
GRAPHS = {"Deep Researcher": "./src/deep.py:graph", "cron": {"path": "./src/cron.py:make"}}


def manifest(graphs: object, **more: object) -> str:
    return json.dumps({"dependencies": ["."], "graphs": graphs, "env": ".env", **more})


def read(graphs: object, path: str = "langgraph.json", **files: str) -> list[tuple[str, ...]]:
    named = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    tree = {path: manifest(graphs), "src/deep.py": CODE, "src/cron.py": CODE, **named}
    return [tuple(entry) for entry in guard_served_agents(view(tree, path))]


def test_an_entry_for_each_graph() -> None:
    assert read(GRAPHS) == [
        ("Deep Researcher", "langgraph.json", "./src/deep.py:graph"),
        ("cron", "langgraph.json", "./src/cron.py:make"),
    ]


def test_paths_start_from_the_manifest_and_its_name_may_be_another() -> None:
    found = read({"a": "../src/deep.py:graph"}, "deploy/production.json")
    assert found == [("a", "deploy/production.json", "../src/deep.py:graph")]


def test_no_graph_is_served_by_none() -> None:
    assert read({}) == [("", "langgraph.json", "")]


@pytest.mark.parametrize(
    ("graphs", "said"),
    [
        (
            {"a": "./src/nope.py:graph"},
            r"graph a: \./src/nope\.py:graph names nothing: there is no",
        ),
        ({"a": "./src/deep.py:nope"}, r"src/deep\.py has no nope"),
        ({"a": "./src/deep.py"}, "graph a must be FILE:OBJECT"),
        ({"a": "../deep.py:graph"}, "there is no ../deep.py"),
        ({"a": ":graph"}, "must be FILE:OBJECT"),
        ({"a": 7}, "must be FILE:OBJECT, not 7"),
        ({"a": {"description": "x"}}, "must be FILE:OBJECT"),
        ({" ": "./src/deep.py:graph"}, "a graph has no name"),
        (["a"], "`graphs` must be a mapping"),
        (None, "`graphs` must be a mapping"),
    ],
)
def test_what_it_refuses(graphs: object, said: str) -> None:
    with pytest.raises(TargetError, match=said):
        read(graphs)


def test_a_manifest_that_is_no_json_and_a_graph_that_stands_twice() -> None:
    twice = '{"graphs": {"a": "./src/deep.py:graph", "a": "./src/cron.py:make"}}'
    for text, said in ((twice, "'a' stands twice"), ("{", r"langgraph\.json:1: not valid JSON")):
        with pytest.raises(TargetError, match=said):
            guard_served_agents(view({"langgraph.json": text}, "langgraph.json"))


def test_other_files_are_not_its_own() -> None:
    files = {"a.json": "{", "b.json": "[]", "c.json": '{"plugins": []}', "d.txt": "x"}
    assert guard_served_agents(view(files, *files)) == []


def test_what_the_tree_cant_tell_is_let_be() -> None:
    assert read({"a": "package.module:graph"})
    assert read({"a": "./star.py:anything"}, star="from elsewhere import *\n")
    assert read({"a": "./lazy.py:anything"}, lazy="def __getattr__(name): ...\n")
    assert read({"a": "./newer.py:anything"}, newer="a = = b\n")


@pytest.mark.parametrize(
    "text",
    [
        "graph = 1",
        "a, (graph, b) = f()",
        "graph: object = f()",
        "async def graph(): ...",
        "class graph: ...",
        "from x import y as graph",
        "import graph.inner",
        "if a:\n    b = 1\nelse:\n    graph = 2",
        "try:\n    import x\nexcept ImportError:\n    graph = None",
        "with open(f) as graph: ...",
        "for graph in x: ...",
    ],
)
def test_the_ways_to_bind_a_name(text: str) -> None:
    assert "graph" in (names_of(text.encode()) or ())


@pytest.mark.parametrize("text", ["def f():\n    graph = 1", "graph.x = 1", "f(graph)", "# graph"])
def test_what_binds_no_name(text: str) -> None:
    assert "graph" not in (names_of(text.encode()) or ())


def test_where_an_entry_leads_to() -> None:
    assert place_of("a/langgraph.json", "./b/../g.py:x")[:] == ("a/g.py", "", "x")
    assert place_of("langgraph.json", "g.py:x")[:] == ("g.py", "", "x")
    assert place_of("langgraph.json", "pkg.mod:x")[:] == ("", "pkg.mod", "x")
