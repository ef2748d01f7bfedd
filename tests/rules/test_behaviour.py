from __future__ import annotations

from guard.change import staged_change
from guard.messages.message import parse_message
from guard.rules.behaviour import Behaviour, behaviour_of
from guard.rules.commit import JudgedCommit
from tests.guarded_repo import CASE, CASE_TEXT, FIX, FIXED_SKILL, SKILL, SKILL_TEXT
from tests.judged_repo import Bench, Files


def behaviour(bench: Bench, files: Files, message: str = "feat: x") -> Behaviour:
    bench.repo.write(files)
    bench.repo.git("add", "--all")
    change = staged_change(bench.opened, "HEAD")
    base, new = bench.project(change.base), bench.project(change.new)
    return behaviour_of(JudgedCommit(base, new, change, parse_message(message)))


def test_a_change_without_a_case_is_told(bench: Bench) -> None:
    found = behaviour(bench, {SKILL: FIXED_SKILL})
    assert found == Behaviour({"expense": (SKILL,)}, ("expense",), {}, is_fix=False)


def test_a_change_with_its_case(bench: Bench) -> None:
    found = behaviour(bench, FIX, "fix: x")
    assert found == Behaviour({"expense": (SKILL,)}, (), {}, is_fix=True)


def test_a_case_that_says_nothing_new_came_not_along(retained: Bench) -> None:
    found = behaviour(retained, {SKILL: FIXED_SKILL, CASE: CASE_TEXT + "More prose.\n"})
    assert found.without_case == ("expense",)


def test_a_case_that_can_not_be_read_came_not_along(bench: Bench) -> None:
    found = behaviour(bench, {SKILL: FIXED_SKILL, CASE: CASE_TEXT.replace("expected", "expcted")})
    assert found.without_case == ("expense",)


def test_a_cosmetic_change_is_no_change_of_behaviour(bench: Bench) -> None:
    found = behaviour(bench, {SKILL: SKILL_TEXT + "\n\n"})
    assert found == Behaviour({}, (), {SKILL: "white space"}, is_fix=False)


def test_a_change_elsewhere_is_none(bench: Bench) -> None:
    assert behaviour(bench, {"README.md": "x\n"}) == Behaviour({}, (), {}, is_fix=False)
