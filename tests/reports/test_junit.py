from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from guard import model
from guard.reports.junit import render
from guard.results import CaseResult, ProofResult, Report
from guard.verdict import CASE_CODES, PROOF_CODES
from tests.reports.sample import REPORT, nasty_report


def parse(report: Report) -> ET.Element:
    return ET.fromstring(render(report).encode("utf-8"))


def outcome_of(test: ET.Element) -> str:
    found = [tag for tag in ("failure", "error", "skipped") if test.find(tag) is not None]
    assert len(found) <= 1
    return found[0] if found else "passed"


def test_suites_and_totals() -> None:
    root = parse(REPORT)
    assert root.tag == "testsuites"
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["guard cases", "guard regressions", "guard rules"]
    cases = suites["guard cases"]
    assert (cases.get("tests"), cases.get("failures"), cases.get("skipped")) == ("4", "1", "1")
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("8", "3", "0")
    assert "1 of 2 regressions proven" in (cases.findtext("system-out") or "")


def test_a_failing_case_says_why() -> None:
    test = parse(REPORT).find(".//testcase[@name='radik-closed']")
    assert test is not None
    assert test.get("classname") == "expense"
    assert test.get("file") == "evals/radik.md"
    failure = test.find("failure")
    assert failure is not None
    assert failure.get("type") == "FAIL"
    assert failure.get("message") == "FAIL: 0 of 2 passed; no_changes: 1 file changed"
    assert "trial 1, 2: no_changes: 1 file changed" in (failure.text or "")
    assert "0 of 2 shows a true rate of at most 66 %" in (failure.text or "")


@pytest.mark.parametrize("verdict", sorted(CASE_CODES))
def test_case_verdicts(verdict: str) -> None:
    expected = {
        model.PASS: "passed",
        model.XFAIL: "passed",
        model.FAIL: "failure",
        model.XPASS: "failure",
        **dict.fromkeys((model.SKIP, model.OWED, model.STALE, model.BLOCKED), "skipped"),
    }.get(verdict, "error")
    root = parse(Report("run", cases=(CaseResult("c", "a", verdict),)))
    (test,) = root.iter("testcase")
    assert outcome_of(test) == expected


@pytest.mark.parametrize("verdict", sorted(PROOF_CODES))
def test_proof_verdicts(verdict: str) -> None:
    expected = {
        model.PROVEN: "passed",
        **dict.fromkeys((model.PENDING, model.SKIP, model.RETIRED), "skipped"),
        **dict.fromkeys((model.INCONCLUSIVE, model.STALE, model.BLOCKED), "error"),
    }.get(verdict, "failure")
    root = parse(Report("verify", regressions=(ProofResult("r", "a", "c", verdict),)))
    (test,) = root.iter("testcase")
    assert outcome_of(test) == expected


def test_prose_alone_is_skipped_where_it_fails_no_run() -> None:
    prose = CaseResult("c", "a", model.UNGRADED, advisory=True)
    (test,) = parse(Report("run", cases=(prose,))).iter("testcase")
    assert outcome_of(test) == "skipped"


def test_a_warning_fails_only_under_strict() -> None:
    for strict, expected in ((False, "passed"), (True, "failure")):
        root = parse(REPORT._replace(strict=strict))
        (test,) = root.iterfind(".//testcase[@name='near-miss-header']")
        assert outcome_of(test) == expected


def test_control_characters_are_removed_and_the_rest_survives() -> None:
    root = parse(nasty_report())
    names = [test.get("name") for test in root.iter("testcase")]
    assert names[0] == "a|b\n[31m<b>&]]> \u202e`@me` #1"


def test_an_empty_report_is_valid() -> None:
    assert parse(Report("run")).get("tests") == "0"
