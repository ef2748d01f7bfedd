"""A tree as a project: cases and their agents, ownership, records, plugins."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from guard.errors import ConfigError, GuardError, PluginError
from guard.git import Repo, find_repo
from guard.project import Project
from guard.running.expectations import check_expectations
from guard.snapshot import worktree_tree
from guard.store import Store
from tests.conftest import ScratchRepo

CONFIG = """\
version: 1
agents:
  expense:
    paths: [agent/skills/expense/**, agent/CLAUDE.md]
    workspace: agent
    target: command
    options: {argv: [python3, agent.py]}
    cases: [agent/skills/expense/evals/*.md]
    depends: [agent/skills/expense/reconcile.py]
"""
CASE = "---\nid: one\nutterance: hello\nexpected: {no_changes: true}\n---\nWhy.\n"


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as found:
        yield found


def project_of(opened: Repo) -> Project:
    return Project(opened, worktree_tree(opened), Store.open(opened.common_dir))


@pytest.mark.parametrize(
    ("stated", "defaults", "said"),
    [
        ("min_pass_rate: 0.9", "", r"one.md:4: min_pass_rate: .* `trials: 10` would do"),
        ("gate: firm\ntrials: 4", "", r"one.md:5: trials: gate firm can't pass in 4 trials"),
        ("", "{min_pass_rate: 0.8}", r"guard.yaml: agents.expense: .* `trials: 5` would do"),
    ],
)
def test_a_policy_that_no_trials_satisfy_is_refused_where_it_stands(
    repo: ScratchRepo, opened: Repo, stated: str, defaults: str, said: str
) -> None:
    config = f"{CONFIG}defaults: {defaults}\n" if defaults else CONFIG
    case = CASE.replace("expected:", f"{stated}\nexpected:" if stated else "expected:")
    repo.write({"guard.yaml": config, "agent/skills/expense/evals/one.md": case})
    with pytest.raises(ConfigError, match=said):
        _ = project_of(opened).cases


def test_a_case_belongs_to_the_agent_whose_globs_match(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"guard.yaml": CONFIG, "agent/skills/expense/evals/one.md": CASE})
    project = project_of(opened)
    assert project.cases["one"].agent == "expense"
    assert project.cases["one"].body == "Why."
    assert project.cases["one"].policy.gate is None


def test_own_paths_leave_out_what_checks_the_agent(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"guard.yaml": CONFIG, "agent/skills/expense/evals/one.md": CASE})
    own = project_of(opened).own_paths(project_of(opened).agents["expense"])
    assert own(b"agent/skills/expense/SKILL.md")
    assert own(b"agent/CLAUDE.md")
    assert not own(b"agent/skills/expense/evals/one.md")
    assert not own(b"agent/skills/expense/reconcile.py")
    assert not own(b"agent/other")


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("no front matter\n", r"one.md:1: a case begins with a line `---`"),
        ("---\nid: one\n", r"one.md:1: the front matter has no closing"),
        ("---\nexpected: {}\n---\n", r"one.md:\d: the key `id` is missing"),
        ("---\nid: one\nexpectd: {}\n---\n", r"one.md:3: expectd: .*did you mean `expected`"),
        ("---\nid: a b\n---\n", r"one.md:2: id: 'a b' is not an id"),
        ("---\nid: one\nagent: expnse\n---\n", r"one.md:3: agent: .*did you mean `expense`"),
        ("---\nid: one\nexpected:\n  no_changes: 1\n---\n", r"one.md:4: expected.no_changes: "),
        ("---\nid: one\ntrials: 0\n---\n", r"one.md:3: trials: must be at least 1"),
        ("---\nid: one\ngiven: {files: {../x: y}}\n---\n", r"one.md:3: .*leaves the workspace"),
        ("---\nid: one\npreconditions:\n  - no_mach: x\n---\n", r"one.md:4: .*`no_match`"),
        ("---\nid: one\nid: two\n---\n", r"one.md:3: id: stands here twice"),
        ("---\nid: one\ncounter_examples: [{fails: [x]}]\n---\n", r"one.md:3: .*what went wrong"),
    ],
)
def test_a_case_that_is_wrong_is_told_with_its_line(
    repo: ScratchRepo, opened: Repo, case: str, said: str
) -> None:
    repo.write({"guard.yaml": CONFIG, "agent/skills/expense/evals/one.md": case})
    with pytest.raises(ConfigError, match=said):
        _ = project_of(opened).cases


def test_two_cases_of_one_id_are_refused(repo: ScratchRepo, opened: Repo) -> None:
    folder = "agent/skills/expense/evals"
    repo.write({"guard.yaml": CONFIG, f"{folder}/one.md": CASE, f"{folder}/two.md": CASE})
    with pytest.raises(ConfigError, match=r"two.md:2: id: one stands in .*one.md too"):
        _ = project_of(opened).cases


def test_a_readme_among_the_cases_is_none(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"guard.yaml": CONFIG, "agent/skills/expense/evals/README.md": "# Cases\n"})
    assert project_of(opened).cases == {}


def test_an_expectation_that_nothing_reads_names_the_nearest(
    repo: ScratchRepo, opened: Repo
) -> None:
    case = CASE.replace("no_changes: true", "no_change: true")
    repo.write({"guard.yaml": CONFIG, "agent/skills/expense/evals/one.md": case})
    project = project_of(opened)
    with pytest.raises(ConfigError, match=r"one.md:4: expected.no_change: .*`no_changes`"):
        check_expectations(project, project.cases.values())


def test_a_wrong_value_in_always_is_told_in_guard_yaml(repo: ScratchRepo, opened: Repo) -> None:
    config = CONFIG + "    always: {exit_code: high}\n"
    repo.write({"guard.yaml": config, "agent/skills/expense/evals/one.md": CASE})
    project = project_of(opened)
    with pytest.raises(ConfigError, match=r"guard.yaml:10: agents.expense.always.exit_code: "):
        check_expectations(project, project.cases.values())


def test_a_target_that_no_plugin_offers_names_the_nearest(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"guard.yaml": CONFIG.replace("target: command", "target: comand")})
    project = project_of(opened)
    with pytest.raises(ConfigError, match=r"guard.yaml:6: .*did you mean `command`"):
        project.target_of(project.agents["expense"])


def test_an_agent_needs_paths_and_a_target(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"guard.yaml": "version: 1\nagents:\n  a: {paths: [x]}\n"})
    with pytest.raises(ConfigError, match=r"guard.yaml:3: agents.a: the key `target` is missing"):
        _ = project_of(opened).agents


def test_a_pattern_finds_the_agent_in_a_submodule(repo: ScratchRepo, opened: Repo) -> None:
    text = 'version: 1\nagents:\n  a: {each: "skills/*", target: command}\n'
    repo.commit("feat: base", {"guard.yaml": text, "skills/README.md": "x", "skills/b/x": "x"})
    inner = ScratchRepo(repo.root / "skills/c")
    inner.root.mkdir()
    inner.git("init", "-q")
    inner.commit("feat: skill", {"SKILL.md": "x"})
    assert list(project_of(opened).agents) == ["b", "c"]
    agent = project_of(opened).agents["c"]
    assert project_of(opened).own_paths(agent)(b"skills/c")
    assert not project_of(opened).own_paths(agent)(b"skills/cd")


def test_a_parsed_case_is_read_from_the_store_the_second_time(
    repo: ScratchRepo, opened: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write({"guard.yaml": CONFIG, "agent/skills/expense/evals/one.md": CASE})
    first = project_of(opened).cases

    def refuse(path: str, content: bytes) -> None:
        raise AssertionError(f"{path} was parsed again")

    monkeypatch.setattr("guard.cases.parse_cases", refuse)
    assert project_of(opened).cases == first


PLUGIN = """\
from guard.plugin import Agent, Evaluator, Prerequisite, Score, hookimpl

from .helper import NAME

@hookimpl
def guard_agents(project):
    assert project.read("prompts/p.md") == b"prompt"
    assert "prompts/p.md" in project.paths()
    return [Agent(NAME, paths=("prompts/**",), target="command", cases=("prompts/evals/*.md",))]

def polite(observation, expected):
    return [Score("polite", float("please" in observation.reply))]

@hookimpl
def guard_evaluators():
    return [Evaluator("polite", polite, reads=("polite",), writes=("polite",))]

@hookimpl
def guard_prerequisites():
    return [Prerequisite("moon", lambda arg: f"the moon is not {arg}")]
"""


def test_a_repository_plugin_contributes_and_imports_its_sibling(
    repo: ScratchRepo, opened: Repo
) -> None:
    repo.write(
        {
            "guard.yaml": "version: 1\nplugins: [evals/p.py]\nagents: {p: {timeout: 7}}\n",
            "evals/p.py": PLUGIN,
            "evals/helper.py": "NAME = 'p'\n",
            "prompts/p.md": "prompt",
            "prompts/evals/c.md": CASE.replace("no_changes", "polite"),
        }
    )
    project = project_of(opened)
    agent = project.agents["p"]
    assert agent.origin == "evals/p.py"
    assert project.cases["one"].policy.timeout == 7
    check_expectations(project, project.cases.values())
    assert project.plugins.prerequisites()["moon"].missing("full") == "the moon is not full"
    assert not project.own_paths(agent)(b"prompts/evals/c.md")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nosuchmodule", r"evals/p.py does not load: ModuleNotFoundError.*\(line 1\)"),
        ("x = (", r"does not load: SyntaxError.*\(line 1\)"),
        ("raise SystemError('no')", r"does not load: SystemError: no \(line 1\)"),
        (
            "from guard.plugin import hookimpl\n@hookimpl\ndef guard_targts(): return []",
            r"plugin evals/p.py \(guard.yaml\) does not fit: .*guard_targts",
        ),
        (
            "from guard.plugin import hookimpl\n@hookimpl\ndef guard_targets(wrong): return []",
            r"does not fit: .*wrong",
        ),
        (
            "from guard.plugin import hookimpl\n@hookimpl\ndef guard_targets(): return [3]",
            r"guard_targets must return Target values, not int",
        ),
        (
            "from guard.plugin import hookimpl\n@hookimpl\ndef guard_targets(): return 1 / 0",
            r"guard_targets raised ZeroDivisionError",
        ),
    ],
)
def test_a_broken_plugin_is_one_line_with_the_way_out(
    repo: ScratchRepo, opened: Repo, source: str, said: str
) -> None:
    repo.write({"guard.yaml": "version: 1\nplugins: [evals/p.py]\n", "evals/p.py": source})
    with pytest.raises(PluginError, match=said) as caught:
        project_of(opened).plugins.targets()
    assert "\n" not in caught.value.message
    if "does not load" not in said:
        assert "GUARD_DISABLED_PLUGINS=evals/p.py" in caught.value.hint


def test_a_plugin_file_that_is_not_in_the_tree(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"guard.yaml": "version: 1\nplugins: [evals/p.py]\n"})
    with pytest.raises(PluginError, match=r"names evals/p\.py, which is not in the tree") as caught:
        _ = project_of(opened).plugins
    assert caught.value.hint == "git add evals/p.py"


def test_two_trees_never_share_a_plugin(repo: ScratchRepo, opened: Repo) -> None:
    source = "from guard.plugin import *\n@hookimpl\ndef guard_is_fix(commit): return {!r}\n"
    repo.write({"guard.yaml": "version: 1\nplugins: [p.py]\n", "p.py": source.format("old")})
    old = project_of(opened)
    repo.write({"p.py": source.format("new")})
    new = project_of(opened)
    results = [p.plugins.call("guard_is_fix", commit=None)[0][1] for p in (old, new, old)]
    assert results == ["old", "new", "old"]


def test_without_a_plugin_that_has_a_say_none_is_loaded(repo: ScratchRepo, opened: Repo) -> None:
    repo.write({"guard.yaml": CONFIG})
    assert project_of(opened).plugins_with("guard_is_fix") is None
    assert project_of(opened).plugins_with("guard_targets") is not None


def test_every_error_of_ours_has_an_exit_code() -> None:
    assert GuardError("x").exit_code == 3
    assert PluginError("x").exit_code == 2
