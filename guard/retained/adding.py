"""A new record, PENDING: whose it is, and how its broken state is rebuilt."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from guard.closing import Closing
from guard.errors import UsageError
from guard.evaluators import score_keys
from guard.git import bytes_of
from guard.model import Case
from guard.output import printable, shell_path
from guard.project import Project
from guard.proofs.as_patch import CAPSULE, PATCH, as_patch, file_beside
from guard.proofs.broken_state import BrokenStates
from guard.proofs.capsules import CapsuleError
from guard.proofs.origin import History, commits_before
from guard.proofs.prove import record_of, stable_name
from guard.proofs.record import summary_of
from guard.proofs.rung import Rung
from guard.proofs.scratch import Scratch
from guard.regressions import FILE, Record, check_before
from guard.schema import Invalid, dotted


class Asked(NamedTuple):
    """What ``guard regressions add`` was told."""

    agent: str | None = None
    before: str | None = None
    patch: str | None = None
    incident: str | None = None
    fails_on: Sequence[str] = ()
    command: Mapping[str, Any] | None = None
    """A state before of kind command."""
    capsule: bool = False


class Added(NamedTuple):
    """A record as it is to be written, and what goes beside it."""

    record: Record
    fields: Mapping[str, Any]
    files: Mapping[str, bytes]


class States(Closing):
    """The broken states of a project's records, without anything to run them."""

    def __init__(self, project: Project) -> None:
        self.scratch = Scratch(project.repo)
        revs = commits_before(project.repo, ("HEAD",))
        histories = [History(project.repo, project.store, rev) for rev in revs]
        self.broken = BrokenStates(project, histories, self.scratch)

    def close(self) -> None:
        """Remove the scratch git directory."""
        self.scratch.close()


def new_record(project: Project, states: BrokenStates, case: Case, asked: Asked) -> Added:
    """Return the record of a case that has none. Raises `UsageError`."""
    if asked.agent not in (None, case.agent):
        said = f"{printable(case.path)} is a case of agent {case.agent}, not of {asked.agent}"
        raise UsageError(said, f"guard regressions add {shell_path(case.id)}")
    record = record_of(project, case)
    if record.id in project.records:
        verb = "reopen" if record.retired else "show"
        hint = f"guard regressions {verb} {shell_path(record.id)}"
        raise UsageError(f"{FILE} holds record {record.id} already", hint)
    record = record._replace(fails_on=tuple(asked.fails_on) or _only_key(case))
    record = _with_state(states, record, asked)
    if asked.capsule:
        record = with_capsule(states, record)
    names = [name for name in record.named_files() if name in states.offered]
    files = {name: states.offered[name] for name in names}
    return Added(record, _fields(record, case, asked), files)


def keep_broken_side(states: BrokenStates, known: Record) -> Added:
    """Return a record that is there, with a capsule. Raises `UsageError`."""
    record = with_capsule(states, known)
    return Added(record, {**known.raw, "before": dict(record.before)}, dict(states.offered))


def _with_state(states: BrokenStates, record: Record, asked: Asked) -> Record:
    if sum(told is not None for told in (asked.before, asked.patch, asked.command)) > 1:
        raise UsageError("--before, --patch and --command each say how it is broken: take one")
    if asked.before is not None:
        return _as_it_was(states, record, asked.before)
    if asked.patch is not None:
        return _patched(states, record, asked.patch)
    if asked.command is not None:
        return record._replace(before=_valid(asked.command))
    return record


def _valid(before: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return check_before(before)
    except Invalid as error:
        where = f"{dotted(error.path)}: " if error.path else ""
        raise UsageError(f"{where}{error.message}", "guard regressions --help") from error


def with_capsule(states: BrokenStates, record: Record) -> Record:
    """Return the record with its broken side in a capsule, which is offered to be written.

    Raises `UsageError` where no state can be rebuilt that differs from today's.
    """
    if record.before["kind"] == "command":
        said = f"{record.id} is proven by a command: it has no broken side to keep"
        raise UsageError(said, f"guard prove {shell_path(record.id)} --before REV")
    bare = record._replace(before=record.broken_by)
    rung = states.pinned(bare)
    _require(rung)
    assert rung.tree is not None
    path = file_beside(record.id, CAPSULE)
    try:
        states.offered[path] = states.encapsulate(bare, rung.tree)
    except CapsuleError as error:
        raise UsageError(f"no capsule of {record.id}: {error}") from error
    return record._replace(before={**record.broken_by, "capsule": path})


def _as_it_was(states: BrokenStates, record: Record, rev: str) -> Record:
    rev = stable_name(states.project, rev)
    found = as_patch(states, record, rev)
    if found.before["kind"] == "revision":
        _require(states.revision(found, rev))
    return found


def _patched(states: BrokenStates, record: Record, file: str) -> Record:
    """Name the patch where it lies in the repository; else bring it in."""
    project = states.project
    inside = os.path.relpath(os.path.realpath(file), os.path.realpath(project.repo.root))
    path = inside
    if project.tree.get(bytes_of(inside)) is None:
        path = file_beside(record.id, PATCH)
        states.offered[path] = _read(file)
    found = record._replace(before={"kind": "patch", "path": path})
    _require(states.patched(found))
    return found


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise UsageError(f"{printable(file)} can't be read: {error.strerror}") from error


def _require(rung: Rung) -> None:
    if rung.tree is None:
        raise UsageError(f"no broken state comes of it: {rung.reason}", "git log --oneline -5")


def _only_key(case: Case) -> tuple[str, ...]:
    """Return the key of a case that can fail on one alone; the others are known by a run."""
    keys = [key for stated in case.expected for key in score_keys(stated) or ("", "")]
    return (keys[0],) if len(keys) == 1 else ()


def _fields(record: Record, case: Case, asked: Asked) -> dict[str, Any]:
    summary = summary_of(case) if asked.incident is None else asked.incident
    today = datetime.now(UTC).date().isoformat()
    return {
        "agent": record.agent,
        "case": record.case,
        "incident": {"summary": summary, "date": today, "issue": None},
        "claims": list(case.evidence.get("supports_claims", ())),
        "seams": list(case.evidence.get("seams", ())),
        "before": dict(record.before),
        "fails_on": list(record.fails_on),
        "proof": None,
        "status": "active",
        "retirement": None,
    }
