"""Selectors: what each form names, and what is said where it names nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from guard.errors import UsageError
from guard.project import Project
from guard.running.selection import select_cases, select_one_case
from guard.session import Session
from tests.conftest import ScratchRepo
from tests.guard_command import CLERK, cases, config


@pytest.fixture
def project(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Cases ``tea``, ``tea-dear`` and ``tea.old`` of the clerk; ``door`` of the porter."""
    porter = {**CLERK, "cases": ["porter/*.md"]}
    idle = {**CLERK, "cases": ["idle/*.md"]}
    scripts = dict.fromkeys(("tea", "tea-dear", "tea.old"), "true")
    door = cases({"door": "true"}, agent="porter")["evals/door.md"]
    repo.write(config({"clerk": CLERK, "porter": porter, "idle": idle}))
    repo.write({**cases(scripts, agent="clerk"), "porter/tea": "x\n", "porter/door.md": door})
    monkeypatch.chdir(repo.root)
    with Session.open(str(repo.root)) as session:
        yield session.project()


def chosen(project: Project, *selectors: str) -> list[str]:
    return [case.id for case in select_cases(project, selectors)]


ALL = ["door", "tea", "tea-dear", "tea.old"]


@pytest.mark.parametrize(
    ("selectors", "ids"),
    [
        ((), ALL),
        (("tea",), ["tea"]),
        (("tea.old", "tea"), ["tea", "tea.old"]),
        (("tea", "tea", "te?"), ["tea"]),
        (("tea*",), ["tea", "tea-dear", "tea.old"]),
        (("*",), ALL),
        (("[dx]oor",), ["door"]),
        (("evals",), ["tea", "tea-dear", "tea.old"]),
        (("evals/tea.md",), ["tea"]),
        (("**/door.md",), ["door"]),
        ((".",), ALL),
        (("agent:clerk",), ["tea", "tea-dear", "tea.old"]),
        (("agent:porter", "evals/tea.md"), ["door", "tea"]),
    ],
)
def test_each_form(project: Project, selectors: tuple[str, ...], ids: list[str]) -> None:
    assert chosen(project, *selectors) == ids


def test_an_id_comes_before_a_path_of_the_same_name(
    project: Project, repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root / "porter")
    assert chosen(project, "tea") == ["tea"]
    assert chosen(project, "door.md") == ["door"]
    assert chosen(project, "*.md") == ["door"]
    assert chosen(project, "../evals/tea*") == ["tea", "tea-dear", "tea.old"]
    assert chosen(project, "porter/door.md") == ["door"]
    assert chosen(project, str(repo.root / "evals")) == ["tea", "tea-dear", "tea.old"]


def test_a_path_out_of_the_repository_names_nothing(project: Project, repo: ScratchRepo) -> None:
    for selector in ("..", "../evals", "/", str(repo.root.parent)):
        with pytest.raises(UsageError, match="matches no case"):
            chosen(project, selector)


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("taa", "taa matches no case; did you mean `tea`"),
        ("zzz", "zzz matches no case"),
        ("tea/*", "matches no case"),
        ("agent:clark", "agent clark is not in guard.yaml; did you mean `clerk`"),
        ("agent:idle", "agent idle has no case"),
        ("agent:", "agent  is not in guard.yaml"),
        ("", "an empty selector matches no case"),
    ],
)
def test_nothing_matched_is_refused_with_the_nearest(
    project: Project, selector: str, said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        chosen(project, "door", selector)
    assert said in str(refused.value)
    assert refused.value.hint
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("selector", ["[z-a]", "[", "]", "a[b", "[]", "[!]", "**[", "\\"])
def test_an_odd_glob_is_no_bug(project: Project, selector: str) -> None:
    with pytest.raises(UsageError, match="matches no case"):
        chosen(project, selector)


def test_a_command_that_takes_one_case_names_those_it_could_be(project: Project) -> None:
    assert select_one_case(project, "door", "bisect").id == "door"
    with pytest.raises(UsageError, match="agent:clerk names 3 cases: tea, tea-dear, tea") as no:
        select_one_case(project, "agent:clerk", "bisect")
    assert no.value.hint == "guard bisect takes one"
    with pytest.raises(UsageError, match="matches no case"):
        select_one_case(project, "dor", "bisect")
