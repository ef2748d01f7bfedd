"""The rules on what cases state: expectations that are read, baselines that are possible.

What evaluators declare is known at once; what they do is known of the cases that were run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from guard.model import Case, Violation
from guard.project import Project
from guard.results import CaseResult
from guard.rules.dead_expectation import dead_expectations
from guard.rules.impossible_baseline import impossible_baselines
from guard.running.remembered import recall_shown, remember_shown
from guard.running.shown import Shown


def broken_texts(project: Project, cases: Iterable[Case]) -> list[Violation]:
    """Return what is broken by what evaluators declare."""
    return _broken(project, list(cases), {})


def known_broken_texts(project: Project, cases: Iterable[Case]) -> list[Violation]:
    """Return what is broken, as far as it is known without a run."""
    asked = list(cases)
    return _broken(project, asked, recall_shown(project, asked))


def broken_by_results(project: Project, results: Sequence[CaseResult]) -> list[Violation]:
    """Return what is broken in the cases that were run, or answered; keep what that shows."""
    remember_shown(project, results)
    shown = {one.case: Shown(one.unread, one.unscored) for one in results}
    return _broken(project, [project.cases[name] for name in shown], shown)


def _broken(project: Project, cases: Sequence[Case], shown: Mapping[str, Shown]) -> list[Violation]:
    return [
        *dead_expectations(project, cases, shown),
        *impossible_baselines(project, cases, shown),
    ]
