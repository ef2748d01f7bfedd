"""What a plugin of Claude Code serves: by marketplace.json, by plugin.json, by its folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from guard.plugin import TargetError
from guard_claude_code import guard_served_agents
from tests.plugins.trees import view

MARKET = ".claude-plugin/marketplace.json"
FILES = {
    "skills/xlsx/SKILL.md": "x",
    "skills/pdf/SKILL.md": "x",
    "skills/pdf/reference/SKILL.md": "an inner file, and no skill of its own",
    "skills/README.md": "x",
    "plugins/desk/.claude-plugin/plugin.json": '{"name": "desk"}',
    "plugins/desk/skills/refund/SKILL.md": "x",
    "plugins/desk/commands/ask.md": "x",
    "plugins/desk/agents/reviewer.md": "x",
    "plugins/desk/more/deep/SKILL.md": "x",
    "plugins/bare/hooks/hooks.json": "{}",
    "plugins/one/SKILL.md": "x",
}


def served(manifest: str, document: object, files: Mapping[str, str] = FILES) -> dict[str, str]:
    """Return name → path of what a manifest serves."""
    tree = {**files, manifest: json.dumps(document)}
    found = guard_served_agents(view(tree, manifest))
    assert {entry.manifest for entry in found} == {manifest}
    return {entry.name: entry.entry for entry in found}


def market(*plugins: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "m", "owner": {"name": "o"}, "plugins": list(plugins), **more}


def test_a_marketplace_whose_entry_lists_its_skills() -> None:
    whole = {"name": "docs", "source": "./", "strict": False, "skills": ["./skills/xlsx"]}
    assert served(MARKET, market(whole)) == {"xlsx": "skills/xlsx"}
    # One that completes what is there serves that, too.
    completing = {"name": "docs", "source": "./", "skills": ["./plugins/desk/more"]}
    assert set(served(MARKET, market(completing))) == {"xlsx", "pdf", "deep"}


def test_a_marketplace_whose_plugins_describe_themselves() -> None:
    found = served(MARKET, market({"name": "desk", "source": "./plugins/desk"}))
    assert found == {
        "refund": "plugins/desk/skills/refund",
        "ask": "plugins/desk/commands/ask.md",
        "reviewer": "plugins/desk/agents/reviewer.md",
    }
    rooted = market({"name": "desk", "source": "desk"}, metadata={"pluginRoot": "./plugins"})
    assert served(MARKET, rooted) == found


def test_a_plugin_by_its_own_manifest() -> None:
    path = "plugins/desk/.claude-plugin/plugin.json"
    assert set(served(path, {"name": "desk"})) == {"refund", "ask", "reviewer"}
    more = {"name": "desk", "skills": "./more/", "commands": ["./commands/ask.md"]}
    assert set(served(path, more)) == {"refund", "deep", "ask", "reviewer"}
    assert set(served("plugins/desk/plugin.json", {"name": "desk"})) == {
        "refund",
        "ask",
        "reviewer",
    }


def test_a_plugin_that_is_one_skill() -> None:
    found = served(MARKET, market({"name": "one", "source": "./plugins/one"}))
    assert found == {"one": "plugins/one"}


def test_a_plugin_without_a_part_serves_nothing_and_is_read() -> None:
    assert served(MARKET, market({"name": "bare", "source": "./plugins/bare"})) == {"": ""}
    assert served(MARKET, market()) == {"": ""}


def test_a_plugin_from_elsewhere_is_not_this_repositorys() -> None:
    remote = {"name": "far", "source": {"source": "github", "repo": "a/b"}, "skills": ["./x"]}
    assert served(MARKET, market(remote)) == {"": ""}


def test_two_parts_of_one_name_are_told_apart_by_their_plugins() -> None:
    other = {"plugins/shop/skills/refund/SKILL.md": "x"}
    plugins = [{"name": name, "source": f"./plugins/{name}"} for name in ("desk", "shop")]
    found = served(MARKET, market(*plugins), {**FILES, **other})
    assert {"desk:refund", "shop:refund", "ask", "reviewer"} == set(found)


def test_a_skill_that_two_plugins_list_is_one() -> None:
    listing = {"source": "./", "strict": False, "skills": ["./skills/xlsx"]}
    found = served(MARKET, market({"name": "a", **listing}, {"name": "b", **listing}))
    assert found == {"xlsx": "skills/xlsx"}


def test_commands_may_stand_under_their_names() -> None:
    commands = {"ask": {"source": "./commands/ask.md"}, "told": {"content": "Say hello."}}
    entry = {"name": "desk", "source": "./plugins/desk", "strict": False, "commands": commands}
    assert set(served(MARKET, market(entry))) == {"ask", "refund", "reviewer"}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (market({"name": "a", "source": "./nowhere"}), r"plugin 1: source \./nowhere: there is no"),
        (market({"name": "a", "source": "../x"}), "leads out of the repository"),
        (market({"name": "a", "source": 7}), "`source` must be a path"),
        (market({"name": "a"}), "`source` must be a path"),
        (market({"source": "./"}), "a plugin has no `name`"),
        (market({"name": "a", "source": "./", "skills": ["./skills/doc"]}), "names nothing: there"),
        (market({"name": "a", "source": "./", "commands": "./nope.md"}), "there is no command in"),
        (market({"name": "a", "source": "./", "skills": [7]}), "`skills` must be paths"),
        (market({"name": "a", "source": "./", "agents": 7}), "`agents` must be paths"),
        (market(7), "plugin 1: must be a mapping"),  # type: ignore[arg-type]
        ({"name": "m"}, "`plugins` must be a list"),
        ([], "must be a mapping"),
    ],
)
def test_what_it_refuses(document: object, said: str) -> None:
    with pytest.raises(TargetError, match=said):
        served(MARKET, document)


def test_other_files_are_not_its_own() -> None:
    files = {**FILES, "langgraph.json": "{}", "list.json": "["}
    assert guard_served_agents(view(files, "langgraph.json", "list.json")) == []


def test_a_manifest_that_is_no_json() -> None:
    with pytest.raises(TargetError, match=r"marketplace\.json:1: not valid JSON"):
        guard_served_agents(view({MARKET: "{"}, MARKET))
