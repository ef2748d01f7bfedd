"""Hears of trials as they end: the progress bar, and the plugins that asked to be told."""

from __future__ import annotations

import sys
from types import TracebackType

from guard.failures import report_error
from guard.project import Project
from guard.results import TrialResult
from guard.wording.progress import progress


class TrialListener:
    """Shows progress on a terminal and calls ``guard_trial_finished``."""

    def __init__(self, project: Project, cases: int) -> None:
        self._plugins = project.plugins_with("guard_trial_finished")
        self._bar = progress(cases, sys.stderr is not None and sys.stderr.isatty())
        self._broken: set[str] = set()

    def __call__(self, result: TrialResult) -> None:
        self._shown.advance(f"{result.case}#{result.number} {result.verdict}")
        if self._plugins is not None:
            for error in self._plugins.tell("guard_trial_finished", self._broken, result=result):
                report_error(error)

    def __enter__(self) -> TrialListener:
        self._shown = self._bar.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.__exit__(kind, error, traceback)
