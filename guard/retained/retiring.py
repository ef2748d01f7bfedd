"""A record is given up with a reason, taken up again, or names another file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from guard.errors import UsageError
from guard.model import Case
from guard.output import shell_path
from guard.regressions import FILE
from guard.schema import nearest

Fields = Mapping[str, Any]


def retired(document: Fields, name: str, reason: str, by: str) -> dict[str, Any]:
    """Return the document with one record retired. Raises `UsageError`."""
    fields = _record(document, name)
    if fields.get("status") == "retired":
        raise UsageError(f"{name} is retired already", f"guard regressions show {shell_path(name)}")
    retirement = {"reason": reason, "date": _today(), **({"by": by} if by else {})}
    return _with(document, name, {**fields, "status": "retired", "retirement": retirement})


def reopened(document: Fields, name: str, reason: str, by: str) -> dict[str, Any]:
    """Return the document with a retired record active again, one time more and unproven.

    Raises `UsageError`.
    """
    fields = _record(document, name)
    if fields.get("status") != "retired":
        hint = f"guard prove {shell_path(name)}"
        raise UsageError(f"{name} is active: a proof of a further fix reopens it", hint)
    again = {
        "proof": None,
        "status": "active",
        "retirement": None,
        "reopened": fields.get("reopened", 0) + 1,
        "reopening": {"reason": reason, "date": _today(), **({"by": by} if by else {})},
    }
    return _with(document, name, {**fields, **again})


def moved(document: Fields, name: str, path: str, cases: Mapping[str, Case]) -> dict[str, Any]:
    """Return the document with one record naming the file that its case is in now.

    Raises `UsageError`.
    """
    fields = _record(document, name)
    wanted = str(fields["case"]).partition("#")[2]
    there = {case.id: case for case in cases.values() if case.path == path}
    found = wanted or (name if name in there else next(iter(there), ""))
    if found not in there or (len(there) > 1 and not wanted and name not in there):
        of = f" of {wanted}" if wanted else ""
        hint = f"guard regressions move {shell_path(name)} FILE"
        raise UsageError(f"{path} is not the file of a case{of}", hint)
    if there[found].agent != fields["agent"]:
        raise UsageError(f"{path} is a case of {there[found].agent}, not of {fields['agent']}")
    case = f"{path}#{found}" if wanted or len(there) > 1 else path
    return _with(document, name, {**fields, "case": case})


def _record(document: Fields, name: str) -> Fields:
    records: Mapping[str, Fields] = document["regressions"]
    if name not in records:
        near = nearest(name, records)
        raise UsageError(f"{name} is no record of {FILE}{near}", "guard regressions show")
    return records[name]


def _with(document: Fields, name: str, fields: Fields) -> dict[str, Any]:
    return {**document, "regressions": {**document["regressions"], name: fields}}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
