"""Versions of regressions.json for tests: records, documents, and their text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from guard.regressions import SCHEMA, write_regressions

Fields = Mapping[str, Any]


def proof(date: str = "2026-05-01", trials: int = 4, receipt: str = "a") -> dict[str, Any]:
    """Return a proof of this many trials a side."""
    return {
        "before": {"passed": 0, "trials": trials},
        "after": {"passed": trials, "trials": trials},
        "date": date,
        "receipts": [f"sha256:{receipt}0", f"sha256:{receipt}1"],
    }


def record(name: str, **fields: Any) -> dict[str, Any]:
    """Return a record as `guard prove` writes it, with other fields where they are given."""
    return {
        "agent": "expense",
        "case": f"evals/{name}.md",
        "incident": {"summary": f"It forgot {name}.", "date": "2026-05-01", "issue": None},
        "claims": [],
        "seams": [],
        "before": {"kind": "parent"},
        "fails_on": ["no_changes"],
        "proof": proof(),
        "status": "active",
        "retirement": None,
        **fields,
    }


def named(*names: str) -> dict[str, Fields]:
    """Return records of these ids."""
    return {name: record(name) for name in names}


def text(records: Mapping[str, Fields], **more: Any) -> bytes:
    """Return the file with these records."""
    return write_regressions({"schema": SCHEMA, "incidents": {}, "regressions": records, **more})


def v1_text(*records: Fields) -> bytes:
    """Return a file of the v1 list form."""
    document = {"schema": "agentic_evals.regressions.v1", "regressions": records}
    return (json.dumps(document, indent=2) + "\n").encode()
