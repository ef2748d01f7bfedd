"""What the trials of a case come to, as a result."""

from __future__ import annotations

from collections.abc import Sequence

from guard import model
from guard.affected import Selected
from guard.model import Agent
from guard.project import Project
from guard.results import CaseResult, TrialResult
from guard.running.series import Series
from guard.running.shown import seen_in, shown_by


def is_open(series: Series, result: CaseResult) -> bool:
    """Tell whether a series was ended before its verdict: it can be resumed, and is no evidence."""
    return series.stopped and result.verdict in (model.OWED, model.INCONCLUSIVE, model.NOT_TESTED)


def is_deterministic(project: Project, agent: Agent) -> bool:
    """Tell whether the same input gives the same outcome, as agent or target declare."""
    if agent.deterministic is not None:
        return agent.deterministic
    stated = agent.options.get("deterministic")
    return stated if isinstance(stated, bool) else project.target_of(agent).deterministic


def case_result(
    chosen: Selected,
    verdict: str,
    reason: str,
    trials: Sequence[TrialResult],
    planned: int,
) -> CaseResult:
    """Return the result of a case, with what its trials cost together and show of its text."""
    costs = [cost for t in trials if (cost := t.cost_usd) is not None]
    shown = shown_by(chosen.case, map(seen_in, trials))
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
        unread=shown.unread,
        unscored=shown.unscored,
    )
