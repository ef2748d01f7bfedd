"""What the store keeps of the versions that drove a run, as rows and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from guard.drift.versions import Held, versions_from_json, versions_of, versions_to_json
from guard.model import PASS, XFAIL
from guard.results import CaseResult, Report
from guard.storage.records import dump


def driven_by(report: Report) -> dict[str, Any]:
    """Return agent → what drove its trials in a run; what a receipt answered drove nothing."""
    found: dict[str, list[CaseResult]] = {}
    for case in _run_now(report):
        found.setdefault(case.agent, []).append(case)
    return {
        agent: versions_to_json(versions_of(chain.from_iterable(case.trials for case in cases)))
        for agent, cases in found.items()
    }


def held_rows(report: Report) -> Iterator[tuple[str, str, str]]:
    """Yield case, agent and versions of what was run and held."""
    for case in _run_now(report):
        if case.verdict in (PASS, XFAIL):
            yield case.case, case.agent, dump(versions_to_json(versions_of(case.trials)))


def held_from(date: str, body: str) -> Held:
    """Return what a row says."""
    return Held(versions_from_json(json.loads(body)), date)


def _run_now(report: Report) -> Iterator[CaseResult]:
    """Yield the cases that were run, and the fixed sides of proofs."""
    after = (proof.after_result for proof in report.regressions)
    for case in (*report.cases, *(side for side in after if side is not None)):
        if case.trials and not case.reused:
            yield case
