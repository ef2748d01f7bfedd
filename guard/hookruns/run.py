"""Runs cases in a hook: within its budget, heard of while it works, remembered afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from guard import model
from guard.affected import Selected
from guard.drift.noting import with_drift
from guard.engine import Engine, Limits
from guard.hookruns.heartbeat import heartbeat
from guard.hookruns.standing import OWED, Standing, case_standing
from guard.model import Case, Violation
from guard.project import Project
from guard.reporting import now, tell_plugins
from guard.results import CaseResult, ProofResult, Report, TrialResult
from guard.rules.case_texts import broken_by_results
from guard.running.budget import Budget
from guard.running.listener import TrialListener
from guard.wording.units import count, duration


class Estimate(NamedTuple):
    """What it will take to pay what is owed, at most, as far as it is known."""

    seconds: float | None = None
    cost_usd: float | None = None


class HookRun(NamedTuple):
    """What a hook established of one tree."""

    standing: Standing
    estimate: Estimate = Estimate()
    budget_seconds: float = 0.0
    drift: tuple[str, ...] = ()
    """Which model or program is another than when the cases last held."""
    rules: tuple[Violation, ...] = ()
    """What the run showed to be broken in the cases' own texts."""


#: Judges the records of a tree with the engine that ran its cases.
Verify = Callable[[Engine], Sequence[ProofResult]]


def run_in_hook(
    project: Project,
    selection: Sequence[Selected],
    stage: str,
    *,
    at: str,
    verify: Verify = lambda engine: (),
    budget: Budget | None = None,
) -> HookRun:
    """Run the cases as far as they fit the stage's budget; a FAIL by a gate is confirmed."""
    limits = project.config.hooks[stage]
    budget = budget or budget_of(limits)
    began = now()
    pulse = Pulse()
    with TrialListener(project, len(selection)) as listener:

        def heard(trial: TrialResult) -> None:
            pulse.heard(trial)
            listener(trial)

        with Engine(project, Limits(confirm=True), budget, heard) as engine:
            with heartbeat(pulse.describe):
                cases = tuple(engine.run(selection))
                proofs = tuple(verify(engine))
            estimate = estimate_owed(engine, cases)
    standing = Standing(cases, proofs)
    drift = remember(project, f"hook {stage}", at, engine.run_id, began, standing)
    rules = tuple(broken_by_results(project, cases))
    return HookRun(standing, estimate, float(limits["max_seconds"]), drift, rules)


def budget_of(limits: Mapping[str, Any]) -> Budget:
    """Return the budget that guard.yaml gives a hook."""
    return Budget(float(limits["max_seconds"]), float(limits["max_cost_usd"]))


class Pulse:
    """Counts what is done, and says so when asked."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._trials = 0
        self._cases: set[str] = set()

    def heard(self, result: TrialResult) -> None:
        """Take a trial that has ended."""
        self._trials += 1
        self._cases.add(result.case)

    def describe(self) -> str:
        """Say how far it is."""
        done = f"{count(self._trials, 'trial')} of {count(len(self._cases), 'case')} done"
        return f"still running: {done}, {duration(time.monotonic() - self._began)} so far"


def estimate_owed(engine: Engine, results: Iterable[CaseResult]) -> Estimate:
    """Return what the owed cases will take together; unknown where one of them is."""
    owed = [engine.project.cases[r.case] for r in results if case_standing(r) == OWED]
    if not owed:
        return Estimate()
    found = [_estimate(engine, case) for case in owed]
    seconds = [one.seconds for one in found if one.seconds is not None]
    costs = [one.cost_usd for one in found if one.cost_usd is not None]
    return Estimate(
        sum(seconds) if len(seconds) == len(found) else None,
        sum(costs) if len(costs) == len(found) else None,
    )


def _estimate(engine: Engine, case: Case) -> Estimate:
    """Take the agent's other cases where this one was never run."""
    from guard.running.series import most_trials

    known = Estimate(*engine.estimate(case))
    if known.seconds is not None:
        return known
    store, agent = engine.project.store, engine.project.agents[case.agent]
    trials = most_trials(case, deterministic=engine.is_deterministic(agent))
    seconds, cost = store.median_seconds(case.agent), store.median_cost(case.agent)
    return Estimate(
        None if seconds is None else seconds * trials / engine.jobs,
        None if cost is None else cost * trials,
    )


def remember(
    project: Project, command: str, at: str, run_id: str, began: str, standing: Standing
) -> tuple[str, ...]:
    """Keep the run, so that `guard show` and the next hook know of it; tell the plugins.

    Return which model or program is another than when the cases last held.
    """
    tested = tuple(case for case in standing.cases if case.verdict != model.NOT_TESTED)
    report = Report(
        command=command,
        run_id=run_id,
        started=began,
        finished=now(),
        tree=project.tree.oid,
        at=at,
        cases=tested,
        regressions=standing.proofs,
    )
    report = with_drift(report, project.store)
    project.store.put_run(report)
    tell_plugins(project, report)
    return report.drift
