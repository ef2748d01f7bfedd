"""Writes a proof into regressions.json in the user's working tree, and nothing else there."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from guard.errors import UsageError
from guard.model import Case
from guard.output import write_bytes, write_file
from guard.proofs.prove import Proved, receipts_of
from guard.regressions import (
    EMPTY,
    FILE,
    Record,
    is_list_form,
    validate,
    write_regressions,
)
from guard.results import ProofResult
from guard.rules import unwritten_prose

TO_REPLACE: Final = unwritten_prose.TO_REPLACE
#: Characters of an incident's summary.
SUMMARY: Final = 160
#: The end of a sentence: a full stop before white space and a capital, or the end.
SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")


def write_record(root: str, proved: Proved, case: Case) -> None:
    """Write the record of a proof; the other records stay as they are on disk now.

    The trials may have taken minutes: the file is read again, so that no edit is lost.
    """
    document = read_document(root)
    known = document["regressions"].get(proved.record.id, {})
    records = {**document["regressions"], proved.record.id: fields_of(proved, case, known)}
    write_beside(root, proved.files)
    put_document(root, {**document, "regressions": records})


def put_document(root: str, document: Mapping[str, Any]) -> None:
    """Write regressions.json, whole or not at all."""
    write_file(os.path.join(root, FILE), write_regressions(document).decode())


def read_document(root: str, *, list_form: bool = False) -> Mapping[str, Any]:
    """Return regressions.json as it is on disk, validated; an empty one where there is none.

    Raises `UsageError` for the list form, which nothing but the wish to have it in ours rewrites.
    """
    content = read_file(root)
    document = validate(content) if content else EMPTY
    if not list_form and is_list_form(content):
        said = f"{FILE} is in the list form of agentic_evals, which is read and not written"
        raise UsageError(said, "guard regressions add CASE (writes it in guard's form)")
    return document


def read_file(root: str) -> bytes:
    """Return regressions.json as it is on disk; nothing where there is none."""
    path = os.path.join(root, FILE)
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def write_beside(root: str, files: Mapping[str, bytes]) -> None:
    """Write what records name, each file whole or not at all, before they name it."""
    for name, content in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_bytes(path, content)


def fields_of(proved: Proved, case: Case, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record's fields: what is known of it, with the proof filled in."""
    record, today = proved.record, datetime.now(UTC).date().isoformat()
    fields = {
        "agent": record.agent,
        "case": record.case,
        "incident": {"summary": summary_of(case), "date": today, "issue": None},
        "claims": list(case.evidence.get("supports_claims", ())),
        "seams": list(case.evidence.get("seams", ())),
        "before": dict(record.before),
        "fails_on": list(record.fails_on),
        "proof": _dated(proof_fields(proved.proof, today), known.get("proof")),
        "status": record.status,
        "retirement": None,
    }
    stated = {key: known[key] for key in known if key in _THEIRS}
    return {**fields, **stated, **_others(known, fields), **_written_where_stated(record)}


#: What a person writes; a proof leaves it as it is.
_THEIRS: Final = ("incident", "claims", "seams", "status", "retirement")


def _written_where_stated(record: Record) -> dict[str, Any]:
    stated = {"reopened": record.reopened, "observations": dict(record.observations)}
    return {key: value for key, value in stated.items() if value}


def _others(known: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in known.items() if k not in fields and k != "reopened"}


def proof_fields(proof: ProofResult, today: str) -> dict[str, Any]:
    """Return what a record says of its proof: both counts, the date, the receipts."""
    sides = {"before": proof.before, "after": proof.after}
    return {
        **{name: dict(side._asdict()) for name, side in sides.items() if side},
        "date": today,
        "receipts": receipts_of(proof),
    }


def _dated(proof: dict[str, Any], known: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the proof with the date of the known one where that is the same: it is no new one."""
    if known and proof["receipts"] and {**proof, "date": None} == {**known, "date": None}:
        return known
    return proof


def summary_of(case: Case) -> str:
    """Return the first sentence of the case's prose, else what was asked.

    What `guard new-case` wrote for a person to replace is no prose of theirs.
    """
    prose = " ".join(line for line in case.body.splitlines() if not line.startswith("#"))
    first = SENTENCE.split(" ".join(prose.split()), maxsplit=1)[0]
    text = first.removeprefix(TO_REPLACE) or case.utterance or case.id
    return text if len(text) <= SUMMARY else text[: SUMMARY - 1].rstrip() + "…"
