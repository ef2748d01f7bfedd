"""The text of a new guard.yaml: what it says is what guard reads."""

from __future__ import annotations

from datetime import date

import pytest

from guard.config import expand_agents, parse_config
from guard.setup.case_places import Places
from guard.setup.layouts import declare_agents, find_layouts
from guard.setup.new_config import config_text, judges_ranges, quoted, warned_until
from guard.setup.replay import Replay
from guard.yamlfile import load_yaml

NONE = Replay()
TODAY = date(2031, 12, 2)


def text_for(*folders: str, replay: Replay = NONE, depends: tuple[str, ...] = ()) -> str:
    paths = [f"{folder}/SKILL.md".encode() for folder in folders]
    declared = declare_agents(find_layouts(paths)[0], paths)
    prefixes = ["{dir}" if entry.each else entry.glob for entry in declared]
    places = [Places((f"{prefix}/evals/*.md",), depends) for prefix in prefixes]
    return config_text(declared, places, replay, TODAY)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a/b-c.d",
        "ü b",
        "yes",
        "No",
        "010",
        "1.5",
        "a: b",
        "a #b",
        "[x]",
        "*",
        "{dir}",
        "'",
        '"',
    ],
)
def test_every_text_is_read_as_itself(text: str) -> None:
    assert load_yaml(f"{quoted(text)}: [{quoted(text)}]", "x") == {text: [text]}


def test_a_block_for_many() -> None:
    text = text_for("skills/a", "skills/b", "skills/c")
    agents = expand_agents(parse_config(text.encode()), ["skills/ü d/SKILL.md".encode()])
    assert agents["ü d"].paths == ("skills/ü d/**",)
    assert agents["ü d"].cases == ("skills/ü d/evals/*.md",)
    assert agents["ü d"].options == {"mount": "skill"}
    assert agents["ü d"].target == "claude-code"


def test_an_agent_for_one_that_the_client_finds() -> None:
    text = text_for("agent/.claude/skills/ü b, c")
    (agent,) = expand_agents(parse_config(text.encode()), ()).values()
    assert agent.name == "ü b- c"
    assert agent.paths == ("agent/.claude/skills/ü b, c/**",)
    assert agent.workspace == "agent"
    assert agent.options == {}


def test_the_target_that_it_suggests_can_be_put_in_place_of_its_own() -> None:
    text = text_for(".claude/skills/a")
    shown = [f"    {line[4:]}\n" for line in text.splitlines() if line.startswith("#   ")]
    mended = text.replace("    target: claude-code\n", "".join(shown))
    (agent,) = expand_agents(parse_config(mended.encode()), ()).values()
    assert (agent.target, agent.options["argv"][-1]) == ("command", "{utterance}")


def test_what_cases_use_is_listed() -> None:
    config = parse_config(text_for("skills/a", depends=("skills/a/evals/*.json",)).encode())
    assert config.agents["a"]["depends"] == ["skills/a/evals/*.json"]


def test_a_history_with_fixes_in_question_is_warned_for_thirty_days() -> None:
    replay = Replay(commits=9, fixes=3, cosmetic=1, asked=2)
    assert warned_until(replay, TODAY) == "2032-01-01"
    config = parse_config(text_for("skills/a", replay=replay).encode())
    assert config.enforce["fix-needs-case"] == {"warn": True, "until": "2032-01-01"}


@pytest.mark.parametrize("replay", [Replay(), Replay(commits=9, fixes=3, cosmetic=3)])
def test_a_history_without_is_blocked_at_once(replay: Replay) -> None:
    assert warned_until(replay, TODAY) == ""
    config = parse_config(text_for("skills/a", replay=replay).encode())
    assert config.enforce["fix-needs-case"] == "block"


@pytest.mark.parametrize(
    ("commits", "squashed", "unit"), [(0, 0, "commit"), (10, 4, "commit"), (10, 5, "range")]
)
def test_squash_merges_make_the_pull_request_the_unit(
    commits: int, squashed: int, unit: str
) -> None:
    replay = Replay(commits=commits, squashed=squashed)
    assert judges_ranges(replay) == (unit == "range")
    assert parse_config(text_for("skills/a", replay=replay).encode()).fix["unit"] == unit
