"""Whether a change can affect any case: never no where `guard.affected` says yes."""

from __future__ import annotations

import pytest

from guard.affected import affected_cases
from guard.change import change_of_trees, diff_trees
from guard.git import find_repo
from guard.hookruns.watched import may_affect
from guard.project import Project
from guard.session import Session
from guard.snapshot import revision_tree
from tests.conftest import ScratchRepo

CONFIG = """\
version: 1
plugins: [tools/own.py]
served: [deploy.json]
agents:
  talk:
    paths: [skills/talk/**]
    workspace: skills
    target: command
    options: {argv: [cat]}
    cases: [evals/*.md]
    depends: [evals/table.csv]
    evaluators: [checks/exact.py:exact]
    always: {command: {argv: [python3, "{repo}/scripts/always.py"]}}
  each-skill:
    each: "plugins/*/skills/*"
    target: command
    options: {argv: [cat]}
    cases: ["{dir}/evals/*.md"]
    depends: ["{dir}/data/{name}.csv"]
"""
CASE = """\
---
id: {id}
agent: {agent}
utterance: hello
given: {{files: {{note.txt: {{from: {fixture}}}}}}}
expected: {{command: {{argv: [sh, "{{repo}}/scripts/{id}.sh"]}}}}
---
"""
FILES = {
    "guard.yaml": CONFIG,
    "tools/own.py": "",
    "tools/sibling.py": "",
    "checks/exact.py": "def exact(observation, expected):\n    return True\n",
    "deploy.json": "{}\n",
    "skills/talk/SKILL.md": "---\nname: talk\n---\n",
    "evals/a.md": CASE.format(id="a", agent="talk", fixture="fixtures/a.txt"),
    "evals/table.csv": "1\n",
    "fixtures/a.txt": "1\n",
    "scripts/a.sh": "true\n",
    "scripts/always.py": "",
    "plugins/x/skills/y/SKILL.md": "---\nname: y\n---\n",
    "plugins/x/skills/y/evals/b.md": CASE.format(id="b", agent="y", fixture="fixtures/b.txt"),
    "plugins/x/skills/y/data/y.csv": "1\n",
    "README.md": "hello\n",
    "src/app.py": "1\n",
    "fixtures/unused.txt": "1\n",
}
AFFECTING = [
    "guard.yaml",
    "tools/own.py",
    "tools/sibling.py",
    "checks/exact.py",
    "skills/talk/SKILL.md",
    "skills/talk/more.md",
    "evals/a.md",
    "evals/table.csv",
    "fixtures/a.txt",
    "fixtures/b.txt",
    "scripts/a.sh",
    "scripts/b.sh",
    "scripts/always.py",
    "plugins/x/skills/y/SKILL.md",
    "plugins/x/skills/y/evals/b.md",
    "plugins/x/skills/y/data/y.csv",
    "skills/other/SKILL.md",
]


def judge(repo: ScratchRepo, base: str = "HEAD^") -> tuple[bool, bool]:
    """Return whether HEAD's change may affect a case, and whether it does."""
    with Session.open(str(repo.root)) as session:
        before, after = session.project(base), session.project("HEAD")
        change = change_of_trees(session.repo, before.tree, after.tree)
        asked = may_affect(before, after, change.entries)
        found = affected_cases(session.project("HEAD"), session.project(base), change, {})
        return asked, bool(found)


@pytest.fixture
def guarded(repo: ScratchRepo) -> ScratchRepo:
    """A repository whose cases the store has parsed."""
    repo.commit("feat: all", {**FILES, "fixtures/b.txt": "1\n", "scripts/b.sh": "true\n"})
    with Session.open(str(repo.root)) as session:
        assert set(session.project("HEAD").cases) == {"a", "b"}
    return repo


@pytest.mark.parametrize("path", AFFECTING)
def test_what_affects_a_case_is_seen(guarded: ScratchRepo, path: str) -> None:
    old = FILES.get(path, "")
    guarded.commit("change", {path: f"{old}# more\n" if path != "guard.yaml" else old + "# x\n"})
    asked, _ = judge(guarded)
    assert asked


@pytest.mark.parametrize("path", [p for p in AFFECTING if p != "guard.yaml"])
def test_superset_of_what_is_affected(guarded: ScratchRepo, path: str) -> None:
    (guarded.root / path).unlink(missing_ok=True)
    if path.endswith((".py", ".sh", ".txt", ".csv")):
        guarded.write({path: "2\n"})
    guarded.commit("change")
    asked, affected = judge(guarded)
    assert asked or not affected


@pytest.mark.parametrize("path", ["README.md", "src/app.py", "fixtures/unused.txt", "evals/x.txt"])
def test_what_affects_nothing_is_left_alone(guarded: ScratchRepo, path: str) -> None:
    guarded.commit("change", {path: "other\n"})
    assert judge(guarded) == (False, False)


def test_case_that_was_never_parsed_is_looked_at(repo: ScratchRepo) -> None:
    repo.commit("feat: all", FILES)
    repo.commit("docs: more", {"README.md": "other\n"})
    asked, _ = judge(repo)
    assert asked


def test_agent_that_is_taken_away_is_seen_in_the_state_before(guarded: ScratchRepo) -> None:
    without = "version: 1\nagents: {}\n"
    guarded.commit("feat: less", {"guard.yaml": without, "skills/talk/SKILL.md": None})
    assert judge(guarded)[0]


@pytest.mark.parametrize(
    ("path", "seen"), [("skills/talk/vendored", True), ("vendored", False), ("evals", True)]
)
def test_gitlink_is_seen_where_something_watched_may_be(
    guarded: ScratchRepo, path: str, seen: bool
) -> None:
    oid = guarded.git("rev-parse", "HEAD").strip()
    guarded.git("rm", "-r", "-q", "--cached", "--ignore-unmatch", path)
    guarded.git("update-index", "--add", "--cacheinfo", f"160000,{oid},{path}")
    guarded.git("commit", "-q", "-m", "chore: vendor")
    assert judge(guarded)[0] is seen


PLUGIN = """\
from guard.plugin import hookimpl{more}

@hookimpl
{mark}
def guard_affected(change, agent, case):
    return None
{after}
"""


def commit_plugin(repo: ScratchRepo, more: str = "", mark: str = "", after: str = "") -> None:
    """Commit a plugin that is asked what a commit affects; let the store know its cases."""
    files = {"tools/own.py": PLUGIN.format(more=more, mark=mark, after=after)}
    repo.commit("feat: ask", files)
    with Session.open(str(repo.root)) as session:
        assert session.project("HEAD").cases


def test_plugin_that_says_nothing_of_its_paths_is_asked_for_all(guarded: ScratchRepo) -> None:
    commit_plugin(guarded)
    guarded.commit("docs: more", {"README.md": "other\n"})
    assert judge(guarded)[0]


@pytest.mark.parametrize(
    "declared",
    [
        {"more": ", watch", "mark": '@watch("prices/**", "README.md")'},
        {"after": 'guard_affected.watch = ["prices/**", "README.md"]'},
    ],
)
def test_plugin_that_declares_its_paths_is_asked_for_them_alone(
    guarded: ScratchRepo, declared: dict[str, str]
) -> None:
    commit_plugin(guarded, **declared)
    guarded.commit("docs: more", {"src/app.py": "2\n"})
    assert not judge(guarded)[0]
    guarded.commit("docs: more", {"README.md": "other\n"})
    assert judge(guarded)[0]
    guarded.commit("chore: dearer", {"prices/eu/taxi.csv": "2\n"})
    assert judge(guarded)[0]


def test_cases_that_a_plugin_reads_are_known_too(guarded: ScratchRepo) -> None:
    reader = """
@hookimpl
def guard_load_cases(path, text):
    return None
"""
    commit_plugin(guarded, ", watch", '@watch("prices/**")', reader)
    guarded.commit("docs: more", {"README.md": "other\n"})
    assert not judge(guarded)[0]


def test_without_guard_yaml_nothing_is_guarded(repo: ScratchRepo) -> None:
    repo.commit("feat: a", {"skills/a/SKILL.md": "1"})
    repo.commit("feat: b", {"skills/a/SKILL.md": "2"})
    assert not judge(repo)[0]


def test_no_change_affects_nothing(guarded: ScratchRepo) -> None:
    with find_repo(str(guarded.root)) as repo:
        tree = revision_tree(repo, "HEAD")
        assert diff_trees(repo, tree, tree) == ()
    with Session.open(str(guarded.root)) as session:
        project: Project = session.project("HEAD")
        assert not may_affect(project, project, ())
