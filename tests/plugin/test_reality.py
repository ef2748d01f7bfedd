"""Only storage may be substituted, and a target says what it runs for real."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from guard.errors import PluginError
from guard.plugin import (
    Agent,
    Observation,
    Project,
    StorageDouble,
    Substitute,
    Target,
    TargetError,
    Trial,
    hookimpl,
    read_json,
)
from guard.plugin.manager import Plugins
from tests.plugins.trees import view


def run(trial: Trial) -> Observation:
    return Observation()


def offered(target: Target, *doubles: StorageDouble) -> Plugins:
    class Plugin:
        @staticmethod
        @hookimpl
        def guard_targets() -> Iterable[Target]:
            return [target]

        @staticmethod
        @hookimpl
        def guard_storage_doubles() -> Iterable[StorageDouble]:
            return doubles

    found = Plugins()
    found.register("books", Plugin(), "books-dist")
    return found


def test_storage_may_be_substituted() -> None:
    kept = Substitute("the outbox", "no letter is sent")
    assert "graph" in offered(Target("graph", run, "the graph", substitutes=(kept,))).targets()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            Target("graph", run, "x", substitutes=(Substitute("the model", "dear", "model"),)),
            r"target graph \(plugin books\) substitutes 'the model', of kind 'model': only storage",
        ),
        (Target("graph", run, "x", substitutes=(Substitute("a", "b", ""),)), "of kind ''"),
        (Target("graph", run, "x", substitutes=(Substitute("a", "b", "Storage"),)), "'Storage'"),
        (Target("graph", run, "x", substitutes=(Substitute("a", " "),)), "doesn't say what and"),
        (Target("graph", run, ""), r"plugin books\) doesn't say what it runs for real"),
        (Target("graph", run, " \n"), "its `real` is empty"),
    ],
)
def test_anything_else_is_refused(target: Target, said: str) -> None:
    with pytest.raises(PluginError, match=said):
        offered(target).targets()


def test_a_double_says_what_it_replaces_and_why() -> None:
    target = Target("graph", run, "x")
    good = StorageDouble("outbox", "shop.post:Outbox", list, "no letter is sent")
    assert list(offered(target, good).storage_doubles()) == ["outbox"]
    for wrong in (good._replace(why=""), good._replace(replaces=" ")):
        with pytest.raises(PluginError, match=r"double outbox \(plugin books\) doesn't say"):
            offered(target, wrong).storage_doubles()


def test_who_offers_a_target() -> None:
    plugins = offered(Target("graph", run, "x"))
    assert (plugins.owner_of("graph"), plugins.owner_of("other")) == ("books", "")


def name_graph(agent: Agent, options: Mapping[str, Any], project: Project) -> str | None:
    return None if options.get("graph") else f"agent {agent.name} names no graph"


def test_a_target_may_tell_what_is_not_real() -> None:
    tree = view({})
    told = Target("graph", run, "x", verify=name_graph)
    assert told.verify(Agent("a"), {}, tree) == "agent a names no graph"
    assert told.verify(Agent("a"), {"graph": "g"}, tree) is None
    assert Target("graph", run, "x").verify(Agent("a"), {}, tree) is None


def test_a_document_is_read_strictly() -> None:
    assert read_json(b'{"a": [1.5, null]}', "a.json") == {"a": [1.5, None]}
    for wrong in (b'{"a": 1, "a": 1}', b"[Infinity]", b"", b"\xff\xfe"):
        with pytest.raises(TargetError, match=r"a\.json"):
            read_json(wrong, "a.json")
