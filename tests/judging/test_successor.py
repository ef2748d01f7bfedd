from __future__ import annotations

from collections.abc import Generator

import pytest

from guard.change import diff_trees
from guard.errors import ConfigError, UsageError
from guard.git import Repo, bytes_of, find_repo
from guard.judging.record_texts import RecordTexts
from guard.judging.successor import NextTree, Successor
from guard.project import Project
from guard.store import Store
from guard.tree import Tree
from tests.conftest import ScratchRepo
from tests.guarded_repo import CASE, CASE_TEXT, GUARD_YAML, RECORDS, RETAINED, record, records

EACH = """\
version: 1
agents:
  skills:
    each: "skills/*"
    target: command
    options: {argv: [cat, SKILL.md]}
    cases: ["{dir}/evals/*.md"]
"""
PLUGIN = """\
from guard.plugin import Agent, hookimpl

@hookimpl
def guard_agents(project):
    return [Agent(name, paths=("x/**",), target="command") for name in NAMES]

"""
TWO = CASE_TEXT.replace("eur-taxi", "two")


class Line:
    """A line of commits, each project told from the one before and made anew."""

    def __init__(self, repo: ScratchRepo, opened: Repo) -> None:
        self.repo = repo
        self.opened = opened
        self.texts = RecordTexts()
        self.project = self.anew()

    def anew(self) -> Project:
        oid = self.repo.git("rev-parse", "HEAD^{tree}").strip()
        store = Store.open(self.opened.common_dir)
        return Project(self.opened, Tree(self.opened, oid), store)

    def follow(self, files: dict[str, str | bytes | None]) -> Successor:
        """Commit; return the project told from the one before."""
        self.repo.commit("next", files)
        fresh = self.anew()
        entries = diff_trees(self.opened, self.project.tree, fresh.tree)
        tree = NextTree(self.project.tree, fresh.tree.oid, entries)
        self.project = Successor(self.project, tree, entries, self.texts)
        return self.project

    def check(self) -> None:
        """Compare what is told with what is read."""
        fresh, told = self.anew(), self.project
        assert told.has_config == fresh.has_config
        assert told.config == fresh.config
        assert told.agents == fresh.agents
        assert list(told.cases.items()) == list(fresh.cases.items())
        assert told.records == fresh.records
        assert told.regressions_document == fresh.regressions_document
        assert list(told.tree.entries().items()) == list(fresh.tree.entries().items())
        for path in fresh.tree.entries():
            assert told.is_guards_own(path) == fresh.is_guards_own(path)
            assert told.tree.get(path) == fresh.tree.get(path)


@pytest.fixture
def line(repo: ScratchRepo) -> Generator[Line]:
    repo.commit("feat: base", RETAINED)
    with find_repo(str(repo.root)) as opened:
        yield Line(repo, opened)


STEPS: dict[str, dict[str, str | bytes | None]] = {
    "other file": {"a": "1\n"},
    "skill": {"skills/expense/SKILL.md": "other\n"},
    "case changed": {CASE: CASE_TEXT.replace("[euro]", "[eur]")},
    "case added": {"evals/cases/a.md": TWO},
    "case deleted": {CASE: None},
    "records": {RECORDS: records(eur_taxi=record(), two=record(case="evals/cases/a.md"))},
    "records gone": {RECORDS: None},
    "config": {"guard.yaml": GUARD_YAML.replace("expense:", "other:")},
    "config gone": {"guard.yaml": None},
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("asked", [True, False])
def test_what_is_told_is_what_is_there(line: Line, step: str, asked: bool) -> None:
    if asked:
        line.check()
    line.follow(STEPS[step])
    line.check()


def test_many_steps_of_which_few_are_looked_at(line: Line) -> None:
    line.check()
    for number, files in enumerate([*STEPS.values()][:6]):
        line.follow({**files, "n": f"{number}\n"})
    line.check()
    line.follow({"evals/cases/z.md": TWO.replace("two", "three"), CASE: CASE_TEXT})
    line.follow({"n": None})
    line.check()


def test_what_stays_is_not_made_again(line: Line) -> None:
    line.check()
    before = line.project
    after = line.follow({"a": "1\n"})
    assert after.agents is before.agents
    assert after.records is before.records
    assert after.cases["eur-taxi"] is before.cases["eur-taxi"]


def test_more_steps_than_are_remembered(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard.judging.successor.MOST_PENDING", 2)
    line.check()
    for name in ("one", "two", "three", "four"):
        line.follow({name: "1\n"})
    line.check()


def test_an_id_that_stands_twice_is_refused_as_ever(line: Line) -> None:
    line.check()
    line.follow({"evals/cases/a.md": CASE_TEXT})
    with pytest.raises(ConfigError) as expected:
        _ = line.anew().cases
    with pytest.raises(ConfigError) as caught:
        _ = line.project.cases
    assert str(caught.value) == str(expected.value)


def test_folders_of_a_pattern_come_and_go(line: Line) -> None:
    line.follow({"guard.yaml": EACH, RECORDS: None})
    line.check()
    steps: list[dict[str, str | bytes | None]] = [
        {"skills/b/SKILL.md": "b\n"},
        {"skills/b/more.md": "b\n"},
        {"skills/b/more.md": None},
        {"skills/b/SKILL.md": None, "skills/c/SKILL.md": "c\n"},
        {"skills/c/SKILL.md": "changed\n"},
    ]
    for files in steps:
        line.follow(files)
        line.check()
    assert list(line.project.agents) == ["c", "expense"]


def test_a_submodule_may_be_a_folder_of_a_pattern(line: Line) -> None:
    line.follow({"guard.yaml": EACH, RECORDS: None})
    line.check()
    commit = line.repo.git("rev-parse", "HEAD").strip()
    line.repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},skills/sub")
    line.repo.git("commit", "-qm", "sub")
    fresh = line.anew()
    entries = diff_trees(line.opened, line.project.tree, fresh.tree)
    tree = NextTree(line.project.tree, fresh.tree.oid, entries)
    line.project = Successor(line.project, tree, entries, line.texts)
    line.check()
    assert "sub" in line.project.agents


def test_agents_of_a_plugin_are_asked_for_each_time(line: Line) -> None:
    config = GUARD_YAML + "plugins: [evals/guard_plugin.py]\n"
    plugin = "NAMES = ['p']\n" + PLUGIN
    line.follow({"guard.yaml": config, "evals/guard_plugin.py": plugin})
    line.check()
    line.follow({"a": "1\n"})
    line.check()
    assert "p" in line.project.agents
    line.follow({"evals/guard_plugin.py": plugin.replace("'p'", "'q'")})
    line.check()
    assert "q" in line.project.agents


def test_what_a_plugin_imports_lies_beside_it(line: Line) -> None:
    config = GUARD_YAML + "plugins: [plugs/guard_plugin.py]\n"
    plugin = "from .names import NAMES\n" + PLUGIN
    line.follow(
        {"guard.yaml": config, "plugs/guard_plugin.py": plugin, "plugs/names.py": "NAMES = 'p'\n"}
    )
    line.check()
    line.follow({"plugs/names.py": "NAMES = 'q'\n"})
    line.check()
    assert "q" in line.project.agents


def test_a_wrong_file_is_wrong_until_it_is_mended(line: Line) -> None:
    line.check()
    line.follow({"guard.yaml": "version: 1\nagnets: {}\n"})
    with pytest.raises(UsageError):
        _ = line.project.agents
    line.follow({"a": "1\n"})
    with pytest.raises(UsageError):
        _ = line.project.agents
    line.follow({"guard.yaml": GUARD_YAML})
    line.check()


def test_no_project_holds_the_one_before(line: Line) -> None:
    line.check()
    before = line.project
    after = line.follow({"a": "1\n"})
    held = (*vars(after).values(), *vars(after.tree).values())
    assert not any(value is before or value is before.tree for value in held)
    assert after.tree.get(bytes_of("a")) is not None
