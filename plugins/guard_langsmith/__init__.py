"""LangSmith: the cases as datasets there, and a run of them as an experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from guard.plugin import Agent, Case, Report, Step, Sync, hookimpl, probe
from guard_langsmith.settings import find_missing, where


def plan(agents: Sequence[Agent], cases: Sequence[Case]) -> Sequence[Step]:
    """Compare every agent's dataset with its cases; change nothing."""
    from guard_langsmith.datasets import plan_datasets

    return plan_datasets(agents, cases)


def check_tracing() -> None:
    """Find out whether a trace arrives, before a run counts on it."""
    from guard_langsmith.health import check_tracing as check

    check()


@probe(check_tracing)
def write_experiments(report: Report) -> str:
    """Upload a run as experiments, one for each agent; return their names and addresses."""
    from guard_langsmith.experiments import upload

    return upload(report)


@hookimpl
def guard_syncs() -> list[Sync]:
    """Offer the copy behind ``guard sync langsmith``."""
    return [Sync("langsmith", plan, find_missing, where)]


@hookimpl
def guard_reports() -> Mapping[str, Callable[[Report], str]]:
    """Offer the writer behind ``--report langsmith=FILE``."""
    return {"langsmith": write_experiments}
