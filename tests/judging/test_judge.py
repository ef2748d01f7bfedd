from __future__ import annotations

from collections.abc import Generator

import pytest

from guard.errors import ConfigError
from guard.git import find_repo
from guard.judging.judge import Judgement, readable
from tests.conftest import ScratchRepo
from tests.guarded_repo import BASE, FIX, FIXED_SKILL, GUARD_YAML, RECORDS, SKILL
from tests.judged_repo import Bench

BROKEN = {"guard.yaml": "version: 1\nagnets: {}\n"}


@pytest.fixture
def bench(repo: ScratchRepo) -> Generator[Bench]:
    repo.commit("feat: base", BASE)
    with find_repo(str(repo.root)) as opened:
        yield Bench(repo, opened)


def test_a_commit_that_breaks_nothing(bench: Bench) -> None:
    assert bench.judge({"README.md": "x\n"}, "fix: x") == Judgement()
    assert bench.judge(FIX) == Judgement()


def test_warnings_do_not_block(bench: Bench) -> None:
    judgement = bench.judge({SKILL: FIXED_SKILL}, "fix:x")
    assert len(judgement.violations) == 1
    assert judgement.blocking == ()


def test_a_fix_that_changes_nothing_is_noted(bench: Bench) -> None:
    assert bench.judge({}, "fix: x").notes == ("this fix changes no file, so it owes no case",)
    assert bench.judge({}, "docs: x") == Judgement()


def test_wrong_files_of_the_new_tree_are_an_error(bench: Bench) -> None:
    with pytest.raises(ConfigError, match=r"guard\.yaml:2"):
        bench.judge(BROKEN, "chore: x")
    bench.repo.git("reset", "--hard", "--quiet")
    with pytest.raises(ConfigError, match=r"regressions\.json"):
        bench.judge({RECORDS: "{"}, "chore: x")


def test_wrong_files_of_the_old_tree_are_no_obstacle(bench: Bench) -> None:
    bench.repo.commit("chore: break", BROKEN)
    judgement = bench.judge({"guard.yaml": GUARD_YAML}, "chore: mend")
    assert judgement.violations == ()
    assert "can't be read" in judgement.notes[-1]
    fix = bench.judge({SKILL: FIXED_SKILL}, "fix: x")
    assert [violation.rule for violation in fix.blocking] == ["fix-needs-case"]


def test_a_wrong_guard_yaml_is_not_to_be_removed_either(bench: Bench) -> None:
    bench.repo.commit("chore: break", BROKEN)
    assert bench.rules({"guard.yaml": None}, "chore: away") == ["case-weakened"]
    trailer = "chore: away\n\nCase-Weakened: guard.yaml: we start anew"
    assert bench.rules({}, trailer) == []


def test_what_is_readable(bench: Bench) -> None:
    good = bench.project()
    assert readable(good) is good
    bench.repo.commit("chore: break", BROKEN)
    assert readable(bench.project()) is None
