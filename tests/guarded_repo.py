"""A small guarded repository: one skill, one case of it, one record; and its broken variants."""

from __future__ import annotations

import json
from typing import Any

SKILL = "skills/expense/SKILL.md"
CASE = "evals/cases/eur-taxi.md"
RECORDS = "regressions.json"

GUARD_YAML = """\
version: 1
agents:
  expense:
    paths: [skills/expense/**]
    target: command
    options: {argv: [cat, SKILL.md]}
    cases: [evals/cases/*.md]
"""
SKILL_TEXT = """\
---
name: expense
description: Record an expense.
---
Record the amount that you are told.
"""
FIXED_SKILL = SKILL_TEXT + "Ask about foreign currency and change nothing.\n"
CASE_TEXT = """\
---
id: eur-taxi
utterance: EuroStar taxis were 400 euro
expected:
  no_changes: true
  reply_contains: [euro]
---
Nobody may convert an amount on their own authority.
"""


def record(**changed: Any) -> dict[str, Any]:
    """Return the record of the case, with some of its keys changed."""
    return {
        "agent": "expense",
        "case": CASE,
        "incident": {"summary": "converted 400 EUR", "date": "2031-07-10", "issue": None},
        "before": {"kind": "parent"},
        "fails_on": ["no_changes"],
        "proof": None,
        "status": "active",
        "retirement": None,
        **changed,
    }


def records(**by_id: dict[str, Any]) -> str:
    """Return a regressions.json with these records; ``_`` in a name stands for ``-``."""
    named = {name.replace("_", "-"): value for name, value in by_id.items()}
    document = {"schema": "guard.regressions.v1", "incidents": {}, "regressions": named}
    return json.dumps(document, indent=2) + "\n"


BASE = {"guard.yaml": GUARD_YAML, SKILL: SKILL_TEXT, "README.md": "A ledger.\n"}
RETAINED = {**BASE, CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())}
FIX = {SKILL: FIXED_SKILL, CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())}
