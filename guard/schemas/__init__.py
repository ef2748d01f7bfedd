"""The JSON Schemas of guard's files (draft 2020-12), each complete in itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Final

from guard.errors import UsageError

#: Name on the command line → file in this folder.
SCHEMAS: Final = {
    "guard.yaml": "guard.schema.json",
    "case": "case.schema.json",
    "regressions.json": "regressions.schema.json",
    "report": "report.schema.json",
}
_SHORT: Final = {"guard": "guard.yaml", "regressions": "regressions.json"}


def schema_text(name: str) -> str:
    """Return the schema of that name, as written. Raises `UsageError` for an unknown one."""
    known = _SHORT.get(name, name)
    if known not in SCHEMAS:
        from guard.schema import nearest

        raise UsageError(
            f"there is no schema {name!r}{nearest(name, SCHEMAS)}",
            f"guard schema {' | '.join(SCHEMAS)}",
        )
    path = os.path.join(os.path.dirname(__file__), SCHEMAS[known])
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def described_keys() -> Iterator[tuple[str, str, str]]:
    """Yield (where, key, description) of the keys that people write, of all files."""
    case = json.loads(schema_text("case"))
    guard_yaml = json.loads(schema_text("guard.yaml"))
    agent = guard_yaml["$defs"]["agent"]
    for where, keys, document in (
        ("a case", case["properties"], case),
        ("guard.yaml", guard_yaml["properties"], guard_yaml),
        ("an agent in guard.yaml", agent["properties"], guard_yaml),
        ("`fix` in guard.yaml", guard_yaml["properties"]["fix"]["properties"], guard_yaml),
    ):
        yield from ((where, key, _description(value, document)) for key, value in keys.items())


def _description(value: Any, document: Any) -> str:
    if "description" in value or "$ref" not in value:
        return str(value.get("description", ""))
    return _description(document["$defs"][value["$ref"].rpartition("/")[2]], document)
