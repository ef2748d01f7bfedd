"""The report as JSON, schema ``guard.report.v1`` (guard/schemas/report.schema.json)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from guard.errors import ExitCode
from guard.model import Violation
from guard.results import (
    BaseRun,
    CaseResult,
    Drift,
    ProofResult,
    Report,
    Side,
    TrialResult,
)
from guard.verdict import CASE_CODES, established_code, exit_code
from guard.wording.intervals import wilson

SCHEMA: Final = "guard.report.v1"
#: Bytes of one stream that a report shows; everything was graded.
STREAM_LIMIT: Final = 1 << 20
SURROGATE: Final = re.compile("[\ud800-\udfff]")
VERDICTS: Final = {
    ExitCode.OK: "PASS",
    ExitCode.REGRESSION: "FAIL",
    ExitCode.USAGE: "USAGE",
    ExitCode.NOT_ESTABLISHED: "NOT_ESTABLISHED",
    ExitCode.BUG: "ERROR",
    ExitCode.INTERRUPTED: "NOT_ESTABLISHED",
}


def render(report: Report) -> str:
    """Return the report as indented JSON in valid UTF-8."""
    cleaned = clean(report_to_json(report))
    return json.dumps(cleaned, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def report_to_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON values, with every key of the schema."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "run_id": report.run_id,
        "command": report.command,
        "started": report.started,
        "finished": report.finished,
        "live": report.live,
        "repo": {"sha": report.sha, "ref": report.ref, "tree": report.tree},
        "at": report.at,
        "strict": report.strict,
        "verdict": VERDICTS[ExitCode(established_code(report))],
        "exit_code": exit_code(report),
        "counts": _counts(report),
        "cases": [_case(case) for case in report.cases],
        "regressions": [_proof(proof) for proof in report.regressions],
        "rules": [_rule(rule) for rule in report.rules],
        "exempt_evidence": list(report.exempt),
        "not_established": list(report.not_established),
    }
    if report.drift:
        document["drift"] = list(report.drift)
    if report.report_only:  # why the exit code is none of what failed
        document["report_only"] = True
    return document


def _counts(report: Report) -> dict[str, int]:
    """Return how many cases got each verdict, zeros too."""
    verdicts = [case.verdict for case in report.cases]
    return {verdict: verdicts.count(verdict) for verdict in (*CASE_CODES, *sorted(set(verdicts)))}


def _case(case: CaseResult) -> dict[str, Any]:
    trials = case.graded_count
    found: dict[str, Any] = {
        "id": case.case,
        "agent": case.agent,
        "verdict": case.verdict,
        "passed": case.passed,
        "trials": trials,
        "interval": list(wilson(case.passed, trials)) if trials else None,
        "scores": _scores(case.trials),
        "reason": case.reason,
        "affected_by": list(case.affected_by),
        "cost_usd": case.cost_usd,
        "seconds": case.seconds,
        "receipt": case.receipt or None,
        "evidence_class": case.evidence_class or None,
        "evidence_disqualifiers": list(case.evidence_disqualifiers),
        "runs": [_run(trial) for trial in case.trials],
    }
    if case.reused:
        found["reused"] = case.reused
    if case.drift:
        found["drift"] = [_drift(drift) for drift in case.drift]
    if case.base is not None:
        found["base"] = _base(case.base)
    return found


def _drift(drift: Drift) -> dict[str, Any]:
    """Return one version that is another now; ``was`` is null where several answered in a run."""
    return {
        "what": drift.what,
        "name": drift.name,
        "now": drift.now,
        "was": drift.was or None,
        "since": drift.since or None,
    }


def _base(base: BaseRun) -> dict[str, Any]:
    """Return how a failing case ended before the change; without a verdict it was not run."""
    return {
        "sha": base.sha,
        "verdict": base.verdict or None,
        "passed": base.passed,
        "trials": base.trials,
        "reason": base.reason,
        "reused": base.reused or None,
    }


def _scores(trials: Sequence[TrialResult]) -> dict[str, Any]:
    values: dict[str, list[float]] = {}
    for trial in trials:
        for score in trial.scores:
            values.setdefault(score.key, []).append(score.value)
    return {
        key: {"mean": sum(found) / len(found), "min": min(found), "n": len(found)}
        for key, found in values.items()
    }


def _run(trial: TrialResult) -> dict[str, Any]:
    seen = trial.observation
    found: dict[str, Any] = {
        "trial_id": trial.trial_id or f"{trial.case}#{trial.number}",
        "verdict": trial.verdict,
        "argv": list(seen.argv),
        "exit_status": seen.exit_status,
        "stdout": cut_stream(seen.stdout),
        "stderr": cut_stream(seen.stderr),
        "reply": cut_stream(seen.reply),
        "changes": [change._asdict() for change in seen.changes],
        "artifacts": {c.path: c.status for c in seen.changes if c.status != "D"},
        "orphan_pids_after_teardown": list(trial.orphan_pids),
        "execution_provenance": _provenance(trial),
    }
    if seen.services:
        found["services"] = dict(seen.services)
    judged = {score.key: dict(score.evidence) for score in trial.scores if score.evidence}
    return {**found, "judged": judged} if judged else found


def _provenance(trial: TrialResult) -> dict[str, Any]:
    """Return how and by what the trial was made; null is what the target can't tell."""
    seen = trial.observation
    return {
        "number": trial.number,
        "started": trial.started,
        "seconds": seen.seconds,
        "reason": trial.reason,
        "failing": list(trial.failing),
        "excused": list(trial.excused),
        "model": seen.model,
        "program": seen.program,
        "asked": trial.asked._asdict(),
        "loaded": seen.loaded,
        "used": seen.used,
        "cost_usd": trial.cost_usd,
        "tokens": seen.tokens,
        "turns": seen.turns,
        "response_ids": list(seen.response_ids),
        "isolation": trial.isolation,
        "workspace_before": trial.workspace_before,
        "workspace_after": trial.workspace_after,
    }


def _proof(proof: ProofResult) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": proof.id,
        "agent": proof.agent,
        "case": proof.case,
        "verdict": proof.verdict,
        "state": proof.state or None,
        "before": _side(proof.before),
        "after": _side(proof.after),
        "p_value": proof.p_value,
        "reason": proof.reason,
    }
    sides = (("before", proof.before_result), ("after", proof.after_result))
    reused = {name: side.reused for name, side in sides if side and side.reused}
    return {**found, "reused": reused} if reused else found


def _side(side: Side | None) -> dict[str, int] | None:
    return None if side is None else {"passed": side.passed, "trials": side.trials}


def _rule(rule: Violation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rule": rule.rule,
        "commit": rule.commit or None,
        "agent": rule.agent or None,
        "paths": list(rule.paths),
        "message": rule.message,
        "hint": "\n".join(rule.hint),
    }
    if rule.warning:  # named, and breaks nothing
        found["warning"] = True
    return found


def cut_stream(text: str) -> str:
    """Cut a stream past 1 MiB, and say that it was."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) <= STREAM_LIMIT:
        return text
    kept = data[:STREAM_LIMIT].decode("utf-8", "ignore")
    return f"{kept}\n[guard: cut here; {len(data) - STREAM_LIMIT} bytes more were graded]"


def clean(value: Any) -> Any:
    """Return the value fit for strict JSON: no lone surrogate, no NaN, keys that are text."""
    if isinstance(value, str):
        return SURROGATE.sub(_escape, value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {clean(str(name)): clean(item) for name, item in cast("Any", value).items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in cast("Sequence[Any]", value)]
    return value


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
