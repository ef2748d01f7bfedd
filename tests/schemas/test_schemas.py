"""The schemas name the keys that guard reads, and agree with its own validation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from guard import casekeys, config, regressions
from guard.cases.markdown import parse as parse_case
from guard.errors import ConfigError, UsageError
from guard.evaluators import declared_keys
from guard.schemas import SCHEMAS, described_keys, schema_text
from guard.yamlfile import load_yaml

Schema = dict[str, Any]


def read(name: str) -> Schema:
    found: Schema = json.loads(schema_text(name))
    return found


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_is_a_schema_and_complete_in_itself(name: str) -> None:
    found = read(name)
    Draft202012Validator.check_schema(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for reference in re.findall(r'"\$ref": "([^"]*)"', schema_text(name)):
        kind, _, target = reference.rpartition("/")
        assert kind == "#/$defs"
        assert target in found["$defs"]


def tables() -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Return (name, the keys that guard reads, the properties of the schema)."""
    case, guard_yaml, records = read("case"), read("guard.yaml"), read("regressions.json")
    top = guard_yaml["properties"]
    agent = guard_yaml["$defs"]["agent"]["properties"]
    without_id = {key: 0 for key in casekeys.CASE_KEYS if key != "id"}
    return [
        ("guard.yaml", config.KEYS, top),
        ("agent", config.AGENT_KEYS, agent),
        ("defaults", without_id, top["defaults"]["properties"]),
        ("fix", config.DEFAULTS["fix"], top["fix"]["properties"]),
        ("enforce", dict.fromkeys(config.ENFORCEABLE), top["enforce"]["properties"]),
        ("hooks", config.DEFAULTS["hooks"], top["hooks"]["properties"]),
        *(
            (hook, keys, top["hooks"]["properties"][hook]["properties"])
            for hook, keys in config.DEFAULTS["hooks"].items()
        ),
        ("receipts", config.DEFAULTS["receipts"], top["receipts"]["properties"]),
        ("case", casekeys.CASE_KEYS, case["properties"]),
        (
            "precondition",
            dict.fromkeys(casekeys.PRECONDITIONS),
            case["$defs"]["precondition"]["properties"],
        ),
        (
            "expected",
            declared_keys(),
            case["$defs"]["expected"]["properties"],
        ),
        ("regressions.json", regressions.KEYS, records["properties"]),
        ("record", regressions.RECORD_KEYS, records["$defs"]["record"]["properties"]),
    ]


@pytest.mark.parametrize(("name", "keys", "properties"), tables(), ids=[t[0] for t in tables()])
def test_the_keys_are_those_that_guard_reads(
    name: str, keys: Mapping[str, Any], properties: Mapping[str, Any]
) -> None:
    assert set(properties) == set(keys)


def test_what_two_schemas_share_is_the_same_in_both() -> None:
    case, guard_yaml = read("case")["$defs"], read("guard.yaml")["$defs"]
    shared = case.keys() & guard_yaml.keys()
    assert {"gate", "trials", "timeout", "prerequisites"} <= shared
    assert {name: case[name] for name in shared} == {name: guard_yaml[name] for name in shared}


def test_every_key_has_a_description() -> None:
    assert [(where, key) for where, key, text in described_keys() if not text] == []


def is_valid(schema: str, document: Any) -> bool:
    validator: Any = Draft202012Validator(read(schema))
    return bool(validator.is_valid(document))


AGENT = "paths: [skills/a/**], target: command"
CONFIGS = [
    (True, "version: 1"),
    (True, 'version: "1"'),
    (True, f"version: 1\nagents: {{a b: {{{AGENT}}}}}"),
    (True, f"version: 1\nagents: {{a: {{{AGENT}, workspace: ., gate: firm, max_age: 7d}}}}"),
    (True, f"version: 1\nagents: {{a: {{{AGENT}, python: [uv, run, python], env: [A_KEY]}}}}"),
    (True, "version: 1\nagents: {a: {each: skills/*, target: claude-code}}"),
    (True, "version: 1\nenforce: {fix-needs-case: block}"),
    (True, "version: 1\nenforce: {fix-needs-case: {warn, until: 2031-01-31}}"),
    (True, "version: 1\nfix: {unit: range, types: [fix, hotfix]}\nserved: langgraph.json"),
    (True, "version: 1\nhooks: {pre-push: {owed: ci, max_seconds: 0}}"),
    (True, "version: 1\nhooks: {pre-receive: {max_seconds: 4.5}}"),
    (True, "version: 1\nreceipts: {max_age: 12h, accept: [ci, local]}"),
    (True, "version: 1\nplugins: [evals/guard_plugin.py]\ndefaults: {trials: 5, timeout: 9.5}"),
    (False, "agents: {}"),
    (False, "version: 2"),
    (False, "version: 1\nagent: {}"),
    (False, "version: 1\nagents: {a: {paths: []}}"),
    (False, "version: 1\nagents: {a: {paths: [/etc/x]}}"),
    (False, "version: 1\nagents: {a: {paths: [a/../b]}}"),
    (False, "version: 1\nagents: {a: {paths: ['a\\b']}}"),
    (False, "version: 1\nagents: {a: {paths: [a], each: b/*}}"),
    (False, "version: 1\nagents: {'a, b': {paths: [a]}}"),
    (False, "version: 1\nagents: {a: {paths: [a], paid: maybe}}"),
    (False, "version: 1\nagents: {a: {paths: [a], env: [1A]}}"),
    (False, "version: 1\nagents: {a: {paths: [a], max_age: month}}"),
    (False, "version: 1\nagents: {a: {paths: [a], prerequisites: [claude]}}"),
    (False, "version: 1\nagents: {a: {paths: [a], prerequisites: ['tcp:host:port']}}"),
    (False, "version: 1\nagents: {a: {paths: [a], gate: sloppy}}"),
    (False, "version: 1\nagents: {a: {paths: [a], trials: 0}}"),
    (False, "version: 1\nagents: {a: {paths: [a], min_pass_rate: 90}}"),
    (False, "version: 1\nplugins: [evals/plugin]"),
    (False, "version: 1\ndefaults: {id: x}"),
    (False, "version: 1\nenforce: {fix-needs-case: warn}"),
    (False, "version: 1\nenforce: {fix-needs-case: {warn, until: soon}}"),
    (False, "version: 1\nenforce: {near-miss-header: block}"),
    (False, "version: 1\nfix: {unit: branch}"),
    (False, "version: 1\nhooks: {pre-push: {owed: later}}"),
    (False, "version: 1\nhooks: {pre-receive: {max_seconds: 0}}"),
    (False, "version: 1\nhooks: {pre-receive: {max_seconds: 30, owed: ci}}"),
    (False, "version: 1\nreceipts: {accept: [everyone]}"),
]


@pytest.mark.parametrize(("valid", "text"), CONFIGS)
def test_guard_yaml_by_schema_and_by_guard(valid: bool, text: str) -> None:
    document = load_yaml(text, "guard.yaml")
    try:
        config.validate(text)
        accepted = True
    except ConfigError:
        accepted = False
    assert (is_valid("guard.yaml", document), accepted) == (valid, valid)


JUDGE = "rubric: nice, model: a:m, canaries: {accept: hi, reject: no}"
CASES = [
    (True, "id: x"),
    (True, "id: ü-1\nutterance: hallo\nturns: [a, b]\nexpected: {no_changes: true}"),
    (True, "id: 7\ninput: {a: 1}\ngiven: {files: {a.md: '', 'b c.md': {from: fixtures/b}}}"),
    (True, "id: x\npreconditions: [{file_exists: a}, {match: {text: b, in: '*.md', regex: true}}]"),
    (True, "id: x\nexpected_baseline: [{failing_keys: [a], only_when: {m: 1}, note: null}]"),
    (True, "id: x\ncounter_examples: [{reply: '', fails: [a]}, {files: {a: b}, fails: [c]}]"),
    (True, "id: x\ngate: quick\ntimeout: 0.5\nprerequisites: ['tcp:localhost:80', 'env:A']"),
    (True, "id: x\ntype: negative\nevidence_class: live_e2e\nreal_world: true"),
    (True, "id: x\nexpected: {files: {a: {contains: b, min_bytes: 1}, c: {absent: true}}}"),
    (True, "id: x\nexpected: {command: {argv: [a]}, fields: {a: 1}, min_accuracy: 0.5}"),
    (True, "id: x\nexpected: {artifacts: [{path: a, json_pointer: /b~1c, equals: null}]}"),
    (True, "id: x\nexpected: {output: [{pointer: '', one_of: [1]}], tools_used: [{name: Read}]}"),
    (True, "id: x\nexpected: {my_plugins_key: 3}"),
    (False, "agent: a"),
    (False, "id: a b"),
    (False, "id: 'a#b'"),
    (False, "id: x\nutterence: hi"),
    (False, "id: x\nutterance: ' '"),
    (False, "id: x\nturns: hi"),
    (True, "id: x\ngiven: {files: {a: b}, postgres: {seed: [select 1]}, my-queue_2: 3}"),
    (False, "id: x\ngiven: {Queue: 1}"),
    (False, "id: x\ngiven: {'my queue': 1}"),
    (False, "id: x\ngiven: {files: {../a: b}}"),
    (False, "id: x\ngiven: {files: {a: {from: /b}}}"),
    (False, "id: x\npreconditions: [{file_exist: a}]"),
    (False, "id: x\npreconditions: [{match: a, no_match: b}]"),
    (False, "id: x\nexpected_baseline: [{failing_keys: []}]"),
    (False, "id: x\ncounter_examples: [{fails: [a]}]"),
    (False, "id: x\ncounter_examples: [{reply: a, fails: []}]"),
    (False, "id: x\ntimeout: 0"),
    (False, "id: x\nmin_pass_rate: 0"),
    (False, "id: x\ntype: neutral"),
    (False, "id: x\nexpected: {no_changes: false}"),
    (False, "id: x\nexpected: {exit_code: 127}"),
    (False, "id: x\nexpected: {files: {}}"),
    (False, "id: x\nexpected: {files: {a: {absent: true, contains: b}}}"),
    (False, "id: x\nexpected: {files: {/a: {absent: true}}}"),
    (False, "id: x\nexpected: {reply_contains: []}"),
    (False, "id: x\nexpected: {reply_contains: ['']}"),
    (False, "id: x\nexpected: {reply_contains: 400}"),
    (False, "id: x\nexpected: {artifacts: [{json_pointer: /a}]}"),
    (False, "id: x\nexpected: {artifacts: [{path: a, json_pointer: b}]}"),
    (False, "id: x\nexpected: {output: [{path: a}]}"),
    (False, "id: x\nexpected: {command: {exit_code: 0}}"),
    (False, "id: x\nexpected: {max_turns: 0}"),
    (False, "id: x\nexpected: {judge: {rubric: nice}}"),
    (True, f"id: x\nexpected: {{judge: {{{JUDGE}}}}}"),
    (True, f"id: x\nexpected: {{judge: {{{JUDGE}, votes: 9, floor: 0.5}}}}"),
    (False, f"id: x\nexpected: {{judge: {{{JUDGE}, votes: 2}}}}"),
    (False, f"id: x\nexpected: {{judge: {{{JUDGE}, floor: 0}}}}"),
    (False, f"id: x\nexpected: {{judge: {{{JUDGE}, canary: a}}}}"),
    (False, f"id: x\nexpected: {{judge: {{{JUDGE.replace('a:m', 'm')}}}}}"),
    (False, f"id: x\nexpected: {{judge: {{{JUDGE.replace('reject: no', 'reject: 1')}}}}}"),
]


@pytest.mark.parametrize(("valid", "text"), CASES)
def test_a_case_by_schema_and_by_guard(valid: bool, text: str) -> None:
    document = load_yaml(text, "x.md")
    try:
        parse_case("x.md", f"---\n{text}\n---\n")
        accepted = True
    except ConfigError:
        accepted = False
    assert (is_valid("case", document), accepted) == (valid, valid)


WHOLE: dict[str, Any] = {
    "agent": "expense",
    "case": "evals/cases/eur-taxi.md",
    "incident": {"summary": "converted", "date": "2031-07-10", "issue": None},
    "before": {"kind": "parent"},
    "fails_on": ["no_changes"],
    "proof": {
        "before": {"passed": 0, "trials": 4},
        "after": {"passed": 10, "trials": 10},
        "date": "2031-07-12",
        "receipts": ["sha256:0a"],
    },
    "status": "active",
    "retirement": None,
}
RECORDS: list[tuple[bool, dict[str, Any]]] = [
    (True, {}),
    (True, {"proof": None}),
    (True, {"before": {"kind": "revision", "rev": "v1.0"}}),
    (True, {"status": "retired", "retirement": {"reason": "gone", "date": "2031-08-01"}}),
    (True, {"observations": {"rejected": "regressions/x/red"}, "reopened": 2}),
    (False, {"agent": ""}),
    (False, {"before": {"kind": "revision"}}),
    (False, {"before": {"kind": "parent", "rev": "v1.0"}}),
    (True, {"before": {"kind": "patch", "path": "a.patch"}}),
    (False, {"before": {"kind": "patch"}}),
    (False, {"before": {"kind": "patch", "path": "../a.patch"}}),
    (False, {"before": {"kind": "patch", "path": "a.patch", "rev": "v1.0"}}),
    (False, {"before": {"kind": "parent", "path": "a.patch"}}),
    (True, {"before": {"kind": "command", "argv": ["a"]}}),
    (True, {"before": {"kind": "command", "argv": ["a"], "expect_exit": 128}}),
    (True, {"before": {"kind": "command", "argv": ["a"], "expect_exit": 0, "expect_output": "b"}}),
    (False, {"before": {"kind": "command"}}),
    (False, {"before": {"kind": "command", "argv": []}}),
    (False, {"before": {"kind": "command", "argv": ["a"], "expect_exit": 126}}),
    (False, {"before": {"kind": "command", "argv": ["a"], "expect_exit": 137}}),
    (False, {"before": {"kind": "command", "argv": ["a"], "expect_exit": 0}}),
    (False, {"before": {"kind": "patch", "path": "a", "expect_exit": 1}}),
    (True, {"before": {"kind": "parent", "capsule": "a.capsule"}}),
    (True, {"before": {"kind": "command", "argv": ["a"], "capsule": "a.capsule"}}),
    (False, {"before": {"kind": "parent", "capsule": "../a.capsule"}}),
    (False, {"before": {"kind": "guess"}}),
    (False, {"status": "parked"}),
    (False, {"status": "retired"}),
    (False, {"retirement": {"reason": "gone"}}),
    (False, {"proof": {"before": {"passed": 0}}}),
    (False, {"observations": {"rejected": "../x"}}),
    (False, {"reopened": -1}),
    (False, {"fails-on": ["no_changes"]}),
]


@pytest.mark.parametrize(("valid", "changed"), RECORDS)
def test_regressions_by_schema_and_by_guard(valid: bool, changed: dict[str, Any]) -> None:
    document = {"schema": regressions.SCHEMA, "regressions": {"eur-taxi": {**WHOLE, **changed}}}
    try:
        regressions.validate(json.dumps(document).encode())
        accepted = True
    except ConfigError:
        accepted = False
    assert (is_valid("regressions.json", document), accepted) == (valid, valid)


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(UsageError) as refused:
        schema_text("guard.yml")
    assert "guard.yaml" in refused.value.hint
    assert "did you mean `guard.yaml`" in refused.value.message
    assert schema_text("guard") == schema_text("guard.yaml")
