"""What a case takes, as far as it is known: whether it fits a budget, and what comes first."""

from __future__ import annotations

from guard.affected import Selected
from guard.judges.stated import judged_by
from guard.model import Agent, Case
from guard.project import Project
from guard.running.budget import Budget
from guard.running.outcomes import is_deterministic
from guard.running.series import most_trials


class Estimates:
    """Estimates the cases of one project from the trials that are recorded."""

    def __init__(self, project: Project, budget: Budget, jobs: int) -> None:
        self.project = project
        self.budget = budget
        self.jobs = jobs

    def is_deterministic(self, agent: Agent) -> bool:
        """Tell whether the same input gives the same outcome, as agent or target declare."""
        return is_deterministic(self.project, agent)

    def is_paid(self, case: Case) -> bool:
        """Tell whether a trial costs money, as agent or target declare, or a judge of it does."""
        agent = self.project.agents[case.agent]
        paid = self.project.target_of(agent).paid if agent.paid is None else agent.paid
        judge = judged_by(agent, case)
        return paid or (judge is not None and self.project.plugins.panel.is_paid(judge))

    def estimate(self, case: Case) -> tuple[float | None, float | None]:
        """Return the seconds and dollars that a case takes at most, as far as they are known."""
        deterministic = self.is_deterministic(self.project.agents[case.agent])
        needed = most_trials(case, deterministic=deterministic)
        seconds = self.project.store.median_seconds(case.agent, case.id)
        cost = self.project.store.median_cost(case.agent, case.id)
        return (
            None if seconds is None else seconds * needed / self.jobs,
            None if cost is None else cost * needed,
        )

    def fits(self, case: Case) -> bool:
        """Tell whether all of a case fits into what is left of the budget, as far as known."""
        seconds, cost = self.estimate(case)
        return self.budget.fits(seconds, cost, paid=self.is_paid(case))

    def urgency(self, chosen: Selected, case: Case) -> tuple[bool, bool, float]:
        """Return what to sort by: new or changed, last failed, cheapest."""
        seconds = self.estimate(case)[0]
        return (
            "case" not in chosen.affected_by,
            "last-verdict" not in chosen.affected_by,
            float("inf") if seconds is None else seconds,
        )
