"""Whether the run that a baseline group names shows the defect: ``observed_in``.

A baseline names a defect that was seen. The run is looked up in this machine's store: where that
doesn't know it, as in CI and on a server, all that can be said is that it can't be checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from guard.errors import ConfigError
from guard.model import FAIL, XFAIL, Case
from guard.project import Project
from guard.rules.baseline_groups import added_groups, describe_group
from guard.rules.commit import JudgedCommit
from guard.store import Store
from guard.trials.baseline import Group, condition_of, holds, keys_of

if TYPE_CHECKING:
    # A hook that meets no new baseline does without.
    from guard.results import TrialResult

KEY: Final = "observed_in"
#: Trials of which every score counts; what an ERROR scored is no observation.
_SHOWING: Final = (FAIL, XFAIL)


class Observed(NamedTuple):
    """What is known of the run that a group names: one of the two, or neither where it shows it."""

    wrong: str = ""
    """It isn't named, or known here and shows something else."""
    unknown: str = ""
    """It can't be looked up here."""


def look_up(store: Store, case: str, group: Group) -> Observed:
    """Return what is known of the run in which the keys of a group are said to have failed."""
    name = str(group.get(KEY, "")).strip()
    keys = ", ".join(sorted(keys_of(group)))
    if not name:
        said = f"the baseline of {case} excuses {describe_group(group)}"
        return Observed(f"{said}, and names no run that showed it ({KEY})")
    from guard.storage.observed import observed_trials

    trials = observed_trials(store, case, name)
    if trials is None:
        said = f"{case}: {name} isn't known here, so that {keys} failed there can't be checked"
        return Observed(unknown=said)
    missing = ", ".join(key for key in sorted(keys_of(group)) if not _is_seen(key, group, trials))
    if not missing:
        return Observed()
    where = ", under that condition," if condition_of(group) else ""
    said = f"the baseline of {case} excuses {describe_group(group)}"
    return Observed(f"{said}; in {name}{where} {missing} never failed")


def _is_seen(key: str, group: Group, trials: tuple[TrialResult, ...]) -> bool:
    return any(
        trial.verdict in _SHOWING and key in trial.failing and holds(group, trial.observation.facts)
        for trial in trials
    )


def named(commit: JudgedCommit) -> Iterator[str]:
    """Yield a note for each baseline group that the commit adds and no run is known to show.

    Of a retained case it is refused instead (case-weakened), where the run is known to be wrong.
    """
    try:
        cases = [case for case in commit.new_cases.values() if case.expected_baseline]
    except ConfigError:  # said by whoever needs the cases
        return
    for case in cases:
        before = commit.old_cases.get(case.id)
        retained = before is not None and _is_retained(commit.base, before)
        old = before.expected_baseline if before else ()
        for group in added_groups(old, case.expected_baseline):
            observed = look_up(commit.new.store, case.id, group)
            said = observed.unknown or ("" if retained else observed.wrong)
            if said:
                yield said


def _is_retained(project: Project, case: Case) -> bool:
    return any(
        record.case_path == case.path and record.case.partition("#")[2] in ("", case.id)
        for record in project.records.values()
        if not record.retired
    )
