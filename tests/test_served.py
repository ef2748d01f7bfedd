"""What production serves, read from the manifests that guard.yaml names; never guessed."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from guard.errors import ExitCode, GuardError, PluginError
from guard.git import find_repo
from guard.served import read_served
from tests.conftest import ScratchRepo
from tests.judged_repo import Bench, Files

CONFIG = "version: 1\nserved: [%s]\nagents: {a: {paths: [g.py], target: command}}\n"
GRAPHS = '{"graphs": {"a": "./g.py:a", "b": "./g.py:b"}}\n'
CODE = "a = b = 1\n"
READER = """\
from guard.plugin import Served, hookimpl


@hookimpl
def guard_served_agents(project):
    return %s
"""


@pytest.fixture
def bench(repo: ScratchRepo) -> Generator[Bench]:
    repo.commit("feat: base", {"README.md": "x"})
    with find_repo(str(repo.root)) as opened:
        yield Bench(repo, opened)


def served(bench: Bench, manifests: str, files: Files, more: str = "") -> list[str]:
    config = {"guard.yaml": CONFIG % manifests + more, "g.py": CODE}
    bench.repo.write({**config, **files})
    bench.repo.git("add", "--all", "--force")
    return [f"{entry.manifest} {entry.name}" for entry in read_served(bench.project())]


def test_without_a_manifest_no_plugin_is_asked(bench: Bench) -> None:
    assert served(bench, "", {"p.py": "raise ValueError"}, "plugins: [p.py]\n") == []


def test_manifests_in_their_order_of_plugins_and_each_entry_once(bench: Bench) -> None:
    files = {"langgraph.json": GRAPHS, "more/list.yaml": "- a\n- a\n"}
    found = served(bench, "./langgraph.json, more/list.yaml, langgraph.json", files)
    assert sorted(found) == ["langgraph.json a", "langgraph.json b", "more/list.yaml a"]


def test_a_manifest_that_serves_nothing_is_read(bench: Bench) -> None:
    assert served(bench, "list.json", {"list.json": "[]"}) == []


@pytest.mark.parametrize(
    ("manifests", "files", "said"),
    [
        ("langgraph.json", {}, r"guard\.yaml:2: served: langgraph\.json is not in the tree"),
        ("'*.json'", {"a.json": "[]"}, "named by its path, not by a glob"),
        ("more", {"more/list.json": "[]"}, "more is a folder: name the manifest in it"),
        ("a.toml", {"a.toml": "x"}, r"guard\.yaml:2: served: no plugin reads a\.toml"),
        ("a.json", {"a.json": "{}"}, r"no plugin reads a\.json"),
        ("a.json", {"a.json": "["}, r"a\.json:1: not valid JSON"),
        (
            "langgraph.json",
            {"langgraph.json": GRAPHS, "g.py": "a = 1\n"},
            "graph b: ./g.py:b names",
        ),
    ],
)
def test_a_manifest_that_cant_be_read_is_exit_2(
    bench: Bench, manifests: str, files: Files, said: str
) -> None:
    with pytest.raises(GuardError, match=said) as caught:
        served(bench, manifests, files)
    assert caught.value.exit_code == ExitCode.USAGE
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_a_manifest_behind_a_link_is_named(bench: Bench) -> None:
    (bench.repo.root / "link.json").symlink_to("langgraph.json")
    with pytest.raises(GuardError, match=r"link\.json is a symlink: name the file itself"):
        served(bench, "link.json", {"langgraph.json": GRAPHS})


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("[Served('a', 'other.json')]", "an entry of 'other.json', which `served` doesn't name"),
        ("[Served(None, 'a.own')]", "which are not texts"),
        ("['a']", "must return Served values, not str"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_reader_that_breaks_its_contract_is_named(bench: Bench, returned: str, said: str) -> None:
    files = {"a.own": "x", "p.py": READER % returned}
    with pytest.raises(PluginError, match=said):
        served(bench, "a.own", files, "plugins: [p.py]\n")


def test_what_a_server_has_no_reader_for_is_left_to_whoever_has_one(bench: Bench) -> None:
    with pytest.raises(GuardError, match="no plugin reads"):
        served(bench, "a.toml", {"a.toml": "x"})
    assert read_served(bench.project(), by_data=True) == ()
