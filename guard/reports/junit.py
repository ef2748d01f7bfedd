"""The report as JUnit XML, as CI servers read it: cases, proofs and rules, a suite each."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Final

from guard import model
from guard.errors import ExitCode
from guard.model import Violation
from guard.reports.wording import base_sentence, by_receipt, proof_receipts
from guard.results import CaseResult, ProofResult, Report
from guard.verdict import case_code, proof_code, rule_code
from guard.wording.established import established
from guard.wording.intervals import describe_rate
from guard.wording.reasons import group_reasons

#: All that XML 1.0 has no room for, lone surrogates among them.
NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SKIPPED: Final = (model.SKIP, model.OWED, model.STALE, model.BLOCKED)
SKIPPED_PROOFS: Final = (model.PENDING, model.SKIP, model.RETIRED)


def render(report: Report) -> str:
    """Return the report as one XML document."""
    root = ET.Element("testsuites", name=f"guard {report.command}")
    _add_suite(root, "guard cases", [_case(case) for case in report.cases])
    _add_suite(root, "guard regressions", [_proof(proof) for proof in report.regressions])
    if report.rules:
        strict = report.strict
        _add_suite(root, "guard rules", [_rule(rule, strict=strict) for rule in report.rules])
    drift = [f"drift: {text}" for text in report.drift]
    ET.SubElement(root[0], "system-out").text = _xml("\n".join([*drift, established(report)]))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="utf-8"?>\n', "\n")
    )


def _add_suite(root: ET.Element, name: str, tests: Sequence[ET.Element]) -> None:
    def number(tag: str) -> str:
        return str(sum(test.find(tag) is not None for test in tests))

    suite = ET.SubElement(
        root,
        "testsuite",
        name=name,
        tests=str(len(tests)),
        failures=number("failure"),
        errors=number("error"),
        skipped=number("skipped"),
        time=f"{sum(float(test.get('time', '0')) for test in tests):.3f}",
    )
    suite.extend(tests)


def _case(case: CaseResult) -> ET.Element:
    test = _test(case.case, case.agent, case.seconds, case.path)
    told = [
        case.reason,
        *(f"{_numbers(g.numbers)}: {g.reason}" for g in group_reasons(case.trials)),
    ]
    if case.graded_count:
        told.append(describe_rate(case.passed, case.graded_count))
    told.append(by_receipt(case))
    if case.base is not None:
        told.append(base_sentence(case.base))
    text = "\n".join(line for line in told if line)
    if case.verdict in (model.PASS, model.XFAIL):
        _add_text(test, "system-out", text)
    elif case_code(case) == ExitCode.REGRESSION:
        _add_outcome(test, "failure", case.verdict, case.reason, text)
    elif case.verdict in SKIPPED or case.advisory:
        _add_outcome(test, "skipped", case.verdict, case.reason)
    else:
        _add_outcome(test, "error", case.verdict, case.reason, text)
    return test


def _numbers(numbers: Sequence[int]) -> str:
    return f"trial {', '.join(map(str, numbers))}"


def _proof(proof: ProofResult) -> ET.Element:
    test = _test(proof.id, proof.agent)
    sides = [
        f"{name} {side.passed} of {side.trials}"
        for name, side in (("before", proof.before), ("after", proof.after))
        if side is not None
    ]
    told = (proof.reason, ", ".join(sides), proof_receipts(proof), proof.hint)
    text = "\n".join(line for line in told if line)
    if proof_code(proof) == ExitCode.REGRESSION:
        _add_outcome(test, "failure", proof.verdict, proof.reason, text)
    elif proof.verdict in SKIPPED_PROOFS:
        _add_outcome(test, "skipped", proof.verdict, proof.reason)
    elif proof.verdict != model.PROVEN:
        _add_outcome(test, "error", proof.verdict, proof.reason, text)
    else:
        _add_text(test, "system-out", text)
    return test


def _rule(rule: Violation, *, strict: bool) -> ET.Element:
    test = _test(f"{rule.rule} {rule.commit}".strip(), rule.agent or "repository")
    text = "\n".join([rule.message, *rule.detail, *rule.paths, *rule.hint])
    if rule_code(rule, strict=strict) == ExitCode.REGRESSION:
        _add_outcome(test, "failure", rule.rule, rule.message, text)
    else:
        _add_text(test, "system-out", f"warning: {text}")
    return test


def _test(name: str, agent: str, seconds: float = 0.0, path: str = "") -> ET.Element:
    test = ET.Element("testcase", name=_xml(name), classname=_xml(agent), time=f"{seconds:.3f}")
    if path:
        test.set("file", _xml(path))
    return test


def _add_outcome(test: ET.Element, tag: str, kind: str, reason: str, text: str = "") -> None:
    said = f"{kind}: {reason}" if reason else kind
    outcome = ET.SubElement(test, tag, type=_xml(kind), message=_xml(said))
    if text:
        outcome.text = _xml(text)


def _add_text(test: ET.Element, tag: str, text: str) -> None:
    if text:
        ET.SubElement(test, tag).text = _xml(text)


def _xml(text: str) -> str:
    return NOT_XML.sub("", text)
