"""The case that guards a regression, and what may be expected of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from guard.model import ORPHANS_KEY, TIMEOUT_KEY, Case
from guard.plugin.api import Evaluator
from guard.project import Project
from guard.regressions import FILE, Record
from guard.results import TrialResult
from guard.wording.commands import move


class Guarding(NamedTuple):
    """The case of a record; None with the reason where nothing guards it."""

    case: Case | None
    unprotected: str = ""


def find_case(project: Project, record: Record) -> Guarding:
    """Return the case that a record names, if it is there and still the agent's."""
    path, _, fragment = record.case.partition("#")
    if record.agent not in project.agents:
        return Guarding(None, f"agent {record.agent} is no longer in guard.yaml")
    found = project.cases_by_path.get(path, ())
    named = [case for case in found if case.id == (fragment or record.id)]
    if not fragment and len(found) == 1:
        named = [*found]
    if not named:
        return Guarding(None, _say_missing(project, record, path, found))
    if named[0].agent != record.agent:
        return Guarding(None, f"its case is agent {named[0].agent}'s, no longer {record.agent}'s")
    return Guarding(named[0])


def mend_unprotected(project: Project, record: Record) -> str:
    """Return the command by which a record finds its case again, where it only moved."""
    moved = project.cases.get(record.case.partition("#")[2] or record.id)
    if moved is None or moved.agent != record.agent or "#" in record.case:
        return f"edit {FILE}"
    return move(record.id, moved.path)


def _say_missing(project: Project, record: Record, path: str, found: Sequence[Case]) -> str:
    if found:
        wanted = record.case.partition("#")[2] or record.id
        return f"{path} holds no case {wanted!r}"
    moved = project.cases.get(record.case.partition("#")[2] or record.id)
    where = f"; a case of that id is in {moved.path}" if moved else ""
    if project.tree.read(path) is not None:
        return f"{path} is no longer among the cases of agent {record.agent}{where}"
    return f"its case {path} is not there{where}"


def unstated_keys(
    fails_on: Iterable[str],
    expected: Mapping[str, Any],
    evaluators: Iterable[Evaluator],
    trials: Iterable[TrialResult],
) -> list[str]:
    """Return the recorded keys that this case can't fail on: it doesn't state them."""
    known = {*expected, TIMEOUT_KEY, ORPHANS_KEY}
    for evaluator in evaluators:
        if expected.keys() & set(evaluator.reads):
            known.update(key for key in evaluator.writes if key not in evaluator.reads)
    known.update(score.key for trial in trials for score in trial.scores)
    return [key for key in fails_on if key not in known]
