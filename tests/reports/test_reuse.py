"""Each report says where stored evidence answered, and of when it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from guard.reports import html_report, json_report, junit, markdown, text
from guard.results import CaseResult, ProofResult, Report, Side

DATE = "2026-07-12T10:00:00+00:00"
BY = "answered by a receipt of 2026-07-12"


def answered(verdict: str = "PASS", date: str = DATE) -> CaseResult:
    return CaseResult("taxi", "clerk", verdict, recorded_passed=4, recorded_trials=4, reused=date)


def proof(date: str) -> ProofResult:
    return ProofResult(
        "taxi", "clerk", "taxi.md", "PROVEN", "live", Side(0, 2), Side(2, 2), reason="as it was",
        before_result=answered("FAIL", date), after_result=answered(date=""),
    )  # fmt: skip


RENDER: Mapping[str, Callable[[Report], str]] = {
    "text": text.render,
    "junit": junit.render,
    "markdown": markdown.render,
    "html": html_report.render,
}


@pytest.mark.parametrize("name", RENDER)
@pytest.mark.parametrize("verdict", ["PASS", "XFAIL"])
def test_a_case(name: str, verdict: str) -> None:
    assert BY in RENDER[name](Report("run", cases=(answered(verdict),)))
    assert BY not in RENDER[name](Report("run", cases=(answered(verdict, ""),)))


@pytest.mark.parametrize("name", RENDER)
def test_a_side_of_a_proof(name: str) -> None:
    shown = RENDER[name](Report("verify", regressions=(proof(DATE),)))
    assert f"before {BY}" in shown
    assert "after by" not in shown
    assert BY not in RENDER[name](Report("verify", regressions=(proof(""),)))


def test_json() -> None:
    found = json.loads(json_report.render(Report("run", "x", cases=(answered(),))))
    assert found["cases"][0]["reused"] == DATE
    found = json.loads(json_report.render(Report("verify", "x", regressions=(proof(DATE),))))
    assert found["regressions"][0]["reused"] == {"before": DATE}
    bare = Report("run", "x", cases=(answered(date=""),), regressions=(proof(""),))
    found = json.loads(json_report.render(bare))
    assert "reused" not in found["cases"][0]
    assert "reused" not in found["regressions"][0]
