"""regressions.json: its keys, its errors, and the form in which it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guard.errors import ConfigError
from guard.regressions import parse_regressions, write_regressions

RECORD: dict[str, Any] = {
    "agent": "expense",
    "case": "evals/cases/eur-taxi.md",
    "incident": {"summary": "converted 400 EUR", "date": "2026-07-10", "issue": None},
    "claims": [],
    "seams": [],
    "before": {"kind": "parent"},
    "fails_on": ["no_changes"],
    "proof": {
        "before": {"passed": 0, "trials": 4},
        "after": {"passed": 10, "trials": 10},
        "date": "2026-07-12",
        "receipts": ["sha256:a", "sha256:b"],
    },
    "status": "active",
    "retirement": None,
}


def file_of(**changed: Any) -> bytes:
    record = {**RECORD, **changed}
    document = {"schema": "guard.regressions.v1", "incidents": {}, "regressions": {"eur": record}}
    return json.dumps(document, indent=2).encode()


def test_the_record_of_design_loads() -> None:
    record = parse_regressions(file_of())["eur"]
    assert record.case_path == "evals/cases/eur-taxi.md"
    assert record.fails_on == ("no_changes",)
    assert not record.retired
    assert record.named_files() == ("evals/cases/eur-taxi.md", "regressions/eur")


def test_a_case_of_several_is_named_behind_a_hash() -> None:
    record = parse_regressions(file_of(case="evals/data.json#row-3"))["eur"]
    assert record.case_path == "evals/data.json"


@pytest.mark.parametrize(
    ("changed", "key", "said"),
    [
        ({"before": {"kind": "revision"}}, "before", "needs the key `rev`"),
        ({"before": {"kind": "parent", "rev": "x"}}, "before.rev", "takes no `rev`"),
        ({"before": {"kind": "parnet"}}, "before.kind", "did you mean `parent`"),
        ({"before": {"kind": "patch"}}, "before", "needs the key `path`"),
        ({"before": {"kind": "patch", "path": "../x"}}, "before.path", "leaves"),
        ({"before": {"kind": "patch", "path": "x", "rev": "y"}}, "before.rev", "takes no `rev`"),
        ({"before": {"kind": "command"}}, "before", "needs the key `argv`"),
        ({"before": {"kind": "command", "argv": []}}, "before.argv", "names no program"),
        (
            {"before": {"kind": "command", "argv": ["x"], "expect_exit": 127}},
            "before.expect_exit",
            "never shows",
        ),
        (
            {"before": {"kind": "command", "argv": ["x"], "expect_exit": 0}},
            "before.expect_exit",
            "0 alone shows nothing",
        ),
        ({"before": {"kind": "parent", "argv": ["x"]}}, "before.argv", "takes no `argv`"),
        ({"before": {"kind": "parent", "capsule": "/x"}}, "before.capsule", "leaves"),
        ({"fails_on": "no_changes"}, "fails_on", "must be a list"),
        ({"status": "retired"}, "retirement", "says why"),
        ({"status": "done"}, "status", "is none of active, retired"),
        ({"fail_on": []}, "fail_on", "did you mean `fails_on`"),
        ({"proof": {"before": {"passed": 0}}}, "proof.before", "`trials` is missing"),
        ({"reopened": -1}, "reopened", "must be at least 0"),
        ({"observations": {"rejected": "../x"}}, "observations.rejected", "leaves"),
    ],
)
def test_errors_name_line_and_key(changed: dict[str, Any], key: str, said: str) -> None:
    content = file_of(**changed)
    with pytest.raises(ConfigError, match=said) as caught:
        parse_regressions(content)
    assert caught.value.key == f"regressions.eur.{key}"
    last = key.rpartition(".")[2]
    assert f'"{last}"' in content.decode().splitlines()[caught.value.line - 1] or "missing" in said


def test_retired_with_its_reason() -> None:
    retirement = {"reason": "the skill is gone", "date": "2026-01-01", "by": "ana"}
    assert parse_regressions(file_of(status="retired", retirement=retirement))["eur"].retired


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "regressions.json:1: not valid JSON"),
        (b"[" * 5000, "regressions.json:1: not valid JSON: nested too deeply"),
        (b"[]", "must be a mapping, not a list"),
        (b'{"schema": "guard.regressions.v1"}', "the key `regressions` is missing"),
        (b'{"schema": "v9", "regressions": {}}', "is none of guard.regressions.v1"),
        (b'{"schema": 1,\n"schema": 2}', "regressions.json:2: schema: stands here twice"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_files_that_are_none(content: bytes, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_regressions(content)


def test_it_is_written_sorted_with_two_spaces() -> None:
    document = json.loads(file_of())
    document["regressions"] = {"b": RECORD, "a": RECORD}
    text = write_regressions(document).decode()
    assert text.index('"a"') < text.index('"b"')
    assert text.startswith('{\n  "schema"')
    assert text.endswith("}\n")
    assert set(parse_regressions(text.encode())) == {"a", "b"}
