"""Which globs of cases a new guard.yaml lists: only folders where all is a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from guard.git import find_repo
from guard.setup.case_places import Places, place_cases, read_candidates
from guard.setup.layouts import declare_agents, find_layouts
from guard.snapshot import worktree_tree
from tests.conftest import ScratchRepo


def case(name: str, agent: str = "") -> str:
    owner = f"agent: {agent}\n" if agent else ""
    return f"---\nid: {name}\n{owner}expected: {{no_changes: true}}\n---\n"


def places_in(repo: ScratchRepo, files: Mapping[str, str]) -> list[Places]:
    repo.write(files)
    with find_repo(str(repo.root)) as found:
        tree = worktree_tree(found)
        paths = tuple(tree.entries())
        declared = declare_agents(find_layouts(paths)[0], paths)
        return place_cases(declared, read_candidates(tree))


def skills(*names: str) -> dict[str, str]:
    return {f"skills/{name}/SKILL.md": "x\n" for name in names}


def test_without_any_case_they_go_beside_the_skill(repo: ScratchRepo) -> None:
    assert places_in(repo, skills("a")) == [Places(("skills/a/evals/*.md",))]


def test_a_block_names_the_folder_by_its_place(repo: ScratchRepo) -> None:
    (found,) = places_in(repo, {**skills("a", "b", "c"), "skills/b/evals/x.md": case("x")})
    assert found.cases == ("{dir}/evals/*.md",)
    assert [fields["id"] for fields in found.found] == ["x"]


def test_a_note_among_the_cases_keeps_the_folder_out(repo: ScratchRepo) -> None:
    files = {"skills/a/evals/x.md": case("x"), "skills/a/evals/notes.md": "only prose\n"}
    assert places_in(repo, {**skills("a"), **files}) == [Places(("skills/a/evals/cases/*.md",))]


def test_a_readme_is_no_obstacle(repo: ScratchRepo) -> None:
    files = {"skills/a/evals/x.md": case("x"), "skills/a/evals/README.md": "only prose\n"}
    (found,) = places_in(repo, {**skills("a"), **files})
    assert found.cases == ("skills/a/evals/*.md",)
    assert len(found.found) == 1


def test_evals_that_cannot_be_read_are_no_behaviour_either(repo: ScratchRepo) -> None:
    files = {
        f"skills/{name}/evals/evals.json": '{"evals": "of a kind of their own"}' for name in "ab"
    }
    (found,) = places_in(repo, {**skills("a", "b", "c"), **files})
    assert found.cases == ("{dir}/evals/*.md",)
    assert found.depends == ("{dir}/evals/*.json",)


@pytest.mark.parametrize(
    ("outputs", "is_case"), [({"no_changes": True}, True), ({"tone": "calm"}, False), ({}, False)]
)
def test_a_dataset_is_cases_where_all_it_states_can_be_read(
    repo: ScratchRepo, outputs: dict[str, Any], is_case: bool
) -> None:
    dataset = json.dumps({"examples": [{"id": "x", "outputs": outputs}]})
    (found,) = places_in(repo, {**skills("a"), "skills/a/evals/books.json": dataset})
    glob = ("skills/a/evals/*.json",)
    assert (found.cases, found.depends) == (
        (glob, ()) if is_case else (("skills/a/evals/*.md",), glob)
    )


def test_a_folder_of_the_repository_belongs_to_those_its_cases_name(repo: ScratchRepo) -> None:
    files = {"evals/cases/1.md": case("x", "a"), "evals/cases/2.md": case("y", "a")}
    first, second = places_in(repo, {**skills("a", "b"), **files})
    assert first.cases == ("evals/cases/*.md",)
    assert len(first.found) == 2
    assert second.cases == ("skills/b/evals/*.md",)


def test_a_case_that_names_no_agent_is_the_only_agents(repo: ScratchRepo) -> None:
    (found,) = places_in(repo, {**skills("ü b"), "evals/x.md": case("x")})
    assert found.cases == ("evals/*.md",)


def test_with_several_agents_such_a_folder_is_nobodys(repo: ScratchRepo) -> None:
    files = {"evals/x.md": case("x"), "evals/y.md": case("y", "a")}
    first, _ = places_in(repo, {**skills("a", "b"), **files})
    assert first.cases == ("skills/a/evals/*.md",)


@pytest.mark.parametrize("path", ["evals/fixtures/x.md", "docs/x.md", "evals/x.txt"])
def test_other_files_are_not_looked_at(repo: ScratchRepo, path: str) -> None:
    (found,) = places_in(repo, {**skills("a"), path: case("x")})
    assert found.cases == ("skills/a/evals/*.md",)
