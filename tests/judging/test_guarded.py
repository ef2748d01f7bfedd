from __future__ import annotations

from collections.abc import Generator

import pytest

from guard.change import DiffEntry
from guard.git import bytes_of, find_repo
from guard.judging.guarded import concerns
from guard.project import Project
from guard.store import Store
from guard.tree import Entry, Tree
from tests.conftest import ScratchRepo
from tests.guarded_repo import GUARD_YAML

FILE = Entry("100644", "1" * 40)
GITLINK = Entry("160000", "2" * 40)
EACH = """\
version: 1
agents:
  all: {each: "plugins/*/skills/*", target: command, cases: ["{dir}/evals/*.md", "evals/{name}/*"]}
"""


class Opener:
    def __init__(self, repo: ScratchRepo) -> None:
        self.repo = repo
        self.opened = find_repo(str(repo.root))

    def project(self, files: dict[str, str]) -> Project:
        self.repo.commit("feat: base", files)
        tree = Tree(self.opened, self.opened.resolve("HEAD^{tree}") or "")
        return Project(self.opened, tree, Store.open(self.opened.common_dir))


@pytest.fixture
def opener(repo: ScratchRepo) -> Generator[Opener]:
    found = Opener(repo)
    yield found
    found.opened.close()


def touches(project: Project, path: str, entry: Entry = FILE) -> bool:
    return concerns(project, [DiffEntry(bytes_of(path), None, entry)])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("skills/expense/SKILL.md", True),
        ("evals/cases/a.md", True),
        ("guard.yaml", True),
        ("regressions.json", True),
        ("README.md", False),
        ("skills/other/SKILL.md", False),
        ("evals/cases/a.txt", False),
    ],
)
def test_paths_of_guard_yaml(opener: Opener, path: str, expected: bool) -> None:
    assert touches(opener.project({"guard.yaml": GUARD_YAML}), path) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("plugins/a/skills/b/SKILL.md", True),
        ("plugins/a/skills/b/evals/x.md", True),
        ("evals/b/x.md", True),
        ("plugins/a/README.md", False),
    ],
)
def test_a_pattern_is_told_without_a_listing(opener: Opener, path: str, expected: bool) -> None:
    project = opener.project({"guard.yaml": EACH})
    assert touches(project, path) is expected
    assert "agents" not in vars(project)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("skills", True),
        ("skills/expense", True),
        ("skills/expense/vendored", True),
        ("elsewhere", False),
        ("skills/other", False),
    ],
)
def test_a_gitlink_where_an_agent_may_be(opener: Opener, path: str, expected: bool) -> None:
    project = opener.project({"guard.yaml": GUARD_YAML})
    assert touches(project, path, GITLINK) is expected


def test_any_gitlink_may_hold_an_agent_whose_glob_begins_anywhere(opener: Opener) -> None:
    yaml = GUARD_YAML.replace("skills/expense/**", '"**/prompt.md"')
    assert touches(opener.project({"guard.yaml": yaml}), "elsewhere", GITLINK)
    assert not touches(opener.project({"guard.yaml": yaml}), "elsewhere")


@pytest.mark.parametrize(("path", "expected"), [("skills", True), ("skill", False)])
def test_a_link_where_an_agents_folder_would_be(opener: Opener, path: str, expected: bool) -> None:
    """What it leads to is the agent then, as `own_paths` has it."""
    link = Entry("120000", "3" * 40)
    assert touches(opener.project({"guard.yaml": GUARD_YAML}), path, link) is expected


def test_without_guard_yaml_nothing_is_guarded(opener: Opener) -> None:
    assert not touches(opener.project({"a": "1\n"}), "guard.yaml")


def test_a_guard_yaml_that_is_wrong_may_guard_anything(opener: Opener) -> None:
    assert touches(opener.project({"guard.yaml": "agnets: {}\n"}), "README.md")


def test_what_a_plugin_contributes(opener: Opener) -> None:
    plugin = "from guard.plugin import Agent, hookimpl\n\n@hookimpl\ndef guard_agents(project):\n"
    plugin += "    return [Agent('x', paths=('agents/x/**',), target='command')]\n"
    files = {"guard.yaml": "version: 1\nplugins: [evals/p.py]\n", "evals/p.py": plugin}
    project = opener.project(files)
    assert touches(project, "agents/x/prompt.md")
    assert not touches(project, "agents/y/prompt.md")
