"""Grades a folder as if a trial had left it: no target is run (``guard run --check-only``)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from guard.affected import Selected
from guard.engine import Engine
from guard.errors import UsageError
from guard.model import Case
from guard.project import Project
from guard.results import CaseResult
from guard.running.expectations import check_expectations
from guard.running.outcomes import case_result
from guard.trials.trial import check_folder


def check_only(
    project: Project, cases: Sequence[Case], folder: str, run_id: str
) -> list[CaseResult]:
    """Return the results of putting the folder through every case's checks.

    The trials are kept, so that `guard show` can show them, and no receipt is made of them.
    """
    if not os.path.isdir(folder):
        raise UsageError(f"--check-only {folder}: there is no such folder")
    check_expectations(project, cases)
    results: list[CaseResult] = []
    with Engine(project) as engine:
        for case in cases:
            stage = engine.stage(project.agents[case.agent])
            trial = check_folder(stage, case, os.path.abspath(folder))
            project.store.put_trial(run_id, case.agent, trial)
            results.append(case_result(Selected(case), trial.verdict, trial.reason, (trial,), 1))
    return results
