from __future__ import annotations

import pytest

from tests.guarded_repo import FIXED_SKILL, SKILL, SKILL_TEXT
from tests.judged_repo import Bench

SQUASH = "Ask first (#12)\n\n* fix: ask about currency\n* docs: say so\n"


@pytest.mark.parametrize(
    "header", ["fix:ask", "Fix the currency", "[fix] ask", "bugfix: x", SQUASH]
)
def test_it_warns_where_an_agent_is_touched(bench: Bench, header: str) -> None:
    (violation,) = bench.judge({SKILL: FIXED_SKILL}, header).violations
    assert violation.rule == "near-miss-header"
    assert violation.warning
    assert violation.agent == "expense"


@pytest.mark.parametrize("header", ["docs: fix nothing", "feat: prefix", "Ask first"])
def test_other_headers_are_no_near_miss(bench: Bench, header: str) -> None:
    assert bench.judge({SKILL: FIXED_SKILL}, header).violations == ()


def test_elsewhere_nobody_minds(bench: Bench) -> None:
    assert bench.judge({"README.md": "x\n"}, "fix:x").violations == ()
    assert bench.judge({SKILL: SKILL_TEXT + "\n"}, "fix:x").violations == ()


def test_a_type_that_is_configured_is_no_near_miss(bench: Bench) -> None:
    bench.repo.write({"guard.yaml": (bench.repo.root / "guard.yaml").read_text() + TYPES})
    bench.repo.commit("chore: types")
    found = bench.rules({SKILL: FIXED_SKILL}, "bugfix: x")
    assert found == ["fix-needs-case"]


TYPES = "fix: {types: [fix, bugfix]}\n"
