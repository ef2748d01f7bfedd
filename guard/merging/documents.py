"""One version of regressions.json: read into mappings by id, and written as guard writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeGuard

from guard.merging.markers import split_markers
from guard.merging.values import is_mapping, unsettled
from guard.regressions import EMPTY, SCHEMA, write_regressions

V1: Final = "agentic_evals.regressions.v1"


class Unmergeable(Exception):
    """It is no regressions.json that could be merged record by record."""


class Document(NamedTuple):
    """One version, with its records by id."""

    schema: str
    content: Mapping[str, Any]
    lists: tuple[str, ...] = ()
    """Keys of the v1 form whose records stand in a list, each with its id inside."""


def read_side(data: bytes) -> Document:
    """Return what a side says. Raises `Unmergeable`."""
    return _read(_decoded(data))


def read_base(data: bytes, schema: str) -> Document:
    """Return what both sides come from: nothing, where each of them added the file.

    A virtual ancestor may hold the conflict of an inner merge: what differs there is unknown.
    """
    text = _decoded(data)
    if not text.strip():
        return Document(schema, {**(EMPTY if schema == SCHEMA else {}), "schema": schema})
    sides = split_markers(text)
    if sides is None:
        return _read(text)
    left, right = (_read(side) for side in sides)
    return Document(left.schema, unsettled(left.content, right.content))


def write_document(document: Document) -> bytes:
    """Return the file's text."""
    content = document.content
    if document.schema == SCHEMA and {*content} <= {*EMPTY}:
        return write_regressions(content)
    listed = {key: [*content[key].values()] for key in document.lists if is_mapping(content[key])}
    return (json.dumps({**content, **listed}, indent=2, ensure_ascii=False) + "\n").encode()


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unmergeable("it is not UTF-8 text") from error


def _read(text: str) -> Document:
    try:
        found: Any = json.loads(text, object_pairs_hook=_unique)
        # Half a character and a number without end can be read, and not be written.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise Unmergeable(f"it is not valid JSON: {error}") from error
    if not is_mapping(found) or not isinstance(found.get("schema"), str):
        raise Unmergeable("it names no schema")
    if found["schema"] == V1:
        lists = {key: by_id for key in found if (by_id := _by_id(found[key])) is not None}
        return Document(V1, {**found, **lists}, tuple(lists))
    content = {**EMPTY, **found}
    if not (is_mapping(content["incidents"]) and is_mapping(content["regressions"])):
        raise Unmergeable("its records have no ids")
    return Document(found["schema"], content)


def _by_id(listed: Any) -> Mapping[str, Any] | None:
    """Return the items of a list by their ids; None where it is none, or they have no such."""
    if not _is_list(listed):
        return None
    ids = [item.get("id") if is_mapping(item) else None for item in listed]
    found = {name: item for name, item in zip(ids, listed, strict=True) if isinstance(name, str)}
    return found if len(found) == len(listed) else None


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found
