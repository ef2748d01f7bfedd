"""The list form of regressions.json that `agentic_evals` writes, read as records of ours.

Its proofs are commands: they run the guard against the broken behaviour, and must fail.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from guard.schema import Invalid

#: What is read of a record; the rest has no place in ours.
READ: Final = (
    *("regression_id", "id", "skill", "status", "incident", "retained_case", "retained_fixture"),
    *("claims_threatened", "claim_ids", "claims", "seams", "seam_ids", "fail_before_fix"),
    *("retirement", "retired_reason"),
)


def modern(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document in our form. Raises `Invalid` where a record has no id."""
    skill = document.get("skill")
    found: dict[str, Any] = {}
    for position, item in enumerate(_list(document.get("regressions"))):
        path = ("regressions", str(position))
        if not isinstance(item, Mapping):
            raise Invalid("must be a mapping", path)
        fields = cast("Mapping[str, Any]", item)
        name = _text(fields.get("regression_id")) or _text(fields.get("id"))
        if not name:
            raise Invalid("the key `regression_id` is missing", path)
        if name in found:
            raise Invalid(f"{name} stands here twice", path)
        found[name] = _record(fields, _text(fields.get("skill")) or _text(skill) or "unknown")
    return {
        "schema": "guard.regressions.v1",
        "incidents": _incidents(document),
        "regressions": found,
    }


def left_out(content: bytes) -> list[str]:
    """Return the keys of the records in a file of that form that ours have no place for."""
    items = _list(_mapping(json.loads(content.decode("utf-8-sig"))).get("regressions"))
    keys = {str(key) for item in items for key in _mapping(item)}
    return sorted(keys.difference(READ))


def _record(fields: Mapping[str, Any], agent: str) -> dict[str, Any]:
    fixture, case = _text(fields.get("retained_fixture")), _text(fields.get("retained_case"))
    retired = _text(fields.get("status")).lower() == "retired"
    named = "#".join(part for part in (fixture, case) if part)
    return {
        "agent": agent,
        "case": named or "unknown",
        "incident": _incident(_mapping(fields.get("incident"))),
        "claims": _texts(fields, "claims_threatened", "claim_ids", "claims"),
        "seams": _texts(fields, "seams", "seam_ids"),
        "before": _before(_mapping(fields.get("fail_before_fix"))),
        "fails_on": [],
        "proof": None,
        "status": "retired" if retired else "active",
        "retirement": _retirement(fields) if retired else None,
    }


def _before(proof: Mapping[str, Any]) -> dict[str, Any]:
    """Return the command that has to fail; what it is to print is told in prose alone."""
    command = proof.get("proof_command", proof.get("command"))
    argv = ["sh", "-c", command] if isinstance(command, str) else list(map(str, _list(command)))
    if not argv or not argv[0].strip() or not argv[-1].strip():
        return {"kind": "parent"}
    if not all(part.strip() for part in argv):
        # An argument may be empty there, and not in ours.
        argv = ["sh", "-c", shlex.join(argv)]
    code = next((proof[key] for key in _CODES if type(proof.get(key)) is int), None)
    stated = {} if code is None or not 0 < code < 125 else {"expect_exit": code}
    return {"kind": "command", "argv": argv, **stated}


_CODES: Final = ("expect_exit", "expected_exit", "expected_exit_code")


def _incidents(document: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in _list(document.get("incidents")):
        fields = _mapping(item)
        name = _text(fields.get("id"))
        if name:
            status = _text(fields.get("status"))
            found[name] = {**_incident(fields), **({"status": status} if status else {})}
    return found


def _incident(fields: Mapping[str, Any]) -> dict[str, Any]:
    summary = _text(fields.get("summary")) or _text(fields.get("title"))
    return {"summary": summary, "date": _text(fields.get("date")), "issue": fields.get("issue")}


def _retirement(fields: Mapping[str, Any]) -> dict[str, str]:
    stated = _mapping(fields.get("retirement"))
    reason = _text(stated.get("reason")) or _text(fields.get("retired_reason"))
    return {"reason": reason or "not recorded", "date": _text(stated.get("date")) or "unknown"}


def _texts(fields: Mapping[str, Any], *keys: str) -> list[str]:
    stated = (value for key in keys for value in _list(fields.get(key)))
    return list(dict.fromkeys(filter(None, map(_text, stated))))


def _list(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def unmapped(document: Mapping[str, Any]) -> Iterable[str]:
    """Yield the incidents that no record is about, of a document in either form's raw text."""
    records = document.get("regressions")
    listed = _list(records) or list(_mapping(records).values())
    told = [_mapping(_mapping(record).get("incident")) for record in listed]
    known = {str(value) for one in told for value in one.values() if value is not None}
    known |= {_text(_mapping(record).get("regression_id")) for record in listed}
    known |= set(map(str, _mapping(records)))
    for name, issue in _named_incidents(document.get("incidents")):
        if name not in known and (not issue or issue not in known):
            yield name


def _named_incidents(incidents: Any) -> Iterable[tuple[str, str]]:
    items = [(_text(_mapping(item).get("id")), item) for item in _list(incidents)]
    for name, item in items or _mapping(incidents).items():
        if name:
            yield name, _text(_mapping(item).get("issue"))
