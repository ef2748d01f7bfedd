"""What is wrong with files of records, here or in other repositories: read as text, never run.

No plugin is loaded, no case format but JSON is opened, no git of theirs is asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from guard import regressions
from guard.errors import ConfigError, UsageError
from guard.output import printable
from guard.proofs.capsules import problem_of_capsule
from guard.regressions import FILE, Record
from guard.retained import older
from guard.schema import Invalid, is_list, is_mapping

#: Folders that hold no records of a project's own.
SKIPPED: Final = frozenset(
    (".git", "node_modules", ".venv", "venv", "site-packages", "__pycache__", ".tox")
)
#: Bytes of a file of records, or of cases, that are read.
LARGEST: Final = 32 * 1024 * 1024


class Audited(NamedTuple):
    """One file of records."""

    path: str
    schema: str
    records: int
    wrong: tuple[str, ...]
    """What guards nothing, or can't be read."""
    notes: tuple[str, ...]
    """What is weaker than it may look, or not proven yet."""


def audit_paths(paths: Sequence[str]) -> list[Audited]:
    """Audit files, and the files below folders. Raises `UsageError` where there is none."""
    found: dict[str, Audited] = {}
    for path in paths:
        here = list(_files(path))
        if not here:
            raise UsageError(f"{printable(path)} holds no {FILE}", "guard regressions audit PATH")
        found.update((file, _audited(file)) for file in here if file not in found)
    return list(found.values())


def _files(path: str) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
        return
    if not os.path.isdir(path):
        raise UsageError(f"{printable(path)} is not there", "guard regressions audit PATH")
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(set(folders) - SKIPPED)
        file = os.path.join(folder, FILE)
        if FILE in names and (folder == path or _is_known(file)):
            yield file


def _is_known(path: str) -> bool:
    """Tell whether a file of that name is one of ours: other tools write some too."""
    try:
        with open(path, "rb") as file:
            return b"regressions.v1" in file.read(LARGEST)
    except OSError:
        return True


def _audited(path: str) -> Audited:
    try:
        content = _read(path)
        document = _document(content)
        schema = str(document.get("schema", ""))
        records = regressions.parse_regressions(content)
    except (Invalid, ConfigError) as error:
        where = f"{error.key}: " if isinstance(error, ConfigError) and error.key else ""
        return Audited(path, "", 0, (printable(f"{where}{error.message}"),), ())
    wrong = [said for record in records.values() for said in _wrong(path, record)]
    wrong += [f"incident {name}: no record is about it" for name in older.unmapped(document)]
    notes = [said for record in records.values() for said in _notes(record)]
    if schema == regressions.LIST_SCHEMA:
        notes.append("the list form of agentic_evals: read, and never written")
    told = [tuple(map(printable, lines)) for lines in (wrong, notes)]
    return Audited(path, schema, len(records), *told)


def _read(path: str) -> bytes:
    try:
        if os.path.getsize(path) > LARGEST:
            raise Invalid(f"larger than {LARGEST // 2**20} MiB")
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Invalid(f"can't be read: {error.strerror}") from error


def _document(content: bytes) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Invalid(f"not valid JSON: {error}") from error
    if not isinstance(found, Mapping):
        raise Invalid("must be a mapping")
    return cast("Mapping[str, Any]", found)


# One record --------------------------------------------------------------------------------


def _wrong(path: str, record: Record) -> Iterator[str]:
    if record.retired:
        return
    where = f"{record.id}: "
    missing = _missing_case(os.path.dirname(path), record)
    if missing:
        yield where + missing
    if record.states_nothing:
        yield f"{where}its fails_on is empty, so nothing says what must fail"
    folder, patch = os.path.dirname(path), record.before.get("path")
    if patch and not os.path.isfile(os.path.join(folder, patch)):
        yield f"{where}its patch {patch} is not there"
    capsule = record.before.get("capsule")
    problem = _problem_of_capsule(folder, capsule) if capsule else ""
    if problem:
        yield where + problem


def _problem_of_capsule(folder: str, capsule: str) -> str:
    place = os.path.join(folder, capsule)
    try:
        return problem_of_capsule(capsule, _read(place) if os.path.isfile(place) else None)
    except Invalid as error:
        return f"its capsule {capsule} is {error.message}"


def _missing_case(folder: str, record: Record) -> str:
    """Say that the case is missing: beside the file, or in the folder above a fixtures folder."""
    file, _, wanted = record.case.partition("#")
    places = [os.path.join(base, file) for base in (folder, os.path.dirname(folder))]
    place = next((found for found in places if os.path.isfile(found)), None)
    if place is None:
        return f"its case {file} is not there"
    if wanted and file.endswith(".json") and wanted not in _names_in(place):
        return f"{file} holds no case {wanted!r}"
    return ""


def _names_in(path: str) -> set[str]:
    """Return the ids and names of the cases in a JSON file."""
    try:
        document = _document(_read(path))
    except Invalid:
        return set()
    cases = document.get("cases", document.get("examples"))
    items = [item for item in cases if is_mapping(item)] if is_list(cases) else []
    return {str(item[key]) for item in items for key in ("id", "name") if key in item}


def _notes(record: Record) -> Iterator[str]:
    if record.retired:
        reason = (record.retirement or {}).get("reason")
        yield f"{record.id}: retired: {reason}"
        return
    if not (record.proof or {}).get("receipts"):
        yield f"{record.id}: PENDING: no evidence stands behind it"
    if record.before["kind"] == "command":
        code = record.before.get("expect_exit")
        counts = f"exit {code}" if code is not None else "any exit but 0, 125 to 127"
        yield f"{record.id}: weak: proven by a command ({counts}), not by a rebuilt state"
    if not record.incident.get("summary"):
        yield f"{record.id}: says nothing of what happened"
