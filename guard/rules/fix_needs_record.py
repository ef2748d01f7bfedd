"""fix-needs-record: a fix that touches an agent brings or updates that agent's record."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from guard.errors import UsageError
from guard.git import bytes_of
from guard.model import Violation
from guard.regressions import Record
from guard.rules.commit import JudgedCommit, read_cases
from guard.rules.fix_needs_case import lack_of

RULE: Final = "fix-needs-record"
#: What a record says of its regression; the rest is its story, or its proof.
_MEANING = ("agent", "case", "broken_by", "fails_on", "status", "reopened")


def check(commit: JudgedCommit, *, besides: Collection[str] = ()) -> Iterator[Violation]:
    """Yield one violation for all agents that the fix touches and brings no record of.

    ``besides`` owe a case too: `guard prove` writes the record that goes with it.
    """
    lacking = {
        name: paths
        for name, paths in commit.owing.items()
        if name not in besides
        and not brought_records(commit, name)
        and not any(_brings_record(one, name) for one in commit.followers)
    }
    if lacking:
        yield lack_of(commit, RULE, lacking, ("record", "of its regression"), _why_not)


def brought_records(commit: JudgedCommit, agent: str) -> list[Record]:
    """Return the agent's records that the commit adds or updates."""
    return [r for r in _candidates(commit, agent) if _objection(commit, r) is None]


def _brings_record(follower: JudgedCommit, agent: str) -> bool:
    """Tell whether a later commit brings one; what can't be read there brings nothing."""
    try:
        return bool(brought_records(follower, agent))
    except UsageError:
        return False


def _candidates(commit: JudgedCommit, agent: str) -> list[Record]:
    if commit.new.records is commit.base.records:
        return []
    known = commit.base.records
    return [
        record
        for record in commit.new.records.values()
        if record.agent == agent and (record.id not in known or known[record.id].raw != record.raw)
    ]


def _objection(commit: JudgedCommit, record: Record) -> str | None:
    old = commit.base.records.get(record.id)
    if record.retired:
        return "it is retired"
    if record.states_nothing:
        return "its fails_on is empty"
    if old is not None and _meaning(old) == _meaning(record):
        raised = record.reopened + 1
        return f"it says what it said before; a further fix raises its `reopened` to {raised}"
    return _case_objection(commit, record)


def _meaning(record: Record) -> list[Any]:
    return [getattr(record, key) for key in _MEANING]


def _case_objection(commit: JudgedCommit, record: Record) -> str | None:
    cases = read_cases(commit.new, [bytes_of(record.case_path)])
    wanted = record.case.partition("#")[2]
    if any(case.agent == record.agent and wanted in ("", case.id) for case in cases.values()):
        return None
    return f"{record.case} is no case of agent {record.agent}"


def _why_not(commit: JudgedCommit, agent: str) -> Iterator[str]:
    for record in _candidates(commit, agent):
        said = _objection(commit, record)
        if said:
            yield f"record {record.id} doesn't count: {said}"
