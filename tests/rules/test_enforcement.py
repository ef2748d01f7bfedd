from __future__ import annotations

import pytest

from tests.guarded_repo import CASE, CASE_TEXT, FIXED_SKILL, GUARD_YAML, SKILL
from tests.judged_repo import Bench

WARN = "enforce: {fix-needs-case: {warn: true, until: 2031-06-30}}\n"
WITH_CASE = {SKILL: FIXED_SKILL, CASE: CASE_TEXT}


@pytest.mark.parametrize(
    ("today", "blocked"), [("2031-01-01", False), ("2031-06-30", False), ("2031-07-01", True)]
)
def test_a_rule_warns_until_its_date(bench: Bench, today: str, blocked: bool) -> None:
    bench.repo.commit("chore: warn", {"guard.yaml": GUARD_YAML + WARN})
    judgement = bench.judge({SKILL: FIXED_SKILL}, today=today)
    (violation,) = judgement.violations
    assert violation.warning is not blocked
    assert bool(judgement.blocking) is blocked
    assert ("2031-06-30" in violation.message) is not blocked


def test_records_follow_the_cases_unless_they_are_named(bench: Bench) -> None:
    bench.repo.commit("chore: warn", {"guard.yaml": GUARD_YAML + WARN})
    assert bench.rules(WITH_CASE) == []
    block = WARN.replace("}}", "}, fix-needs-record: block}")
    bench.repo.git("reset", "--hard", "--quiet")
    bench.repo.commit("chore: block records", {"guard.yaml": GUARD_YAML + block})
    assert bench.rules(WITH_CASE) == ["fix-needs-record"]


def test_a_commit_can_not_relax_the_rule_for_itself(bench: Bench) -> None:
    message = "fix: x\n\nCase-Weakened: guard.yaml: we only start with it"
    files = {SKILL: FIXED_SKILL, "guard.yaml": GUARD_YAML + WARN}
    assert bench.rules(files, message) == ["fix-needs-case"]


def test_the_clock_is_read_where_no_day_is_given(bench: Bench) -> None:
    for year, rules in (("2001", ["fix-needs-case"]), ("9999", [])):
        warn = WARN.replace("2031", year)
        bench.repo.git("reset", "--hard", "--quiet")
        bench.repo.commit("chore: warn", {"guard.yaml": GUARD_YAML + warn})
        judgement = bench.judge({SKILL: FIXED_SKILL}, today="")
        assert [violation.rule for violation in judgement.blocking] == rules
