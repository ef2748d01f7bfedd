"""Submodules: their files come from the stores that git keeps of them, or the agent isn't run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from guard.git import Repo, find_repo
from guard.model import ERROR, PASS, Agent
from guard.snapshot import head_tree, worktree_tree
from guard.trials.submodules import common_dir_of, with_submodules
from tests.conftest import ScratchRepo
from tests.staging import FILES, run_script

INNER = "agent/inner"
AGENT = Agent("expense", paths=("agent/inner/**",), workspace="agent")


def make(root: Path, files: dict[str, str | bytes | None]) -> ScratchRepo:
    root.mkdir(parents=True)
    made = ScratchRepo(root)
    made.git("init", "-q")
    made.commit("start", files)
    return made


@pytest.fixture
def source(tmp_path: Path) -> ScratchRepo:
    """The repository that becomes a submodule, with one of its own in it."""
    deeper = make(tmp_path / "deeper", {"deep.md": "deep\n"})
    found = make(tmp_path / "source", {"f.md": "first\n", ".gitattributes": "*.bat eol=crlf\n"})
    found.git("submodule", "--quiet", "add", str(deeper.root), "more/deeper")
    found.commit("more", {"run.bat": "x\n"})
    return found


@pytest.fixture
def outer(repo: ScratchRepo, source: ScratchRepo) -> ScratchRepo:
    """A repository whose agent lies in that submodule."""
    repo.commit("base", dict(FILES))
    repo.git("submodule", "--quiet", "add", "--name", "a/name", str(source.root), INNER)
    repo.git("submodule", "--quiet", "update", "--init", "--recursive")
    repo.commit("feat: a submodule")
    return repo


@pytest.fixture
def opened(outer: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(outer.root)) as found:
        yield found


def paths_below(opened: Repo) -> list[str]:
    tree, lacking = with_submodules(head_tree(opened), b"agent/")
    assert not lacking, lacking
    inside = INNER.encode() + b"/"
    return [p[len(inside) :].decode() for p in tree.entries() if p.startswith(inside)]


ALL = [".gitattributes", ".gitmodules", "f.md", "more/deeper/deep.md", "run.bat"]


def test_a_trial_finds_the_files_of_submodules_and_of_theirs(outer: ScratchRepo) -> None:
    # Its attributes are its own: the outer repository's say nothing in it, and the other way.
    outer.commit("attributes", {".gitattributes": "*.md eol=crlf\n", "agent/x.bat": "x\n"})
    script = "cd inner; cat f.md more/deeper/deep.md; od -c run.bat ../x.bat"
    result = run_script(outer, script, agent=AGENT)
    assert result.verdict == PASS, result.reason
    assert result.observation.stdout.startswith("first\ndeep\n0000000   x  \\r  \\n   x  \\n")


def test_it_is_found_where_the_files_are_not(outer: ScratchRepo, opened: Repo) -> None:
    outer.git("submodule", "--quiet", "deinit", "--all", "--force")
    assert not list((outer.root / INNER).iterdir())
    assert sorted(paths_below(opened)) == ALL


def test_it_is_found_where_it_was_never_absorbed(outer: ScratchRepo, opened: Repo) -> None:
    git_dir = outer.root / ".git/modules/a/name"
    (outer.root / INNER / ".git").unlink()
    git_dir.rename(outer.root / INNER / ".git")
    outer.git("config", "-f", f"{INNER}/.git/config", "--unset", "core.worktree")
    assert sorted(paths_below(opened)) == ALL


def test_it_is_found_from_a_linked_worktree(outer: ScratchRepo) -> None:
    outer.git("worktree", "add", "-q", "--detach", "../linked")
    with find_repo(str(outer.root.parent / "linked")) as found:
        assert common_dir_of(found.git_dir) == str(outer.root / ".git")
        assert sorted(paths_below(found)) == ALL


def test_it_is_found_in_the_store_of_another_worktree(outer: ScratchRepo) -> None:
    outer.git("worktree", "add", "-q", "--detach", "../linked")
    linked = ScratchRepo(outer.root.parent / "linked")
    linked.git("submodule", "--quiet", "update", "--init", "--recursive")
    shutil.rmtree(outer.root / ".git/modules")
    (outer.root / INNER / ".git").unlink()
    with find_repo(str(outer.root)) as found:
        assert sorted(paths_below(found)) == ALL


def test_a_submodule_that_is_the_workspace_is_filled(outer: ScratchRepo) -> None:
    agent = AGENT._replace(workspace=INNER)
    result = run_script(outer, "cat f.md", agent=agent)
    assert (result.verdict, result.observation.stdout) == (PASS, "first\n")


@pytest.mark.parametrize("paths", [("agent/inner/**",), ("agent/*/f.md",), ("agent/SKILL.md",)])
def test_one_whose_commit_is_not_here_is_named(outer: ScratchRepo, paths: tuple[str, ...]) -> None:
    shutil.rmtree(outer.root / ".git/modules")
    shutil.rmtree(outer.root / INNER)
    (outer.root / INNER).mkdir()
    commit = outer.git("rev-parse", f"HEAD:{INNER}").strip()
    result = run_script(outer, "true", agent=AGENT._replace(paths=paths))
    assert (result.verdict, result.reason) == (
        ERROR,
        f"{INNER} is a submodule whose commit {commit[:10]} is not here "
        f"(git submodule update --init --recursive {INNER})",
    )


def test_one_outside_the_workspace_is_nobodys_concern(outer: ScratchRepo) -> None:
    outer.git("mv", INNER, "elsewhere")
    outer.commit("moved")
    outer.git("submodule", "--quiet", "deinit", "--all", "--force")
    shutil.rmtree(outer.root / ".git/modules")
    assert run_script(outer, "test ! -e inner").verdict == PASS


def test_a_nested_one_whose_commit_is_not_here_is_named(outer: ScratchRepo) -> None:
    shutil.rmtree(outer.root / ".git/modules/a/name/modules")
    outer.git("-C", INNER, "submodule", "--quiet", "deinit", "--all", "--force")
    result = run_script(outer, "true", agent=AGENT)
    assert result.verdict == ERROR
    assert result.reason.startswith(f"{INNER}/more/deeper is a submodule whose")


def test_changes_that_are_not_committed_in_it_are_not_passed_over(outer: ScratchRepo) -> None:
    outer.write({f"{INNER}/f.md": "edited\n"})
    result = run_script(outer, "true", agent=AGENT)
    assert result.verdict == ERROR
    assert "changes that are not committed there" in result.reason
    outer.git("-C", INNER, "commit", "-qam", "edit")
    result = run_script(outer, "cat inner/f.md", agent=AGENT)
    assert (result.verdict, result.observation.stdout) == (PASS, "edited\n")


def test_a_name_that_leads_elsewhere_is_not_followed(outer: ScratchRepo, opened: Repo) -> None:
    modules = outer.root / ".git/modules"
    modules.rename(outer.root / "stolen")
    (outer.root / INNER / ".git").unlink()
    text = (outer.root / ".gitmodules").read_text().replace('"a/name"', '"../../stolen/a/name"')
    outer.write({".gitmodules": text})
    _, lacking = with_submodules(worktree_tree(opened), b"agent/")
    assert [one.path for one in lacking] == [INNER.encode()]


def test_a_tree_without_submodules_stays_as_it_is(repo: ScratchRepo) -> None:
    repo.commit("base", dict(FILES))
    with find_repo(str(repo.root)) as found:
        tree = head_tree(found)
        assert with_submodules(tree, b"") == (tree, [])
