"""The keys of one case, checked by the same table whoever read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guard.casekeys import CASE_KEYS, check_policy
from guard.schema import Invalid, mapping

_REQUIRED = ("id",)


def check_fields(document: Any) -> dict[str, Any]:
    """Return a case's keys, normalised. Raises `Invalid` with the path to what is wrong."""
    hint = " (every key: guard schema case)"
    fields: dict[str, Any] = mapping(CASE_KEYS, required=_REQUIRED, hint=hint)(document)
    check_policy(fields)
    _check_expectations(fields)
    return fields


def _check_expectations(fields: Mapping[str, Any]) -> None:
    from guard.evaluators import check_expectation, is_built_in

    for key, value in fields.get("expected", {}).items():
        # Keys that aren't built in are checked once the agent's evaluators are known.
        said = check_expectation(key, value) if is_built_in(key) else None
        if said:
            raise Invalid(said, ("expected", key))
