"""record-invalid: a record names an agent, a case of it, and keys that the case can write.

What isn't even well formed is a configuration error (`guard.regressions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from guard.evaluators import is_built_in, score_keys
from guard.git import bytes_of
from guard.model import ORPHANS_KEY, TIMEOUT_KEY, Agent, Case, Violation
from guard.project import Project
from guard.regressions import FILE, Record
from guard.rules.case_weakened import case_of
from guard.rules.commit import JudgedCommit
from guard.wording.commands import move

RULE: Final = "record-invalid"
ENGINE_KEYS: Final = (TIMEOUT_KEY, ORPHANS_KEY)


def check(commit: JudgedCommit) -> Iterator[Violation]:
    """Yield a violation for each record that the commit adds or changes and gets wrong."""
    known = commit.base.records
    changed = [
        record
        for name, record in commit.new.records.items()
        if name not in known or known[name].raw != record.raw
    ]
    if changed:
        yield from wrong_records(commit.new, changed)
        yield from out_of_order(commit.new)


def invalid_records(project: Project) -> list[Violation]:
    """Return a violation for each record of the tree that is wrong."""
    return [*wrong_records(project, project.records.values()), *out_of_order(project)]


def wrong_records(project: Project, records: Iterable[Record]) -> Iterator[Violation]:
    """Yield a violation for each of the tree's records that is wrong."""
    for record in records:
        said = None if record.retired else _what_is_wrong(project, record)
        if said:
            yield Violation(
                rule=RULE,
                message=f"record {record.id} guards nothing: {said}",
                agent=record.agent,
                paths=(FILE, *(path for path in _absent(project, record) if path in said)),
                hint=_moved(project, record),
            )


def _moved(project: Project, record: Record) -> tuple[str, ...]:
    """Return the command by which a record finds its case again, where that only moved."""
    found = project.cases.get(record.id)
    lost = "#" not in record.case and case_of(project, record) is None
    return (move(record.id, found.path),) if lost and found and found.agent == record.agent else ()


def out_of_order(project: Project) -> Iterator[Violation]:
    """Yield a warning where the records are not sorted."""
    names = list(project.records)
    late = next((b for a, b in pairwise(names) if b < a), None)
    if late:
        yield Violation(
            rule=RULE,
            message=f"{FILE} is not sorted by id: {late} stands too late",
            paths=(FILE,),
            warning=True,
        )


def _what_is_wrong(project: Project, record: Record) -> str | None:
    agent = project.agents.get(record.agent)
    if agent is None:
        from guard.schema import nearest

        return f"there is no agent {record.agent!r}{nearest(record.agent, project.agents)}"
    case = case_of(project, record)
    if case is None:
        return f"{record.case} is no case of any agent"
    if case.agent != record.agent:
        return f"{record.case} is a case of agent {case.agent}, not of {record.agent}"
    if record.states_nothing:
        return "its fails_on is empty, so nothing says what must fail"
    lacking = _lacking_file(project, record)
    if lacking:
        return lacking
    key = next((key for key in record.fails_on if not may_write(key, case, agent)), None)
    return f"its case never writes {key}, which stands in fails_on" if key else None


def _lacking_file(project: Project, record: Record) -> str | None:
    path, capsule = record.before.get("path"), record.before.get("capsule")
    if path and _file(project, path) is None:
        return f"its patch {path} is not there"
    if capsule:
        from guard.proofs.capsules import problem_of_capsule

        return problem_of_capsule(capsule, _file(project, capsule)) or None
    return None


def _absent(project: Project, record: Record) -> list[str]:
    kept = (record.before.get("path"), record.before.get("capsule"))
    return [path for path in kept if path and _file(project, path) is None]


def _file(project: Project, path: str) -> bytes | None:
    entry = project.tree.get(bytes_of(path))
    return project.tree.read(path) if entry and entry.mode.startswith("100") else None


def may_write(key: str, case: Case, agent: Agent) -> bool:
    """Tell whether the case might write a score of that key, as far as is known offline."""
    stated = {*agent.always, *case.expected}
    if key in ENGINE_KEYS or any(key in score_keys(name) for name in stated):
        return True
    if is_built_in(key):
        return False
    # An evaluator of a plugin, or a function of the repository's, may write any key.
    return bool(agent.evaluators) or any(not is_built_in(name) for name in stated)
