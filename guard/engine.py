"""Runs cases: plans them, starts trials on threads, and judges what came of them.

The way of one change through the code ends here: cases by trials, less what a receipt already
answers; then workspaces, targets and evaluators (`guard.trial`), and verdicts
(`guard.verdict`). Proofs run their two sides through the same loop.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import NamedTuple

from guard import model
from guard.affected import Selected
from guard.budget import Budget
from guard.model import Agent, Case, CaseResult, Policy, TrialResult
from guard.prerequisites import agent_python, find_missing
from guard.project import Project
from guard.receipts import Keys
from guard.series import Series, by_policy, most_trials
from guard.stage import Stage, prepare_stage
from guard.tree import Tree
from guard.trial import run_trial
from guard.verdict import confirm, judge_case
from guard.workspace import RunFolder

TrialListener = Callable[[TrialResult], None]


class Limits(NamedTuple):
    """How a run is bounded."""

    jobs: int = 0
    """Trials at once; 0: as many as there are cores."""
    timeout: float | None = None
    """Seconds for each trial, over what the cases state."""
    trials: int | None = None
    """Fixed trials for every case, over what the cases state."""
    fail_fast: bool = False
    no_cache: bool = False
    """Use no receipt."""
    confirm: bool = False
    """Confirm a FAIL by a gate with a second, fresh gate (the hooks do)."""


class Engine:
    """Runs the cases of one project, the tree under test."""

    def __init__(
        self,
        project: Project,
        limits: Limits | None = None,
        budget: Budget | None = None,
        on_trial: TrialListener | None = None,
    ) -> None:
        self.project = project
        self.limits = limits = limits or Limits()
        self.budget = budget or Budget()
        self.keys = Keys(project)
        self.jobs = limits.jobs or os.cpu_count() or 1
        self._on_trial = on_trial or (lambda result: None)
        self._folder: RunFolder | None = None
        self._stages: dict[tuple[str, str], Stage] = {}

    # Stages ----------------------------------------------------------------------------

    def stage(self, agent: Agent, tree: Tree | None = None) -> Stage:
        """Return what the trials of an agent on a tree share (default: the tree under test)."""
        tree = tree or self.project.tree
        name = (agent.name, tree.oid)
        if name not in self._stages:
            self._stages[name] = self._prepared(agent, tree)
        return self._stages[name]

    def _prepared(self, agent: Agent, tree: Tree) -> Stage:
        project = self.project
        if self._folder is None:
            self._folder = RunFolder(project.repo)
        own, guards_own = project.own_paths(agent), project.is_guards_own
        return prepare_stage(
            project.repo,
            tree,
            agent,
            project.target_of(agent),
            project.evaluators_of(agent),
            run=self._folder,
            hide_from_target=lambda path: own(path) or guards_own(path),
            hide_from_workspace=self._answers(agent),
            python=agent_python(agent, project.repo.root),
        )

    def _answers(self, agent: Agent) -> Callable[[bytes], bool]:
        from guard.globs import compile_globs

        guards_own = self.project.is_guards_own
        depends = compile_globs(self.project.depends_of(agent))
        return lambda path: guards_own(path) or depends(path)

    def is_deterministic(self, agent: Agent) -> bool:
        """Tell whether the same input gives the same outcome, as agent or target declare."""
        if agent.deterministic is not None:
            return agent.deterministic
        stated = agent.options.get("deterministic")
        return stated if isinstance(stated, bool) else self.project.target_of(agent).deterministic

    def is_paid(self, agent: Agent) -> bool:
        """Tell whether a trial costs money, as agent or target declare."""
        return self.project.target_of(agent).paid if agent.paid is None else agent.paid

    def receipt_key(self, case: Case, tree: Tree | None = None) -> str:
        """Return the key of a case's evidence on a tree."""
        agent = self.project.agents[case.agent]
        fingerprint = self.project.target_of(agent).fingerprint(agent.options)
        return self.keys.key(case, fingerprint, tree)

    # Cases -----------------------------------------------------------------------------

    def run(self, selection: Sequence[Selected]) -> list[CaseResult]:
        """Run the cases selected; return their results in the same order."""
        planned = [self._plan(chosen) for chosen in selection]
        open_plans = [plan for plan in planned if plan.series is not None]
        self.run_series(
            [plan.series for plan in self._by_urgency(open_plans) if plan.series is not None],
            may_start=self._may_start,
        )
        results = [self._judged(plan) for plan in planned]
        if self.limits.confirm:
            results = self._confirmed(planned, results)
        self._keep(planned, results)
        return results

    def _plan(self, chosen: Selected) -> _Plan:
        case = self._bounded(chosen.case)
        agent = self.project.agents[case.agent]
        key = self.receipt_key(case)
        if not self.limits.no_cache and self.limits.trials is None:
            found = self.project.store.find_receipt(key)
            if found is not None and found.verdict in (model.PASS, model.XFAIL):
                return _Plan(chosen, case, key, answered=found.result(chosen))
        missing = find_missing(
            agent, case, self.project.repo.root, self.project.plugins.prerequisites()
        )
        if missing:
            return _Plan(chosen, case, key, answered=_skipped(chosen, missing))
        deterministic = self.is_deterministic(agent)
        series = Series(case, self.stage(agent), by_policy(case, deterministic=deterministic))
        return _Plan(chosen, case, key, series=series)

    def _bounded(self, case: Case) -> Case:
        policy = case.policy
        if self.limits.trials is not None:
            policy = Policy(None, self.limits.trials, policy.min_pass_rate, policy.timeout)
        if self.limits.timeout is not None:
            policy = policy._replace(timeout=self.limits.timeout)
        return case._replace(policy=policy)

    def _by_urgency(self, plans: Iterable[_Plan]) -> list[_Plan]:
        """Order: new or changed, last failed, cheapest; without a budget as they were given."""
        if not self.budget.limited:
            return list(plans)

        def urgency(plan: _Plan) -> tuple[bool, bool, float]:
            reasons = plan.chosen.affected_by
            seconds = self._estimate(plan.case)[0]
            return (
                "case" not in reasons,
                "last-verdict" not in reasons,
                float("inf") if seconds is None else seconds,
            )

        return sorted(plans, key=urgency)

    def _may_start(self, series: Series) -> bool:
        agent = self.project.agents[series.case.agent]
        seconds, cost = self._estimate(series.case)
        return self.budget.fits(seconds, cost, paid=self.is_paid(agent))

    def _estimate(self, case: Case) -> tuple[float | None, float | None]:
        """Return the seconds and dollars that a case takes at most, as far as they are known."""
        deterministic = self.is_deterministic(self.project.agents[case.agent])
        needed = most_trials(case, deterministic=deterministic)
        seconds = self.project.store.median_seconds(case.agent, case.id)
        cost = self.project.store.median_cost(case.agent, case.id)
        return (
            None if seconds is None else seconds * needed / self.jobs,
            None if cost is None else cost * needed,
        )

    def _judged(self, plan: _Plan) -> CaseResult:
        if plan.answered is not None:
            return plan.answered
        series = plan.series
        assert series is not None
        deterministic = self.is_deterministic(self.project.agents[plan.case.agent])
        verdict, reason = judge_case(
            plan.case,
            series.results,
            plan.case.policy,
            deterministic=deterministic,
            owed=series.stopped and not self.limits.fail_fast,
        )
        planned = most_trials(plan.case, deterministic=deterministic)
        return case_result(plan.chosen, verdict, reason, series.results, planned)

    def _confirmed(
        self, planned: Sequence[_Plan], results: Sequence[CaseResult]
    ) -> list[CaseResult]:
        """Repeat each FAIL by a gate with a second, fresh gate: both must fail."""
        again: dict[int, _Plan] = {}
        for position, (plan, result) in enumerate(zip(planned, results, strict=True)):
            if result.verdict == model.FAIL and plan.series is not None and self._gated(plan.case):
                fresh = Series(
                    plan.case,
                    plan.series.stage,
                    plan.series.more,
                    first_number=plan.series.first_number + plan.series.started,
                )
                again[position] = plan._replace(series=fresh)
        self.run_series([plan.series for plan in again.values() if plan.series is not None])
        return [
            confirm(result, self._judged(again[position])) if position in again else result
            for position, result in enumerate(results)
        ]

    def _gated(self, case: Case) -> bool:
        policy = case.policy
        deterministic = self.is_deterministic(self.project.agents[case.agent])
        return policy.gate is not None or (policy.trials is None and not deterministic)

    def _keep(self, planned: Sequence[_Plan], results: Sequence[CaseResult]) -> None:
        for plan, result in zip(planned, results, strict=True):
            if plan.series is not None and result.trials:
                self.keep(plan.key, plan.case, result)

    def keep(self, key: str, case: Case, result: CaseResult) -> None:
        """Keep a result as the receipt of a case on what it depended on."""
        agent = self.project.agents[case.agent]
        if self.project.target_of(agent).live:
            self.project.store.put_receipt(key, result)

    # The loop --------------------------------------------------------------------------

    def run_series(
        self,
        series: Sequence[Series],
        may_start: Callable[[Series], bool] = lambda series: True,
    ) -> None:
        """Run trials until no series wants another one; several series share the slots."""
        waiting = deque(series)
        active: list[Series] = []
        pending: dict[Future[TrialResult], Series] = {}
        with ThreadPoolExecutor(self.jobs, "trial") as pool:
            try:
                while waiting or active or pending:
                    self._fill(pool, waiting, active, pending, may_start)
                    if not pending:
                        break
                    done, _ = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._take(pending.pop(future), future.result(), waiting, active)
            except BaseException:
                for future in pending:
                    future.cancel()
                self._kill_trials()
                raise

    def _fill(
        self,
        pool: ThreadPoolExecutor,
        waiting: deque[Series],
        active: list[Series],
        pending: dict[Future[TrialResult], Series],
        may_start: Callable[[Series], bool],
    ) -> None:
        while len(pending) < self.jobs:
            # The series with the fewest trials first, so that the sides of a proof take turns.
            wanting = [s for s in active if s.wants(self.jobs - len(pending))]
            if not wanting:
                if not waiting:
                    break
                following = waiting.popleft()
                if self.budget.ended() or not may_start(following):
                    following.stopped = True
                else:
                    active.append(following)
                continue
            chosen = min(wanting, key=lambda s: s.started)
            if self.budget.ended():
                chosen.stopped = True
                continue
            number = chosen.start()
            pending[pool.submit(run_trial, chosen.stage, chosen.case, number)] = chosen
        active[:] = [s for s in active if s.running or s.wants(1)]

    def _take(
        self,
        series: Series,
        result: TrialResult,
        waiting: deque[Series],
        active: list[Series],
    ) -> None:
        series.add(result)
        self.budget.spend(result.observation.cost_usd)
        self.project.store.put_trial(series.case.agent, result)
        self._on_trial(result)
        if self.limits.fail_fast and result.verdict == model.FAIL:
            for other in (*waiting, *active):
                if other is not series:
                    other.stopped = True
            waiting.clear()

    def _kill_trials(self) -> None:
        from guard.process import kill_all

        kill_all()

    # Life ------------------------------------------------------------------------------

    def close(self) -> None:
        """Remove every folder of the run and end its helpers."""
        for stage in self._stages.values():
            stage.close()
        self._stages.clear()
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class _Plan(NamedTuple):
    """One selected case: answered already, or a series to run."""

    chosen: Selected
    case: Case
    key: str
    answered: CaseResult | None = None
    series: Series | None = None


def _skipped(chosen: Selected, missing: str) -> CaseResult:
    return case_result(chosen, model.SKIP, missing, (), 0)


def case_result(
    chosen: Selected,
    verdict: str,
    reason: str,
    trials: Sequence[TrialResult],
    planned: int,
) -> CaseResult:
    """Return the result of a case, with what its trials cost together."""
    costs = [t.observation.cost_usd for t in trials if t.observation.cost_usd is not None]
    return CaseResult(
        case=chosen.case.id,
        agent=chosen.case.agent,
        verdict=verdict,
        trials=tuple(trials),
        reason=reason,
        affected_by=chosen.affected_by,
        path=chosen.case.path,
        seconds=sum(t.observation.seconds for t in trials),
        cost_usd=sum(costs) if costs else None,
        evidence_class=str(chosen.case.evidence.get("evidence_class", "")),
        planned=planned,
    )
