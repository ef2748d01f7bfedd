"""A broken state kept as a patch: it outlives the commits it was made from."""

from __future__ import annotations

from guard.casekeys import workspace_path
from guard.errors import UnreadableError, UsageError
from guard.proofs.broken_state import BrokenStates
from guard.proofs.patches import make_patch
from guard.regressions import Record
from guard.schema import Invalid

PATCH = "before.patch"
CAPSULE = "before.capsule"


def file_beside(record: str, name: str) -> str:
    """Return the path of a file that guard keeps for a record. Raises `UsageError`."""
    path = f"regressions/{record}/{name}"
    try:
        return str(workspace_path(path))
    except Invalid as error:
        raise UsageError(f"record {record} can't have a folder of its own: {path}") from error


def as_patch(states: BrokenStates, record: Record, rev: str) -> Record:
    """Return the record with its state before as a patch, which is offered to be written.

    Where no patch does the same, it names the revision.
    """
    capsule = {key: record.before[key] for key in ("capsule",) if key in record.before}
    named = record._replace(before={"kind": "revision", "rev": rev, **capsule})
    try:
        rung = states.revision(named, rev)
    except UnreadableError:
        return named
    if rung.tree is None:
        return named
    path = file_beside(record.id, PATCH)
    about = f"Breaks agent {record.agent} again as it was at {rev}, before the fix of {record.id}."
    old = states.project.tree.oid
    states.offered[path] = make_patch(states.scratch, old, rung.tree.oid, about)
    patched = record._replace(before={"kind": "patch", "path": path, **capsule})
    again = states.patched(patched)
    if again.tree is None or again.tree.oid != rung.tree.oid:
        del states.offered[path]
        return named
    return patched
