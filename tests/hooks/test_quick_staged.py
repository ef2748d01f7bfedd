"""What is staged, where HEAD is and what is configured: reasons of the repository's own.

The negative control of all: `quick` is a repository where the same commit needs no Python.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.hooks.installed import CONFIG, FILES, GOOD_TALK, TALK, TALK_CASE, Files, case
from tests.hooks.quick_repo import BOTH, QuickRepo, make_quick, stage_more, stage_unguarded

PLUGIN = "from guard.plugin import hookimpl\n\n\n@hookimpl\n"


# Where HEAD is --------------------------------------------------------------------------------

NAMING = case("greets", "say hello", "given: {files: {note.txt: {from: README.md}}}\n")


@pytest.mark.parametrize(
    "files",
    [
        {"guard.yaml": CONFIG + "    depends: [README.md]\n"},
        {TALK_CASE: NAMING},
        {TALK: GOOD_TALK + "Again.\n"},
        {"evals/talk/other.md": case("other", "say hello")},
        {"regressions.json": '{"schema": "guard.regressions.v1"}\n'},
    ],
)
def test_head_moved_on_what_is_watched(quick: QuickRepo, files: Files) -> None:
    """A pull brings other settings, or a case that names a file: README.md counts then."""
    quick.bypass("feat: pulled", files)
    stage_unguarded(quick)
    assert quick.starts()[:1] == ["pre-commit"]


def test_fixture_of_a_case_is_watched_from_then_on(tmp_path: Path) -> None:
    quick = make_quick(tmp_path / "quick", {**FILES, TALK_CASE: NAMING})
    for number in range(2):
        quick.stage({"warm.txt": f"{number}\n"})
        quick.starts()
    assert quick.started() == []
    stage_unguarded(quick)
    assert quick.starts() == BOTH


def test_tree_of_the_list_is_gone(staged: QuickRepo) -> None:
    staged.git("checkout", "-q", "--orphan", "fresh")
    staged.git("commit", "-q", "--no-verify", "-m", "feat: all")
    tree = re.search(r"^tree=(\w+)$", staged.listed.read_text(), re.MULTILINE)
    assert tree
    (staged.root / ".git" / "objects" / tree[1][:2] / tree[1][2:]).unlink()
    stage_more(staged)
    assert staged.starts() == ["pre-commit"]
    stage_more(staged)
    assert staged.starts() == []


# What is staged -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "guard.yaml",
        "regressions.json",
        "skills/talk/new.md",
        "evals/talk/new.md",
        "anywhere/else/SKILL.md",
        "SKILL.md",
    ],
)
def test_something_watched_is_staged(staged: QuickRepo, path: str) -> None:
    content = {"guard.yaml": CONFIG + "# more\n", "regressions.json": "{}\n"}
    staged.stage({path: content.get(path, GOOD_TALK)})
    staged.try_commit("-m", "docs: x")
    assert staged.started()[:1] == ["pre-commit"]


def test_something_watched_is_deleted_or_moved(quick: QuickRepo) -> None:
    quick.git("mv", TALK, "elsewhere.md")
    quick.try_commit("-m", "docs: x")
    assert quick.started()[:1] == ["pre-commit"]


@pytest.mark.parametrize("mode", ["120000", "160000"])
@pytest.mark.parametrize("path", ["skills", "skills/talk", "evals/talk"])
def test_link_or_submodule_in_place_of_a_folder(quick: QuickRepo, path: str, mode: str) -> None:
    quick.git("rm", "-r", "-q", "--cached", path)
    put(quick, mode, path)
    quick.try_commit("-m", "chore: vendor")
    assert quick.started()[:1] == ["pre-commit"]


def put(quick: QuickRepo, mode: str, path: str) -> None:
    oid = quick.git("rev-parse", "HEAD" if mode == "160000" else "HEAD:README.md").strip()
    quick.git("update-index", "--add", "--cacheinfo", f"{mode},{oid},{path}")


@pytest.mark.parametrize("mode", ["120000", "160000"])
@pytest.mark.parametrize("path", ["agents", "agents/deep", "agents/deep/talk", "lone", "lone/deep"])
def test_link_or_submodule_where_an_agent_is_not_yet(tmp_path: Path, path: str, mode: str) -> None:
    """Nothing lies there, or only a neighbour: it would be the agent."""
    new = "  late: {paths: [agents/deep/talk/**, lone/deep/x/**], target: command, cases: [c/*]}\n"
    files = {**FILES, "guard.yaml": CONFIG + new, "lone/neighbour.txt": "1\n"}
    quick = make_quick(tmp_path / "quick", files)
    quick.warm()
    quick.git("rm", "-r", "-q", "--cached", "--ignore-unmatch", path)
    put(quick, mode, path)
    quick.try_commit("-m", "chore: vendor")
    assert quick.started()[:1] == ["pre-commit"]


def test_submodule_below_an_agent_moves(quick: QuickRepo) -> None:
    put(quick, "160000", "skills/talk/vendored")
    quick.try_commit("-m", "chore: vendor")
    assert quick.started()[:1] == ["pre-commit"]


def test_name_alone_is_staged(quick: QuickRepo) -> None:
    """By `git add --intent-to-add`: git commits no such file, but that is Python's to know."""
    stage_unguarded(quick)
    quick.write({"skills/talk/later.md": "1\n"})
    quick.git("add", "--intent-to-add", "skills/talk/later.md")
    assert quick.starts()[:1] == ["pre-commit"]


# What is configured ---------------------------------------------------------------------------


def started_in_the_end(folder: Path, files: Files) -> list[str]:
    """Return what the third commit of nothing guarded starts: if anything, then always."""
    quick = make_quick(folder, files)
    for number in range(3):
        quick.stage({"other/notes.txt": f"{number}\n"})
        quick.started()
        done = quick.try_commit("-m", "docs: x")
        assert done.returncode == 0, done.stderr
    return quick.started()


def with_plugin(text: str, path: str = "tools/own.py") -> Files:
    return {**FILES, path: text, "guard.yaml": CONFIG + f"plugins: [{path}]\n"}


def test_plugin_that_says_what_it_looks_at(tmp_path: Path) -> None:
    text = PLUGIN.replace("hookimpl\n", "hookimpl, watch\n", 1) + '@watch("prices/**")\n'
    text += "def guard_affected(change, agent, case):\n    return None\n"
    assert started_in_the_end(tmp_path / "quick", with_plugin(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        PLUGIN + "def guard_affected(change, agent, case):\n    return None\n",
        PLUGIN + "def guard_agents(project):\n    return []\n",
    ],
)
def test_plugin_that_may_look_at_anything(tmp_path: Path, text: str) -> None:
    assert started_in_the_end(tmp_path / "quick", with_plugin(text)) == BOTH


def test_plugin_that_may_import_anything(tmp_path: Path) -> None:
    text = PLUGIN + "def guard_is_fix(commit):\n    return None\n"
    assert started_in_the_end(tmp_path / "a", with_plugin(text, "own.py")) == BOTH
    assert started_in_the_end(tmp_path / "b", with_plugin(text)) == []


def test_evaluator_at_the_root(tmp_path: Path) -> None:
    judge = "def exact(observation, expected):\n    return True\n"
    named = CONFIG.replace(
        "    cases: [evals/talk", "    evaluators: [own.py:exact]\n    cases: [evals/talk"
    )
    quick = make_quick(tmp_path / "quick", {**FILES, "guard.yaml": named, "own.py": judge})
    quick.stage({"other/notes.txt": "0\n"})
    quick.starts()
    quick.stage({"other/notes.txt": "1\n"})
    assert quick.starts() == []
    quick.stage({"sibling.py": "1\n"})
    assert quick.starts() == BOTH


@pytest.mark.parametrize("glob", ["**/*.prompt", "[ab]/x/**", "*/prompt.md"])
def test_glob_that_begins_anywhere(tmp_path: Path, glob: str) -> None:
    config = CONFIG.replace(
        "[skills/talk/**]", f'[skills/talk/**, "{glob}"]\n    workspace: skills'
    )
    assert started_in_the_end(tmp_path / "quick", {**FILES, "guard.yaml": config}) == BOTH


def test_without_guard_yaml_one_line_is_said(tmp_path: Path) -> None:
    files = {name: text for name, text in FILES.items() if name != "guard.yaml"}
    assert started_in_the_end(tmp_path / "quick", files) == BOTH


def test_plugins_that_are_switched_off_leave_no_list(tmp_path: Path) -> None:
    quick = make_quick(tmp_path / "quick")
    for number in range(2):
        quick.stage({"other/notes.txt": f"{number}\n"})
        assert quick.starts("-m", "docs: x", env={"GUARD_DISABLED_PLUGINS": "x"}) == BOTH
    assert not quick.listed.exists()


# commit-msg, by itself ------------------------------------------------------------------------


def test_commit_msg_wants_the_record_of_its_own_git(staged: QuickRepo) -> None:
    pre_commit = staged.root / ".git" / "hooks" / "pre-commit"
    pre_commit.rename(pre_commit.with_suffix(".off"))
    assert staged.starts() == ["commit-msg"]
    record = staged.listed.with_name("judged")
    record.write_text("quiet 1 1 x\n")
    stage_more(staged)
    assert staged.starts() == ["commit-msg"]


def test_hook_in_a_folder_that_was_moved(staged: QuickRepo, tmp_path: Path) -> None:
    """The list names the settings' file absolutely, and nothing is there any more."""
    staged.root.rename(tmp_path / "moved")
    moved = ScratchRepo(tmp_path / "moved")
    assert staged.starts(cwd=moved.root) == ["pre-commit"]
