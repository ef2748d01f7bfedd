"""Finds the drift of a run, and notes it in the run's report: it changes no verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from guard.drift.comparing import compared, mixed
from guard.drift.telling import Drifted, sentences
from guard.drift.versions import Held, sides_of, versions_of
from guard.model import PASS, PROVEN, RETIRED, XFAIL
from guard.results import CaseResult, Drift, ProofResult, Report
from guard.store import Store

#: What shows what a sentence is about, whatever the cases and dates.
Kind = tuple[str, str, str, str]


def with_drift(report: Report, store: Store) -> Report:
    """Return the report with what is another version than when its cases last held.

    Only what was run now is looked at: a receipt answers for the same versions alone.
    """
    held = store.last_held() if _has_run(report) else {}
    cases = tuple(case._replace(drift=_of_case(case, held)) for case in report.cases)
    found: dict[Kind, tuple[Drift, Drifted]] = {}
    for case in cases:
        fails = case.verdict not in (PASS, XFAIL)
        _collect(found, case.case, case.agent, case.drift, fails=fails)
    for proof in report.regressions:
        drift = _of_proof(proof, held)
        fails = proof.verdict not in (PROVEN, RETIRED)
        _collect(found, proof.id, proof.agent, drift, fails=fails)
    said = sentences(found.values(), _agents(report))
    return report._replace(cases=cases, drift=said)


def _collect(
    found: dict[Kind, tuple[Drift, Drifted]],
    name: str,
    agent: str,
    drifts: tuple[Drift, ...],
    *,
    fails: bool,
) -> None:
    for drift in drifts:
        kind = (drift.what, drift.name, drift.now, drift.was)
        _, drifted = found.setdefault(kind, (drift, Drifted()))
        drifted.add(name, agent, drift, fails=fails)


def _has_run(report: Report) -> bool:
    return any(case.trials for case in report.cases) or any(map(sides_of, report.regressions))


def _of_case(case: CaseResult, held: Mapping[str, Held]) -> tuple[Drift, ...]:
    if not case.trials:
        return ()
    known = held.get(case.case)
    changed = compared(versions_of(case.trials), known) if known else ()
    return (*changed, *mixed(case.trials))


def _of_proof(proof: ProofResult, held: Mapping[str, Held]) -> tuple[Drift, ...]:
    """Compare the fixed side, where it was run now; both sides must be of one model."""
    found: list[Drift] = []
    after = proof.after_result
    if after is not None and after.trials and not after.reused and after.case in held:
        found += compared(versions_of(after.trials), held[after.case])
    both = tuple(trial for side in sides_of(proof) for trial in side.trials)
    return (*found, *mixed(both))


def _agents(report: Report) -> Iterator[str]:
    yield from (case.agent for case in report.cases)
    yield from (proof.agent for proof in report.regressions)
