"""Keeps what trials showed of a case's text, for whoever checks the text and runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from guard.model import Case
from guard.project import Project
from guard.results import CaseResult
from guard.running.receipts import Keys
from guard.running.shown import Shown, seen_in, tells_unread, was_asked

#: Counts up when the kept form changes.
KIND: Final = "shown-1"


def remember_shown(project: Project, results: Iterable[CaseResult]) -> None:
    """Keep what the trials that were just run show; the last ones of a text say what holds."""
    keys = Keys(project)
    told = {
        keys.text_key(project.cases[result.case]): result
        for result in results
        if any(was_asked(seen_in(trial)) for trial in result.trials)
    }
    known = project.store.get_parsed_many(KIND, told)
    found = {key: _shown(result, known.get(key)) for key, result in told.items()}
    # Of nearly all cases there is nothing to say.
    news = {key: value for key, value in found.items() if any(value) or key in known}
    if news:
        project.store.put_parsed(KIND, news)


def _shown(result: CaseResult, known: Any) -> list[Any]:
    tells = any(tells_unread(seen_in(trial)) for trial in result.trials)
    return [result.unread if tells or not known else known[0], result.unscored]


def recall_shown(project: Project, cases: Sequence[Case]) -> dict[str, Shown]:
    """Return id → what the last trials showed, of the cases of which anything is known."""
    keys = Keys(project)
    by_key = {keys.text_key(case): case.id for case in cases}
    known = project.store.get_parsed_many(KIND, by_key)
    return {by_key[key]: Shown(*map(tuple, value)) for key, value in known.items()}
