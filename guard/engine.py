"""Runs cases: plans them, starts trials on threads, and judges what came of them.

The way of one change through the code ends here: cases by trials, less what a receipt already
answers; then workspaces, targets and evaluators (`guard.trials.trial`), and verdicts
(`guard.verdict`). Proofs run their two sides through the same loop.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from guard import model
from guard.affected import Selected
from guard.closing import Closing
from guard.judges.stated import judged_by
from guard.model import Agent, Case, Policy
from guard.project import Project
from guard.results import CaseResult, TrialResult
from guard.running.answers import Answers
from guard.running.budget import Budget
from guard.running.doubles import named_doubles
from guard.running.estimates import Estimates
from guard.running.expectations import check_expectations
from guard.running.held_texts import HeldTexts
from guard.running.outcomes import case_result, is_open
from guard.running.prerequisites import agent_python
from guard.running.reads import Reads
from guard.running.real_agents import refuse_unreal
from guard.running.receipts import is_fresh, make_receipt, result_of
from guard.running.series import Series, by_policy, most_trials
from guard.running.stages import Lease, Stages
from guard.storage.records import Receipt
from guard.tree import Tree
from guard.trials.given import check_given
from guard.trials.hiding import hidden_from_target, hidden_from_workspace, shown_to_checker
from guard.trials.options import checked_options
from guard.verdict import confirm, judge_case, sort_trials

if TYPE_CHECKING:
    # Where receipts answer all, none of it is needed.
    from guard.trials.runfolder import RunFolder
    from guard.trials.stage import Stage

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
    in_order: bool = False
    """Run cases in the order given, also where a budget would have the urgent ones first."""


class Engine(Closing):
    """Runs the cases of one project, the tree under test."""

    def __init__(
        self,
        project: Project,
        limits: Limits | None = None,
        budget: Budget | None = None,
        on_trial: TrialListener | None = None,
        run_id: str = "",
    ) -> None:
        self.project = project
        self.limits = limits = limits or Limits()
        self.budget = budget or Budget()
        self.jobs = limits.jobs or os.cpu_count() or 1
        by_receipts = not limits.no_cache and limits.trials is None
        self.answers = Answers(project, by_receipts=by_receipts)
        self.estimates = Estimates(project, self.budget, self.jobs)
        self.run_id = run_id or os.urandom(8).hex()
        self._on_trial = on_trial
        self.stages = Stages(project.repo)
        self._texts = HeldTexts()

    # Stages ----------------------------------------------------------------------------

    def stage(self, agent: Agent, tree: Tree | None = None) -> Stage:
        """Return what the trials of an agent on a tree share, until the engine is closed."""
        return self.lend(agent, tree).stage

    def lend(self, agent: Agent, tree: Tree | None = None) -> Lease:
        """Return the same for a series (default: of the tree under test)."""
        on = tree or self.project.tree
        return self.stages.lend((agent.name, on.oid), lambda run: self._prepared(agent, on, run))

    def _prepared(self, agent: Agent, tree: Tree, run: RunFolder) -> Stage:
        from guard.trials.stage import prepare_stage

        project = self.project
        refuse_unreal(project, [agent])
        stage = prepare_stage(
            project.repo,
            tree,
            agent,
            project.target_of(agent),
            project.evaluators_of(agent),
            checked_options(project, agent),
            run=run,
            hide_from_target=hidden_from_target(project, agent),
            hide_from_workspace=hidden_from_workspace(project, agent),
            show_to_checker=shown_to_checker(project, agent),
            python=agent_python(agent, project.repo.root),
        )
        stage.doubles = named_doubles(project, agent)
        stage.prerequisites = project.plugins.prerequisites()
        stage.asked = self.answers.fingerprint(agent)
        return stage

    def is_deterministic(self, agent: Agent) -> bool:
        """Tell whether the same input gives the same outcome, as agent or target declare."""
        return self.estimates.is_deterministic(agent)

    def is_paid(self, case: Case) -> bool:
        """Tell whether a trial costs money, as agent or target declare, or a judge of it does."""
        return self.estimates.is_paid(case)

    def is_live(self, results: Iterable[CaseResult]) -> bool:
        """Tell whether all that was run ran against the providers' own endpoints."""
        agents = {result.agent for result in results if result.trials}
        live = all(self.answers.is_live(self.project.agents[name]) for name in agents)
        return live and all(self._is_judged_live(result) for result in results)

    def _is_judged_live(self, result: CaseResult) -> bool:
        """Tell whether judges answered at their providers' own endpoints, when they were asked."""
        case = self.project.cases.get(result.case)
        if not result.reused or case is None:
            return all(trial.judged_live for trial in result.trials)
        # The receipt's key holds where it answers.
        return self.project.plugins.panel.is_live(judged_by(self.project.agents[case.agent], case))

    def receipt_key(self, case: Case, tree: Tree | None = None) -> str:
        """Return the key of a case's evidence on a tree."""
        return self.answers.key(case, tree)

    # Cases -----------------------------------------------------------------------------

    def run(self, selection: Sequence[Selected], *, resume: bool = False) -> list[CaseResult]:
        """Run the cases selected; return their results in the same order.

        ``resume`` goes on where an interrupted run of the same cases on the same tree ended.
        """
        check_expectations(self.project, (chosen.case for chosen in selection))
        agents = dict.fromkeys(chosen.case.agent for chosen in selection)
        refuse_unreal(self.project, (self.project.agents[name] for name in agents))
        planned = [self._plan(chosen, resume=resume) for chosen in selection]
        ordered = self._by_urgency(plan for plan in planned if plan.series is not None)
        finished: dict[Series, CaseResult] = {}

        def judge(series: Series) -> None:
            plan = plans[series]
            result = self._judged(plan)
            kept = result if is_open(series, result) else self.keep(plan.key, result, plan.case)
            finished[series] = kept

        plans = {plan.series: plan for plan in ordered if plan.series is not None}
        self.run_series(list(plans), may_start=self.may_start, on_finished=judge)
        results = [self._result(plan, finished) for plan in planned]
        return self._confirmed(planned, results) if self.limits.confirm else results

    def _result(self, plan: _Plan, finished: Mapping[Series, CaseResult]) -> CaseResult:
        if plan.answered is not None:
            return plan.answered
        assert plan.series is not None
        return finished.get(plan.series) or self._judged(plan)

    def _plan(self, chosen: Selected, *, resume: bool) -> _Plan:
        case = self.bounded(chosen.case)
        agent = self.project.agents[case.agent]
        key = self.receipt_key(case)
        receipt = self.receipt_for(case, key)
        if receipt is not None:
            return _Plan(chosen, case, key, answered=result_of(receipt, chosen))
        missing = self.missing_for(agent, case)
        if missing:
            return _Plan(chosen, case, key, answered=_skipped(chosen, missing))
        deterministic = self.is_deterministic(agent)
        # What can't be laid is said before anything is paid for.
        check_given(case, self.project.tree)
        more = by_policy(case, deterministic=deterministic)
        series = Series(case, self.lend(agent), more, key, earlier=self.answers.earlier(key))
        if resume:
            self.take_over(series)
        return _Plan(chosen, case, key, series=series)

    def missing_for(self, agent: Agent, case: Case) -> str | None:
        """Return the prerequisite of a case that is missing on this machine."""
        return self.answers.missing_for(agent, case)

    def receipt_for(self, case: Case, key: str) -> Receipt | None:
        """Return the receipt that stands for a run of the case, where one does."""
        return self.answers.receipt_for(case, key)

    def max_age(self, case: Case) -> str:
        """Return how old evidence of a case may be."""
        return self.answers.max_age(case)

    def is_owed(self, case: Case) -> bool:
        """Tell whether nothing is known of the case on this tree."""
        return self.receipt_for(case, self.receipt_key(case)) is None

    def take_over(self, series: Series) -> None:
        """Go on with the trials of a run that never came to a verdict on this case."""
        store = self.project.store
        side = series.side
        trials = store.resumable_trials(series.case.id, series.key, side=side)
        receipt = store.find_receipt(series.key)
        evidence = receipt.evidence.get("trials", ()) if receipt else ()
        judged = {trial.get("trial_id") for trial in evidence}
        fresh = bool(trials) and is_fresh(trials[0].started, self.max_age(series.case))
        if fresh and trials[0].trial_id not in judged:
            series.take_over(trials)
            store.adopt_trials(self.run_id, series.case.id, series.key, side=side)

    def bounded(self, case: Case) -> Case:
        """Return the case with the trials and the time-out that the run gives it."""
        policy = case.policy
        if self.limits.trials is not None:
            policy = Policy(None, self.limits.trials, policy.min_pass_rate, policy.timeout)
        if self.limits.timeout is not None:
            policy = policy._replace(timeout=self.limits.timeout)
        return case._replace(policy=policy)

    def _by_urgency(self, plans: Iterable[_Plan]) -> list[_Plan]:
        """Order: new or changed, last failed, cheapest; without a budget as they were given."""
        if self.limits.in_order or not self.budget.limited:
            return list(plans)
        return sorted(plans, key=lambda plan: self.estimates.urgency(plan.chosen, plan.case))

    def may_start(self, series: Series) -> bool:
        """Tell whether all of a series fits into what is left of the budget, as far as known."""
        return self.estimates.fits(series.case)

    def estimate(self, case: Case) -> tuple[float | None, float | None]:
        """Return the seconds and dollars that a case takes at most, as far as they are known."""
        return self.estimates.estimate(case)

    def _judged(self, plan: _Plan) -> CaseResult:
        assert plan.series is not None
        return self.judged(plan.series, plan.chosen)

    def judged(self, series: Series, chosen: Selected) -> CaseResult:
        """Return what the trials of a series come to, whether it has ended or not."""
        case = series.case
        deterministic = self.is_deterministic(self.project.agents[case.agent])
        trials = sort_trials(series.results, deterministic=deterministic, earlier=series.earlier)
        verdict, reason = judge_case(
            case, trials, case.policy, deterministic=deterministic, owed=series.owed
        )
        planned = most_trials(case, deterministic=deterministic)
        return case_result(chosen, verdict, reason, trials, planned)

    def _confirmed(
        self, planned: Sequence[_Plan], results: Sequence[CaseResult]
    ) -> list[CaseResult]:
        """Repeat each FAIL by a gate with a second, fresh gate: both must fail."""
        again: dict[int, _Plan] = {}
        for position, (plan, result) in enumerate(zip(planned, results, strict=True)):
            if result.verdict == model.FAIL and plan.series is not None and self._gated(plan.case):
                fresh = plan.series.repeated()
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

    def keep(
        self, key: str, result: CaseResult, case: Case, reads: Reads | None = None
    ) -> CaseResult:
        """Keep a result as the receipt of its case; return it with the receipt's digest.

        ``reads``: those of the tree that it ran on, where its data isn't the project's own.

        What ran against an endpoint that isn't the provider's own is no evidence for it.
        """
        agent = self.project.agents[result.agent]
        if not result.trials or not self.project.target_of(agent).live:
            return result
        receipt = make_receipt(key, result, self.answers.facts(case, result, reads))
        return result._replace(receipt=self.project.store.put_receipt(receipt))

    def run_series(
        self,
        series: Sequence[Series],
        may_start: Callable[[Series], bool] = lambda series: True,
        on_finished: Callable[[Series], None] = lambda series: None,
    ) -> None:
        """Run trials until no series wants another one; several series share the slots.

        ``on_finished`` is called as each series ends, so that a kill loses what is in flight.
        """
        if not series:
            return
        from guard.running.loop import Loop
        from guard.trials.own_mounts import enter_if_own
        from guard.trials.ways import OVERLAY, wanted

        if wanted(len(self.project.tree.entries())) == OVERLAY:
            # Now: only threads that are started later see what is mounted there.
            enter_if_own()
        Loop(
            series,
            self.jobs,
            self.budget,
            may_start,
            self._record,
            on_finished,
            fail_fast=self.limits.fail_fast,
        ).run()

    def _record(self, series: Series, result: TrialResult) -> None:
        is_kept = self.project.store.put_trial(
            self.run_id, series.case.agent, result, side=series.side, key=series.key
        )
        if self._on_trial is not None:
            self._on_trial(result)
        if is_kept:
            series.add(self._texts.held(result))

    # Life ------------------------------------------------------------------------------

    def close(self) -> None:
        """Remove every folder of the run and end its helpers."""
        self.stages.close()


class _Plan(NamedTuple):
    """One selected case: answered already, or a series to run."""

    chosen: Selected
    case: Case
    key: str
    answered: CaseResult | None = None
    series: Series | None = None


def _skipped(chosen: Selected, missing: str) -> CaseResult:
    return case_result(chosen, model.SKIP, missing, (), 0)
