"""Why a case is run again: every reason, with what doesn't give it, in the order they are told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guard.affected import affected_cases
from guard.change import change_of_trees
from guard.session import Session
from tests.conftest import ScratchRepo
from tests.guard_command import CLERK, case, config

Files = dict[str, str | bytes | None]

SKILL = "---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n"
PLUGIN = """\
from guard.plugin import hookimpl


@hookimpl
def guard_affected(change, agent, case):
    if case.id == "one" and b"prices.csv" in change.paths:
        return "prices changed"
"""
CLERK_HERE: dict[str, Any] = {
    **CLERK,
    "paths": ["agent/rules.md", "agent/skills/**"],
    "options": {"argv": ["sh", "{repo}/tools/run.sh", "{utterance}"]},
    "cases": ["evals/clerk/*.md"],
    "depends": ["evals/tables/**"],
    "evaluators": ["evals/code/checks.py:exact"],
    "always": {"command": {"argv": ["sh", "-c", "sh {repo}/evals/always.sh quietly"]}},
}
PORTER: dict[str, Any] = {
    **CLERK,
    "paths": ["porter/**"],
    "workspace": "porter",
    "cases": ["evals/porter/*.md"],
}
NAMING = {"command": {"argv": ["sh", "--rules={repo}/evals/named.txt"]}}
RECORD = {"agent": "clerk", "before": {"kind": "parent"}, "fails_on": ["command"], "proof": None}


def agents(**changes: Any) -> Files:
    """Return guard.yaml, with changed keys of the clerk."""
    return config({"clerk": {**CLERK_HERE, **changes}, "porter": PORTER})


def moved(files: dict[str, str], folder: str) -> Files:
    return {path.replace("evals/", f"evals/{folder}/"): text for path, text in files.items()}


def one(**keys: Any) -> Files:
    given = {"files": {"letter": {"from": "evals/fixtures/letter"}}}
    return moved(case("echo hello", NAMING, **{"given": given, **keys}), "clerk")


def record(**changes: Any) -> str:
    fields = {**RECORD, "case": "evals/clerk/one.md", "status": "active", **changes}
    document = {"schema": "guard.regressions.v1", "incidents": {}, "regressions": {"one": fields}}
    return json.dumps(document, indent=2) + "\n"


BASE: Files = {
    **agents(),
    "agent/data.md": "12\n",
    "agent/skills/tea/SKILL.md": SKILL,
    "porter/rules.md": "x\n",
    "porter/SKILL.md": SKILL.replace("tea", "porter"),
    "evals/tables/t.csv": "1\n",
    "evals/code/checks.py": "def exact(observation, expected):\n    return None\n",
    "evals/always.sh": "true\n",
    "evals/named.txt": "1\n",
    "evals/fixtures/letter": "Dear\n",
    "tools/run.sh": 'eval "$1"\n',
    "readme.md": "x\n",
    "regressions.json": record(),
    **one(),
    **moved(case(id="two", agent="clerk"), "clerk"),
    **moved(case(id="door", agent="porter"), "porter"),
}


@pytest.fixture
def base(repo: ScratchRepo) -> ScratchRepo:
    repo.commit("feat: base", BASE)
    return repo


def reasons(repo: ScratchRepo, **last_verdicts: str) -> dict[str, tuple[str, ...]]:
    """Return id → reasons, of what the working tree changes since HEAD."""
    with Session.open(str(repo.root)) as session:
        before, now = session.head_project(), session.project()
        change = change_of_trees(session.repo, before.tree, now.tree)
        found = affected_cases(now, before, change, last_verdicts)
    return {selected.case.id: selected.affected_by for selected in found}


BOTH = {"one", "two"}


@pytest.mark.parametrize(
    ("change", "affected", "reason"),
    [
        (one(utterance="echo hello there"), {"one"}, "case"),
        ({"evals/fixtures/letter": "Sir\n"}, {"one"}, "case"),
        ({"agent/rules.md": "Be stern.\n"}, BOTH, "agent"),
        ({"agent/rules.md": None}, BOTH, "agent"),
        ({"agent/skills/tea/more.md": "x\n"}, BOTH, "agent"),
        ({"porter/rules.md": "y\n"}, {"door"}, "agent"),
        ({"evals/tables/t.csv": "2\n"}, BOTH, "depends"),
        ({"evals/tables/new/u.csv": "2\n"}, BOTH, "depends"),
        ({"evals/always.sh": "false\n"}, BOTH, "depends"),
        ({"evals/named.txt": "2\n"}, {"one"}, "depends"),
        ({"tools/run.sh": "exit 1\n"}, BOTH, "depends"),
        ({"evals/code/checks.py": "def exact(observation, expected): ...\n"}, BOTH, "plugin"),
        ({"evals/code/helper.py": "A = 1\n"}, BOTH, "plugin"),
        (agents(env=["TEA"]), BOTH, "config"),
        (agents(trials=2), BOTH, "config"),
        ({"regressions.json": record(fails_on=["exit_code"])}, {"one"}, "record"),
    ],
)
def test_each_reason_alone(
    base: ScratchRepo, change: Files, affected: set[str], reason: str
) -> None:
    base.write(change)
    found = reasons(base)
    assert found == dict.fromkeys(affected, (reason,))


@pytest.mark.parametrize(
    "change",
    [
        {"readme.md": "y\n"},
        {"agent/data.md": "13\n", "agent/new.md": "x\n"},
        {"evals/clerk/notes.txt": "x\n"},
        {"evals/fixtures/other": "x\n"},
        {"evals/named.txt.bak": "x\n"},
        {"tools/other.sh": "x\n"},
        {"porter/../notes": "x\n"},
    ],
)
def test_anything_else_affects_nothing(base: ScratchRepo, change: Files) -> None:
    base.write(change)
    assert reasons(base) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"agent/skills/milk/SKILL.md": SKILL.replace("tea", "milk")},
        {"agent/skills/tea/SKILL.md": SKILL.replace("Makes", "Serves")},
        {"agent/skills/tea/SKILL.md": SKILL.replace("name: tea", "name: chai")},
        {"agent/skills/tea/SKILL.md": None},
        {
            "agent/skills/tea/SKILL.md": None,
            "agent/skills/chai/SKILL.md": SKILL,
        },
    ],
    ids=["added", "described", "named", "removed", "renamed"],
)
def test_discovery_affects_all_agents_of_the_workspace(repo: ScratchRepo, change: Files) -> None:
    """The second agent shares the workspace, and none of these files is its own."""
    other = {**CLERK, "cases": ["evals/other/*.md"]}
    files = moved(case(id="other", agent="other"), "other")
    repo.commit("feat: base", BASE)
    repo.commit("feat: other", {**config({"clerk": CLERK_HERE, "other": other}), **files})
    repo.write({"evals/porter/door.md": None})
    repo.commit("feat: no porter")
    repo.write(change)
    found = reasons(repo)
    assert found == {
        "one": ("agent", "discovery"),
        "two": ("agent", "discovery"),
        "other": ("discovery",),
    }


def test_a_skills_body_is_no_discovery_and_another_workspaces_neither(base: ScratchRepo) -> None:
    base.write({"agent/skills/tea/SKILL.md": SKILL + "Wait.\n"})
    assert reasons(base) == {"one": ("agent",), "two": ("agent",)}
    base.write({"agent/skills/tea/SKILL.md": SKILL, "porter/SKILL.md": SKILL})
    assert reasons(base) == {"door": ("agent", "discovery")}


@pytest.mark.parametrize("verdict", ["FAIL", "ERROR", "SKIP", "XPASS", "INCONCLUSIVE", "OWED"])
def test_a_last_verdict_that_is_no_pass_is_a_reason(base: ScratchRepo, verdict: str) -> None:
    assert reasons(base, one=verdict) == {"one": ("last-verdict",)}


def test_a_last_verdict_that_holds_is_none(base: ScratchRepo) -> None:
    assert reasons(base, one="PASS", two="XFAIL", gone="FAIL") == {}


def test_a_plugin_may_give_a_reason(base: ScratchRepo) -> None:
    files = json.loads(str(BASE["guard.yaml"]))
    base.commit(
        "feat: plugin",
        {
            "guard.yaml": json.dumps({**files, "plugins": ["plugins/own.py"]}),
            "plugins/own.py": PLUGIN,
        },
    )
    assert reasons(base) == {}
    base.write({"prices.csv": "1\n"})
    assert reasons(base) == {"one": ("plugin:plugins/own.py",)}
    base.write({"plugins/own.py": PLUGIN + "\n"})
    assert reasons(base) == {
        "door": ("plugin",),
        "one": ("plugin", "plugin:plugins/own.py"),
        "two": ("plugin",),
    }


def test_all_reasons_come_in_order(base: ScratchRepo) -> None:
    files = json.loads(str(BASE["guard.yaml"]))
    base.commit(
        "feat: plugin",
        {
            "guard.yaml": json.dumps({**files, "plugins": ["plugins/own.py"]}),
            "plugins/own.py": PLUGIN,
        },
    )
    changed = json.loads(str(agents(env=["TEA"])["guard.yaml"]))
    base.write(
        {
            **one(utterance="echo hello there"),
            "agent/rules.md": "Be stern.\n",
            "evals/tables/t.csv": "2\n",
            "plugins/own.py": PLUGIN + "\n",
            "guard.yaml": json.dumps({**changed, "plugins": ["plugins/own.py"]}),
            "regressions.json": record(fails_on=["exit_code"]),
            "agent/skills/milk/SKILL.md": SKILL,
            "prices.csv": "1\n",
        }
    )
    assert reasons(base, one="FAIL")["one"] == (
        "case",
        "agent",
        "depends",
        "plugin",
        "config",
        "record",
        "discovery",
        "last-verdict",
        "plugin:plugins/own.py",
    )


def test_a_path_that_left_the_agent_still_counts(base: ScratchRepo) -> None:
    base.write(agents(paths=["agent/skills/**"]))
    base.write({"agent/rules.md": "Be stern.\n"})
    assert reasons(base) == dict.fromkeys(BOTH, ("agent", "config"))


def test_a_new_agent_and_its_case(base: ScratchRepo) -> None:
    new = {**CLERK, "paths": ["new/**"], "workspace": "new", "cases": ["evals/new/*.md"]}
    base.write(config({"clerk": CLERK_HERE, "porter": PORTER, "new": new}))
    base.write({"new/x": "x\n", **moved(case(id="new", agent="new"), "new")})
    assert reasons(base) == {"new": ("case", "agent", "config")}


def test_a_file_that_moved_into_the_agent_by_configuration_alone(base: ScratchRepo) -> None:
    base.write(agents(paths=[*CLERK_HERE["paths"], "agent/data.md"]))
    assert reasons(base) == dict.fromkeys(BOTH, ("config",))


def test_everything_is_affected_where_the_state_before_cannot_be_read(repo: ScratchRepo) -> None:
    """Otherwise the commit that mends guard.yaml could never be judged."""
    repo.commit("feat: broken", {**BASE, "guard.yaml": "version: 1\nagents: [\n"})
    repo.write(agents())
    assert {name: found[-1] for name, found in reasons(repo).items()} == {
        "door": "config",
        "one": "config",
        "two": "config",
    }


def test_before_the_first_commit_every_case_is_new(repo: ScratchRepo) -> None:
    repo.write(BASE)
    assert {name: found[0] for name, found in reasons(repo).items()} == {
        "door": "case",
        "one": "case",
        "two": "case",
    }


def test_a_renamed_case_file_is_a_changed_case(base: ScratchRepo) -> None:
    (base.root / "evals/clerk/two.md").rename(base.root / "evals/clerk/second.md")
    assert reasons(base) == {"two": ("case",)}


@pytest.mark.parametrize("folder", ["porter", "agent/skills/tea"])
def test_a_moved_submodule_is_a_change_of_its_folder(base: ScratchRepo, folder: str) -> None:
    base.git("rm", "-rq", folder)
    inner = ScratchRepo(base.root / folder)
    inner.root.mkdir(parents=True)
    inner.git("init", "-q")
    inner.commit("one", {"SKILL.md": "1"})
    base.git("add", "-A")
    base.git("commit", "-qm", "submodule")
    assert reasons(base) == {}
    inner.commit("two", {"SKILL.md": "2"})
    found = reasons(base)
    assert set(found) == ({"door"} if folder == "porter" else BOTH)
    assert all(why == ("agent",) for why in found.values())
