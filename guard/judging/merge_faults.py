"""What is wrong with a merge and with none of its parents, which are judged on their own.

The same is asked of a merge before it is committed, as it is pushed, and in CI.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from guard import config as config_file
from guard.change import Change
from guard.git import bytes_of
from guard.judging.judge import readable
from guard.judging.merges import Parent
from guard.messages.message import parse_message
from guard.model import Violation
from guard.project import Project
from guard.regressions import Record
from guard.rules import agent_without_case, record_invalid
from guard.rules.commit import JudgedCommit

_CONFIG = bytes_of(config_file.FILE)
_NO_MESSAGE = parse_message("")


def merge_faults(parents: Sequence[Parent], new: Project) -> list[Violation]:
    """Return the wrong records and the agents without a case that the merge makes by itself."""
    known = [parent for parent in parents if readable(parent.project) is not None]
    return [*_wrong_records(known, new), *_agents_without_case(known, new)]


def _wrong_records(parents: Sequence[Parent], new: Project) -> Iterator[Violation]:
    in_question: Mapping[str, Record] = new.records
    for parent in parents:
        touches = _Touches(parent, new)
        in_question = {name: r for name, r in in_question.items() if touches.record(r)}
        if not in_question:
            return
    of_parents = [_told_of(p.project, _named(p.project, in_question)) for p in parents]
    for violation in _told_of(new, in_question.values()):
        if not any(violation in known for known in of_parents):
            yield violation


def _named(project: Project, names: Mapping[str, Record]) -> list[Record]:
    return [record for name, record in project.records.items() if name in names]


def _told_of(project: Project, records: Iterable[Record]) -> list[Violation]:
    wrong = record_invalid.wrong_records(project, records)
    return [*wrong, *record_invalid.out_of_order(project)]


class _Touches:
    """What of the records a merge may make wrong that were right in one parent."""

    def __init__(self, parent: Parent, new: Project) -> None:
        self._before = parent.project.records
        self._everything = _CONFIG in parent.changed
        self._changed = frozenset(parent.changed)

    def record(self, record: Record) -> bool:
        """Tell whether the record, or what it names, differs from the parent's."""
        before = self._before.get(record.id)
        if self._everything or before is None or before.raw != record.raw:
            return True
        return any(bytes_of(path) in self._changed for path in record.named_files())


def _agents_without_case(parents: Sequence[Parent], new: Project) -> Iterator[Violation]:
    found: dict[str, Violation] | None = None
    for parent in parents:
        brought = Change(parent.project.tree, new.tree, parent.entries)
        commit = JudgedCommit(parent.project, new, brought, _NO_MESSAGE)
        here = {violation.agent: violation for violation in agent_without_case.check(commit)}
        found = here if found is None else {n: v for n, v in found.items() if n in here}
        if not found:
            return
    yield from (found or {}).values()
