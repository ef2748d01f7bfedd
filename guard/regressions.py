"""regressions.json: the retained incidents, each with the case that guards it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from guard.casekeys import workspace_path
from guard.conflicts import to_mend, unsettled
from guard.errors import ConfigError
from guard.schema import (
    Check,
    Invalid,
    any_text,
    anything,
    dotted,
    integer,
    mapping,
    mapping_of,
    nullable,
    one_of,
    some_mapping,
    text,
    texts,
)

FILE = "regressions.json"
#: Where what records name is kept, unless they say otherwise.
FOLDER = "regressions"
SCHEMA = "guard.regressions.v1"
#: The list form that agentic_evals writes: read, and written back in ours only.
LIST_SCHEMA = "agentic_evals.regressions.v1"
FORMAT = "regressions-1"
KINDS = ("parent", "revision", "patch", "command")
#: Exit codes that say nothing of what a command was to show: git bisect's and the shell's own.
NEVER_RED = (125, 126, 127)
#: Above it a shell names the signal that ended a program.
MOST_EXIT = 128

_SIDE: dict[str, Check] = {"passed": integer(0), "trials": integer(0)}
_PROOF: dict[str, Check] = {
    "before": mapping(_SIDE, required=("passed", "trials")),
    "after": mapping(_SIDE, required=("passed", "trials")),
    "date": text,
    "receipts": texts,
}
_BEFORE: dict[str, Check] = {
    "kind": one_of(*KINDS),
    "rev": text,
    "path": workspace_path,
    "argv": texts,
    "expect_exit": integer(0, 255),
    "expect_output": any_text,
    "capsule": workspace_path,
}
_NEEDS = {"revision": "rev", "patch": "path", "command": "argv"}


def check_before(value: Any) -> dict[str, Any]:
    """Return how a broken state is rebuilt, validated. Raises `Invalid`."""
    found: dict[str, Any] = mapping(_BEFORE, required=("kind",))(value)
    needed = _NEEDS.get(found["kind"])
    if needed and needed not in found:
        raise Invalid(f"kind {found['kind']} needs the key `{needed}`")
    allowed = {"kind", "capsule", needed}
    if found["kind"] == "command":
        allowed |= {"expect_exit", "expect_output"}
    extra = next((key for key in found if key not in allowed), None)
    if extra:
        raise Invalid(f"kind {found['kind']} takes no `{extra}`", (extra,))
    if found["kind"] == "command":
        _check_command(found)
    return found


def _check_command(before: Mapping[str, Any]) -> None:
    if not before["argv"]:
        raise Invalid("names no program", ("argv",))
    code = before.get("expect_exit")
    if code in NEVER_RED or (code or 0) > MOST_EXIT:
        raise Invalid(f"{code} never shows that the guard caught something", ("expect_exit",))
    if code == 0 and not before.get("expect_output"):
        said = "0 alone shows nothing: say what it prints too, `expect_output`"
        raise Invalid(said, ("expect_exit",))


_RETIREMENT = mapping({"reason": text, "date": text, "by": any_text}, required=("reason", "date"))
RECORD_KEYS: dict[str, Check] = {
    "agent": text,
    "case": text,
    "incident": mapping({"summary": any_text, "date": any_text, "issue": nullable(anything)}),
    "claims": texts,
    "seams": texts,
    "before": check_before,
    "fails_on": texts,
    "proof": nullable(mapping(_PROOF)),
    "status": one_of("active", "retired"),
    "retirement": nullable(_RETIREMENT),
    "reopened": integer(0),
    "reopening": nullable(_RETIREMENT),
    "observations": mapping({"rejected": workspace_path, "accepted": workspace_path}),
}
_INCIDENT = mapping(
    {"summary": any_text, "date": any_text, "issue": nullable(anything), "status": any_text}
)
KEYS: dict[str, Check] = {
    "schema": one_of(SCHEMA),
    "incidents": mapping_of(_INCIDENT),
    "regressions": mapping_of(mapping(RECORD_KEYS, required=("agent", "case", "before"))),
}


class Record(NamedTuple):
    """One retained regression."""

    id: str
    agent: str
    case: str
    """The case's file; ``#id`` behind it where the file holds several."""
    before: Mapping[str, Any]
    fails_on: tuple[str, ...] = ()
    incident: Mapping[str, Any] = {}
    proof: Mapping[str, Any] | None = None
    status: str = "active"
    retirement: Mapping[str, Any] | None = None
    reopened: int = 0
    observations: Mapping[str, str] = {}
    raw: Mapping[str, Any] = {}

    @property
    def case_path(self) -> str:
        """The file that holds the case."""
        return self.case.partition("#")[0]

    @property
    def retired(self) -> bool:
        """Whether it is kept for the record only."""
        return self.status == "retired"

    @property
    def observation_paths(self) -> Mapping[str, str]:
        """Side (rejected, accepted) → the file that its observation is kept in."""
        return self.observations or observation_paths(self.id)

    @property
    def broken_by(self) -> Mapping[str, Any]:
        """How its broken state comes about; a capsule keeps a copy of it, and changes nothing."""
        return {key: value for key, value in self.before.items() if key != "capsule"}

    @property
    def states_nothing(self) -> bool:
        """Whether it says nothing of what must fail: no key, nor a command that has to."""
        return not self.fails_on and self.before["kind"] != "command"

    def named_files(self) -> tuple[str, ...]:
        """Return every path of the repository that this record names."""
        kept = self.observations or {"folder": f"regressions/{self.id}"}
        named = (self.case_path, self.before.get("path"), self.before.get("capsule"))
        return tuple(path for path in (*named, *kept.values()) if path)


def observation_paths(record: str) -> dict[str, str]:
    """Return where a record's observations are kept unless it says otherwise."""
    return {side: f"{FOLDER}/{record}/{side}.json" for side in ("rejected", "accepted")}


def parse_regressions(content: bytes) -> dict[str, Record]:
    """Return id → record. Raises `ConfigError` with line and key."""
    return records_of(validate(content))


def is_list_form(content: bytes) -> bool:
    """Tell whether a file is in the form that agentic_evals writes."""
    try:
        found: Any = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return bool(some_mapping(found).get("schema") == LIST_SCHEMA)


def validate(content: bytes) -> dict[str, Any]:
    """Return the validated document."""
    try:
        source = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigError(FILE, line, "", "is not UTF-8 text") from error
    try:
        document = json.loads(source, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        said = f"not valid JSON at column {error.colno}: {error.msg}"
        conflict = unsettled(source, FILE)
        raise conflict or ConfigError(FILE, error.lineno, "", said, to_mend(FILE)) from error
    except RecursionError as error:
        raise ConfigError(FILE, 1, "", "not valid JSON: nested too deeply") from error
    except _DuplicateKey as error:
        raise ConfigError(
            FILE, _line_of_key(source, error.key), error.key, "stands here twice"
        ) from error
    try:
        if some_mapping(document).get("schema") == LIST_SCHEMA:
            from guard.retained.older import modern

            document = modern(document)
        found: dict[str, Any] = mapping(KEYS, required=("schema", "regressions"))(document)
        for name, record in found["regressions"].items():
            _check_record(record, ("regressions", name))
    except Invalid as error:
        from guard.yamlfile import line_of

        line = line_of(source, error.path)
        raise ConfigError(
            FILE, line, dotted(error.path), error.message, "guard schema regressions.json"
        ) from error
    return found


class _DuplicateKey(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _DuplicateKey(key)
        found[key] = value
    return found


def _line_of_key(source: str, key: str) -> int:
    written = json.dumps(key, ensure_ascii=False)
    lines = [n for n, line in enumerate(source.splitlines(), 1) if written in line]
    return lines[-1] if lines else 1


def _check_record(record: Mapping[str, Any], path: tuple[str, ...]) -> None:
    if record.get("status") == "retired" and not record.get("retirement"):
        raise Invalid("a retired record says why: {reason, date, by}", (*path, "retirement"))


def records_of(document: Mapping[str, Any]) -> dict[str, Record]:
    """Return id → record of a validated document."""
    return {
        name: Record(
            id=name,
            agent=raw["agent"],
            case=raw["case"],
            before=raw["before"],
            fails_on=tuple(raw.get("fails_on", ())),
            incident=raw.get("incident", {}),
            proof=raw.get("proof"),
            status=raw.get("status", "active"),
            retirement=raw.get("retirement"),
            reopened=raw.get("reopened", 0),
            observations=raw.get("observations", {}),
            raw=raw,
        )
        for name, raw in document["regressions"].items()
    }


def write_regressions(document: Mapping[str, Any]) -> bytes:
    """Return the file's text: sorted by id, so that one record's change is one hunk."""
    ordered = {
        "schema": SCHEMA,
        "incidents": dict(sorted(document.get("incidents", {}).items())),
        "regressions": dict(sorted(document.get("regressions", {}).items())),
    }
    return (json.dumps(ordered, indent=2, ensure_ascii=False) + "\n").encode()


EMPTY: Mapping[str, Any] = {"schema": SCHEMA, "incidents": {}, "regressions": {}}
