"""guard.yaml: every key, its errors with file, line, key and nearest key, and its agents."""

from __future__ import annotations

import pytest

from guard.config import AGENT_KEYS, DEFAULTS, KEYS, expand_agents, parse_config
from guard.errors import ConfigError, UsageError
from guard.globs import compile_globs
from guard.model import Agent

WHOLE = """\
version: 1
requires: ">=0.1"
plugins: [evals/guard_plugin.py]
defaults: {gate: standard, timeout: 300}
agents:
  expense:
    paths: [agent/.claude/skills/expense/**, agent/CLAUDE.md]
    workspace: agent
    target: claude-code
    options: {prompt: "/expense {utterance}", allowed_tools: [Skill, Read]}
    cases: [evals/cases/*.md]
    depends: [evals/reconcile.py]
    evaluators: [evals/checks.py:exact]
    always: {command: {argv: [python3, "{repo}/evals/reconcile.py"]}}
    prerequisites: [program:claude]
    env: [OPENAI_API_KEY]
    python: .venv/bin/python
    serves: [expense]
  each-skill:
    each: "plugins/*/skills/*"
    target: claude-code
    cases: ["{dir}/evals/*.json"]
served: [langgraph.json, .claude-plugin/marketplace.json]
fix:
  types: [fix]
  patterns: []
  closing_keywords: true
  trailers: [Fixes, Regression-Case]
  unit: commit
  cosmetic: allow
enforce: {fix-needs-case: block}
hooks:
  pre-commit: {max_seconds: 60, max_cost_usd: 0.5}
  pre-push: {max_seconds: 300, max_cost_usd: 1.0, owed: block}
  pre-receive: {max_seconds: 30}
receipts: {max_age: 30d, accept: [ci]}
"""


def agents_of(text: str, *paths: str) -> dict[str, Agent]:
    return expand_agents(parse_config(text.encode()), [path.encode() for path in paths])


def test_the_whole_of_design_loads() -> None:
    config = parse_config(WHOLE.encode())
    assert set(config.raw) == set(KEYS)
    agents = expand_agents(config, [b"plugins/a/skills/one/SKILL.md"])
    assert set(agents) == {"expense", "one"}
    expense = agents["expense"]
    assert set(config.raw["agents"]["expense"]) < set(AGENT_KEYS)
    assert expense.workspace == "agent"
    assert expense.python == (".venv/bin/python",)
    assert expense.serves == ("expense",)
    assert agents["one"].cases == ("plugins/a/skills/one/evals/*.json",)
    assert agents["one"].paths == ("plugins/a/skills/one/**",)


def test_what_is_left_out_is_the_default_of_design() -> None:
    short, whole = parse_config(b"version: 1\n"), parse_config(WHOLE.encode())
    for key in ("fix", "enforce", "hooks", "receipts"):
        assert getattr(short, key) == getattr(whole, key) == DEFAULTS[key]


AGENT = "version: 1\nagents:\n  a:\n    paths: [x]\n    target: command\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("versions: 1\n", 1, "versions: unknown key; did you mean `version`"),
        ("agents: {}\n", 1, "the key `version` is missing"),
        ("version: 2\n", 1, "version: '2' is none of 1"),
        ("version: 1\nversion: 1\n", 2, "version: stands here twice"),
        ("version: 1\nagents: []\n", 2, "agents: must be a mapping, not a list"),
        (AGENT + "    path: [y]\n", 6, r"agents.a.path: unknown key; did you mean `paths`"),
        (AGENT + "    timeout: soon\n", 6, "agents.a.timeout: must be a number, not text"),
        (AGENT + "    timeout: -1\n", 6, "agents.a.timeout: must be above 0"),
        (AGENT + "    trials: 1.5\n", 6, "must be a whole number"),
        (AGENT + "    min_pass_rate: 0\n", 6, "min_pass_rate: must be above 0 and at most 1"),
        (AGENT + "    gate: standart\n", 6, "did you mean `standard`"),
        (AGENT + "    cases: evals\n", 6, "agents.a.cases: must be a list, not text"),
        (AGENT + "    cases: [/abs]\n", 6, r"agents.a.cases\[0\]: '/abs' must be a path from"),
        (AGENT + "    cases: ['../x']\n", 6, "must be a path from the repository's root"),
        (AGENT + "    prerequisites: [claude]\n", 6, "must be NAME:ARG"),
        (AGENT + "    gate: standard\n    trials: 3\n", 7, "can't pass in 3 trials.*at least 4"),
        ("version: 1\nagents:\n  a: {paths: [], target: command}\n", 3, "must not be empty"),
        ("version: 1\nagents:\n  a: {paths: [x], each: y}\n", 3, "takes `each` or `paths`"),
        ("version: 1\nhooks: {pre-comit: {}}\n", 2, "did you mean `pre-commit`"),
        ("version: 1\nhooks: {pre-push: {owed: never}}\n", 2, "'never' is none of block, ci"),
        ("version: 1\nhooks: {pre-receive: {max_seconds: 0}}\n", 2, "must be above 0"),
        ("version: 1\nenforce: {fix-needs-case: warn}\n", 2, "must be block, or {warn"),
        ("version: 1\nenforce: {fix-needs-case: {warn, until: soon}}\n", 2, "is not a date"),
        (
            "version: 1\nenforce: {fix-needs-case: {warn, until: 2026-02-30}}\n",
            2,
            "'2026-02-30' is not a date",
        ),
        ("version: 1\nrequires: 99\n", 2, "pip install 'regression-guard>=99'"),
        ("version: 1\nplugins: [evals/x.txt]\n", 2, "must be a path ending in .py"),
        ("version: 1\nreceipts: {max_age: 30}\n", 2, "is not a duration"),
        ("version: 1\nfix: {cosmetic: maybe}\n", 2, "'maybe' is none of allow, refuse"),
        ("version: 1\nfix: {patterns: ['(']}\n", 2, r"patterns\[0\]: '\(' is not a regular"),
        ("version: 1\nrequires: banana\n", 2, "is not a version range"),
        ("- a list\n", 1, "must be a mapping, not a list"),
    ],
)
def test_each_error_names_file_line_key_and_nearest(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        parse_config(text.encode())
    assert caught.value.message.startswith(f"guard.yaml:{line}: ")
    assert caught.value.exit_code == 2


def test_an_empty_file_asks_for_its_version() -> None:
    with pytest.raises(ConfigError, match="the key `version` is missing"):
        parse_config(b"")


def test_bytes_that_are_no_text_are_named_with_their_line() -> None:
    with pytest.raises(ConfigError, match=r"guard.yaml:2: is not UTF-8"):
        parse_config(b"version: 1\n\xff\n")


def test_requires_is_checked_before_anything_else() -> None:
    with pytest.raises(ConfigError, match=r"asks for guard >=99.*pip install"):
        parse_config(b"version: 7\nrequires: '>=99'\nunknown: 1\n")


def test_a_warning_mode_needs_its_date() -> None:
    config = parse_config(b"version: 1\nenforce: {fix-needs-case: {warn, until: 2026-12-31}}\n")
    assert config.enforce["fix-needs-case"] == {"warn": True, "until": "2026-12-31"}


def test_policies_of_agent_and_defaults() -> None:
    text = "version: 1\ndefaults: {trials: 5}\nagents:\n  a: {paths: [x], target: t, gate: quick}\n"
    agent = agents_of(text)["a"]
    assert agent.defaults["gate"] == "quick"
    assert "trials" not in agent.defaults


@pytest.mark.parametrize(
    ("paths", "workspace"),
    [
        ("[agent/.claude/skills/expense/**, agent/CLAUDE.md]", "agent"),
        ("[.claude/skills/x/**]", ""),
        ("[skills/a/**]", "skills/a"),
        ("[skills/a/SKILL.md]", "skills/a"),
        ("[a/b/x.md, a/c/**]", "a"),
        ("[prompts]", "prompts"),
    ],
)
def test_the_workspace_is_the_deepest_common_folder(paths: str, workspace: str) -> None:
    text = f"version: 1\nagents:\n  a: {{paths: {paths}, target: t}}\n"
    assert agents_of(text)["a"].workspace == workspace


PATTERN = """\
version: 1
agents:
  s: {each: "plugins/*/skills/*", target: t, cases: ["{dir}/{name}.md"]}
"""


def test_a_pattern_agent_is_one_for_each_folder() -> None:
    agents = agents_of(
        PATTERN, "plugins/p/skills/a/SKILL.md", "plugins/p/skills/b/x/y.md", "plugins/README.md"
    )
    assert set(agents) == {"a", "b"}
    assert agents["b"].cases == ("plugins/p/skills/b/b.md",)
    assert agents["b"].workspace == "plugins/p/skills/b"


def test_a_folders_name_is_no_glob() -> None:
    text = 'version: 1\nagents:\n  e: {each: "skills/*", target: t, cases: ["{dir}/evals/*.md"],'
    text += ' options: {at: "{dir}"}}\n'
    agent = agents_of(text, "skills/[x]/SKILL.md")["[x]"]
    assert (agent.workspace, agent.options) == ("skills/[x]", {"at": "skills/[x]"})
    assert compile_globs(agent.paths)(b"skills/[x]/SKILL.md")
    assert compile_globs(agent.cases)(b"skills/[x]/evals/a.md")
    assert not compile_globs(agent.paths)(b"skills/x/SKILL.md")


def test_two_skills_of_one_name_are_told_apart_by_their_plugins() -> None:
    agents = agents_of(PATTERN, "plugins/p/skills/a/SKILL.md", "plugins/q/skills/a/SKILL.md")
    assert set(agents) == {"p/a", "q/a"}


def test_a_pattern_that_hits_a_named_agent_is_an_error() -> None:
    with pytest.raises(UsageError, match="a second agent named a"):
        agents_of(PATTERN + "  a: {paths: [x], target: t}\n", "plugins/p/skills/a/SKILL.md")
