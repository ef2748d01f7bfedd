"""Which baselines a change is judged by: what it adds to one excuses nothing until it is accepted.

So no change excuses its own failures. A case that is new with it has no other baseline: its own
is in force, for nothing that was guarded is guarded less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from guard.errors import GuardError
from guard.git import bytes_of
from guard.model import Case
from guard.project import Project
from guard.rules.baseline_groups import groups_in_force
from guard.rules.commit import read_cases
from guard.wording.units import names


class InForce(NamedTuple):
    """A tree by the baselines that are in force, and what is said of them."""

    project: Project
    lines: tuple[str, ...] = ()


def by_accepted_baselines(base: Project, tip: Project, where: str = "the base") -> InForce:
    """Return the tip by the baselines that its cases have on the base, where it adds to them.

    ``where`` names the base, for people.
    """
    stated = [case for case in tip.cases.values() if case.expected_baseline]
    if not stated or base.tree.oid == tip.tree.oid:
        return InForce(tip)
    try:
        known = _cases_of(base, stated)
    except GuardError as error:
        said = f"guard.yaml of {where} can't be read, so baselines are as the change has them"
        return InForce(tip, (f"{said}: {error.message}",))
    replaced = {case.id: held for case in stated if (held := _replaced(known.get(case.id), case))}
    new = [case.id for case in stated if case.id not in known]
    project = _with(tip, replaced) if replaced else tip
    return InForce(project, tuple(_lines(list(replaced), new, where)))


def _cases_of(base: Project, stated: Sequence[Case]) -> Mapping[str, Case]:
    """Return the base's cases; one whose file can't be read there had no baseline."""
    if not base.has_config:
        return {}
    try:
        return base.cases
    except GuardError:
        found = read_cases(base, base.tree.entries(), lenient=True)
        unread = [case for case in stated if base.tree.get(bytes_of(case.path)) is not None]
        return {**{case.id: case._replace(expected_baseline=()) for case in unread}, **found}


def _replaced(old: Case | None, new: Case) -> Case | None:
    """Return the case by its old baseline, where the new one isn't in force."""
    if old is None:
        return None
    held = groups_in_force(old.expected_baseline, new.expected_baseline)
    return None if held == new.expected_baseline else new._replace(expected_baseline=held)


def _with(project: Project, replaced: Mapping[str, Case]) -> Project:
    found = copy(project)
    kept: dict[str, Any] = vars(found)
    kept["cases"] = {**project.cases, **replaced}
    kept.pop("cases_by_path", None)
    return found


def _lines(replaced: Sequence[str], new: Sequence[str], where: str) -> list[str]:
    lines: list[str] = []
    if replaced:
        said = f"what this change adds to the baseline of {names(replaced)} is not in force yet"
        lines.append(f"{said}: judged by the baseline of {where}")
    if new:
        lines.append(f"new with a baseline, which is in force at once: {names(new)}")
    return lines
