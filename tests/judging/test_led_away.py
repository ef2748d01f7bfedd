"""Links that lead an agent's text out of what is guarded are named."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

from guard.git import find_repo
from guard.judging.led_away import all_links
from tests.guarded_repo import GUARD_YAML, RETAINED, SKILL
from tests.judged_repo import Bench
from tests.scratch_repo import ScratchRepo


@pytest.fixture
def retained(repo: ScratchRepo) -> Generator[Bench]:
    repo.commit("fix: base", RETAINED)
    with find_repo(str(repo.root)) as opened:
        yield Bench(repo, opened)


def link(repo: ScratchRepo, path: str, target: str) -> None:
    place = repo.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    os.symlink(target, place)
    repo.git("add", "--all")


def notes(bench: Bench, message: str = "chore: link") -> tuple[str, ...]:
    return tuple(n for n in bench.judge_index(message).notes if " leads " in n)


COVER = "which no path of agent expense covers: add it to agents.expense.paths"
LED_AWAY = {
    "a file": ("skills/expense/rules.md", "../../real/rules.md", f"real/rules.md, {COVER}"),
    "a folder": ("skills/expense/more", "../../real", f"real, {COVER}"),
    "nothing": ("skills/expense/none", "../none", f"skills/none, {COVER}"),
    "the root": ("skills/expense/up", "../..", f"., {COVER}"),
}


@pytest.mark.parametrize("what", LED_AWAY)
def test_a_link_that_leads_away_is_named(retained: Bench, what: str) -> None:
    path, target, said = LED_AWAY[what]
    retained.repo.commit("docs: real", {"real/rules.md": "Ask.\n"})
    link(retained.repo, path, target)
    expected = f"{path} leads to {said}"
    assert notes(retained) == (expected,)
    assert all_links(retained.project()) == [expected]
    retained.repo.git("commit", "-qm", "chore: link")
    retained.repo.write({"README.md": "x\n"})
    retained.repo.git("add", "--all")
    # Said by the commit that brings it; and always by a check of the tree.
    assert notes(retained) == ()
    assert all_links(retained.project()) == [expected]


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../beside"])
def test_a_link_out_of_the_repository(retained: Bench, target: str) -> None:
    link(retained.repo, "skills/expense/x", target)
    said = "skills/expense/x leads out of the repository, where nothing can be guarded"
    assert notes(retained) == (said,)


def test_an_agents_folder_that_is_a_link(retained: Bench) -> None:
    retained.repo.git("mv", "skills/expense", "real")
    link(retained.repo, "skills/expense", "../real")
    assert notes(retained) == (f"skills/expense leads to real, {COVER}",)


def test_a_link_among_the_agents_own_is_none(retained: Bench) -> None:
    retained.repo.commit("docs: b", {"skills/expense/b.md": "b\n", "check.py": "\n"})
    link(retained.repo, "skills/expense/a.md", "b.md")
    link(retained.repo, "elsewhere/a.md", "../check.py")
    assert notes(retained) == ()
    assert all_links(retained.project()) == []


def test_what_is_watched_all_the_same_is_not_named(retained: Bench) -> None:
    config = GUARD_YAML + "    depends: [check.py]\n"
    retained.repo.commit("chore: depends", {"guard.yaml": config, "check.py": "\n"})
    link(retained.repo, "skills/expense/check.py", "../../check.py")
    assert notes(retained) == ()
    covered = config.replace("[skills/expense/**]", "[skills/expense/**, real/**]")
    retained.repo.commit("chore: cover", {"guard.yaml": covered, "real/x.md": "x\n"})
    link(retained.repo, "skills/expense/x.md", "../../real/x.md")
    assert notes(retained) == ()


def test_a_skill_that_moves_behind_a_link_is_named(retained: Bench) -> None:
    assert SKILL in RETAINED
    retained.repo.write({"real/keep": "\n"})
    retained.repo.git("mv", SKILL, "real/SKILL.md")
    link(retained.repo, SKILL, "../../real/SKILL.md")
    assert notes(retained) == (f"{SKILL} leads to real/SKILL.md, {COVER}",)
