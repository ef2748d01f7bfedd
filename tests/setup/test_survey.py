"""What a repository has, and the guard.yaml that looks after it."""

from __future__ import annotations

from datetime import date

from guard.session import Session
from guard.setup.survey import Survey, survey_project
from tests.conftest import ScratchRepo

TODAY = date(2031, 3, 1)


def survey(repo: ScratchRepo) -> Survey:
    with Session.open(str(repo.root)) as session:
        return survey_project(session.project(), TODAY)


def skill(name: str, text: str = "Read.\n") -> dict[str, str]:
    return {f"skills/{name}/SKILL.md": text}


def test_an_empty_repository(repo: ScratchRepo) -> None:
    found = survey(repo)
    assert (found.skills, found.declared, found.replay.commits) == (0, (), 0)


def test_skills_that_are_gone_still_tell_of_the_history(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {**skill("a"), **skill("b"), **skill("c"), **skill("old")})
    repo.commit("fix: old", skill("old", "Ask.\n"))
    repo.commit("feat: without it", {"skills/old/SKILL.md": None})
    found = survey(repo)
    assert found.skills == 3
    assert found.replay.asked == 1
    assert "warn, until: 2031-03-31" in found.text


def test_uncommitted_skills_count_and_ignored_ones_do_not(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {**skill("a"), ".gitignore": "skills/b\n"})
    repo.write({**skill("b"), **skill("ü c")})
    assert {name for entry in survey(repo).declared for name in entry.agents} == {"a", "ü c"}


def test_a_guard_yaml_that_is_there_is_what_the_history_is_held_against(repo: ScratchRepo) -> None:
    config = (
        "version: 1\nagents: {x: {paths: [prompts/**], target: command}}\nfix: {types: [bug]}\n"
    )
    repo.commit("feat: begin", {"guard.yaml": config, **skill("a"), "prompts/p.md": "x\n"})
    repo.commit("bug: p", {"prompts/p.md": "Ask.\n"})
    repo.commit("fix: a", skill("a", "Ask.\n"))
    found = survey(repo)
    assert found.text == ""
    assert (found.replay.fixes, found.replay.asked) == (1, 1)
