from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.reports.json_report import STREAM_LIMIT, clean, cut_stream, render
from guard.results import BaseRun, CaseResult, Drift, Observation, Report, TrialResult
from guard.verdict import CASE_CODES
from tests.reports.sample import NASTY, REPORT, nasty_report, passing

SCHEMA: dict[str, Any] = json.loads(
    (files("guard") / "schemas" / "report.schema.json").read_text(encoding="utf-8")
)
#: The promised keys, to the letter.
KEYS = {
    "": "schema run_id command started finished live repo at strict verdict exit_code counts cases"
    " regressions rules exempt_evidence not_established",
    "repo": "sha ref tree",
    "cases": "id agent verdict passed trials interval scores reason affected_by cost_usd seconds"
    " receipt evidence_class evidence_disqualifiers runs",
    "runs": "trial_id verdict argv exit_status stdout stderr reply changes artifacts"
    " orphan_pids_after_teardown execution_provenance",
    "regressions": "id agent case verdict state before after p_value reason",
    "rules": "rule commit agent paths message hint",
}


def validate(document: dict[str, Any]) -> None:
    validator: Any = jsonschema.Draft202012Validator(SCHEMA)
    validator.validate(document)


def written(report: Report) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render(report))
    validate(document)
    return document


def test_every_key_of_the_design_and_no_other() -> None:
    document = written(REPORT)
    parts = {
        "": document,
        "repo": document["repo"],
        "cases": document["cases"][0],
        "runs": document["cases"][0]["runs"][0],
        "regressions": document["regressions"][0],
        "rules": document["rules"][0],
    }
    for name, part in parts.items():
        assert list(part) == KEYS[name].split(), name


def test_what_drifted_and_how_the_base_ended_are_there_where_they_are_known() -> None:
    first, *others = REPORT.cases
    told = Drift("model", "the model", "m-2", "m-1", "2026-07-12T10:00:00Z")
    alone = BaseRun("a1b2c3d", reason="the case is new")
    drifted = first._replace(drift=(told, Drift("model", "the model", "a; b")), base=alone)
    document = written(REPORT._replace(cases=(drifted, *others), drift=("the model is m-2",)))
    assert document["drift"] == ["the model is m-2"]
    case = document["cases"][0]
    assert [one["was"] for one in case["drift"]] == ["m-1", None]
    assert (case["base"]["verdict"], case["base"]["trials"]) == (None, 0)
    assert "base" not in document["cases"][1]


def test_the_schema_asks_for_the_same_keys() -> None:
    assert SCHEMA["required"] == KEYS[""].split()
    for name, plural in (("case", "cases"), ("run", "runs"), ("rule", "rules")):
        assert SCHEMA["$defs"][name]["required"] == KEYS[plural].split()
    assert SCHEMA["$defs"]["regression"]["required"] == KEYS["regressions"].split()
    assert set(SCHEMA["$defs"]["case"]["properties"]["verdict"]["enum"]) == set(CASE_CODES)


def test_the_schema_is_one_and_refuses_what_is_wrong() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    document = json.loads(render(REPORT))
    del document["cases"][0]["receipt"]
    with pytest.raises(jsonschema.ValidationError):
        validate(document)


def test_values() -> None:
    document = written(REPORT)
    assert (document["verdict"], document["exit_code"]) == ("FAIL", 1)
    assert document["repo"] == {"sha": "a1b2c3d4e5f6", "ref": "main", "tree": "ffff"}
    counts = document["counts"]
    assert (counts["PASS"], counts["FAIL"], counts["OWED"], counts["SKIP"]) == (2, 1, 1, 0)
    taxi, radik, olga, marcus = document["cases"]
    assert (taxi["passed"], taxi["trials"]) == (4, 4)
    assert [round(bound, 4) for bound in taxi["interval"]] == [0.5101, 1.0]
    assert taxi["scores"] == {"no_changes": {"mean": 1.0, "min": 1.0, "n": 4}}
    assert radik["scores"]["no_changes"] == {"mean": 0.0, "min": 0.0, "n": 2}
    assert olga["interval"] is None
    assert olga["receipt"] is None
    assert (marcus["passed"], marcus["trials"], marcus["receipt"]) == (10, 10, "sha256:abc")
    run = radik["runs"][0]
    assert run["changes"][0] == {
        "path": "budget.md",
        "status": "M",
        "insertions": 1,
        "deletions": 1,
    }
    assert run["artifacts"] == {"budget.md": "M"}
    assert run["execution_provenance"]["model"] == "sonnet"
    assert document["regressions"][0]["before"] == {"passed": 0, "trials": 3}
    assert document["regressions"][1]["after"] is None
    assert document["rules"][0]["hint"] == "guard capture expense\ngit add evals"


def test_only_a_warning_says_that_it_is_one() -> None:
    rules = written(REPORT)["rules"]
    assert "warning" not in rules[0]
    assert rules[1]["warning"] is True


@pytest.mark.parametrize("verdict", ["SKIP", "BLOCKED", "STALE", "OWED"])
def test_what_was_not_run_is_no_pass_as_a_whole(verdict: str) -> None:
    cases = (CaseResult("a", "clerk", "PASS"), CaseResult("b", "clerk", verdict))
    found = written(Report("run", cases=cases))
    assert (found["verdict"], found["exit_code"]) == ("NOT_ESTABLISHED", 0)
    found = written(Report("run", cases=cases[:1]))
    assert (found["verdict"], found["exit_code"]) == ("PASS", 0)
    failed = (*cases, CaseResult("c", "clerk", "FAIL"))
    assert written(Report("run", cases=failed))["verdict"] == "FAIL"


def test_report_only_keeps_the_verdict_and_says_so() -> None:
    document = written(REPORT._replace(report_only=True))
    assert (document["verdict"], document["exit_code"]) == ("FAIL", 0)
    assert document["report_only"] is True


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (0, "PASS"),
        (1, "FAIL"),
        (2, "USAGE"),
        (3, "NOT_ESTABLISHED"),
        (4, "ERROR"),
        (130, "NOT_ESTABLISHED"),
    ],
)
def test_verdict_follows_from_the_code(code: int, verdict: str) -> None:
    document = written(Report("run", exit_code=code))
    assert (document["verdict"], document["exit_code"]) == (verdict, code)


def test_a_stream_past_one_mebibyte_is_cut_with_a_note() -> None:
    assert cut_stream("x" * STREAM_LIMIT) == "x" * STREAM_LIMIT
    shown = cut_stream("ü" * STREAM_LIMIT)
    assert shown.endswith(f"[guard: cut here; {STREAM_LIMIT} bytes more were graded]")
    assert len(shown.encode()) < STREAM_LIMIT + 100
    loud = TrialResult("t", 1, "PASS", observation=Observation(stdout="y" * (2 << 20)))
    document = written(Report("run", cases=(CaseResult("t", "a", "PASS", (loud,)),)))
    assert len(document["cases"][0]["runs"][0]["stdout"]) < STREAM_LIMIT + 100


def test_what_is_no_utf8_is_escaped() -> None:
    text = render(nasty_report())
    assert json.loads(text.encode("utf-8"))["exempt_evidence"] == [NASTY.replace("\udcff", "\\xff")]


def test_a_score_that_is_no_number_is_null() -> None:
    (scores,) = json.loads(render(nasty_report()))["cases"][0]["scores"].values()
    assert scores == {"mean": None, "min": None, "n": 1}


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
        max_leaves=20,
    )
)
def test_anything_becomes_strict_utf8_json(value: Any) -> None:
    json.dumps(clean(value), ensure_ascii=False, allow_nan=False).encode("utf-8")


def test_a_passing_run() -> None:
    document = written(Report("run", cases=(passing("a"),)))
    assert (document["verdict"], document["exit_code"]) == ("PASS", 0)
