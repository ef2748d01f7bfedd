"""`artifacts`: files that the run leaves behind, by their JSON, size or digest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from guard.evaluators.files import refuse_absent_with_more
from guard.evaluators.json_values import equal_json
from guard.evaluators.reasons import shown
from guard.evaluators.shapes import inside_path, json_value, pointer, sha256_digest
from guard.evaluators.single import evaluator_of
from guard.evaluators.workspace_files import (
    Unmet,
    find_other_digest,
    find_small,
    is_absent,
    read_file,
    read_json,
    text_in,
)
from guard.results import Observation
from guard.schema import Check, boolean, integer, list_of, mapping


def find_unmet(observation: Observation, wanted: Any) -> list[str] | None:
    if not observation.workspace:
        return None
    return [
        f"{item['path']}: {what}"
        for item in wanted
        for what in _find_unmet_in(observation.workspace, item)
    ]


def _find_unmet_in(workspace: str, item: Mapping[str, Any]) -> list[str]:
    try:
        if item.get("absent") is True:
            return [] if is_absent(workspace, item["path"]) else ["is there"]
        data = read_file(workspace, item["path"])
        return list(_find_wrong_content(workspace, data, item))
    except Unmet as error:
        return [str(error)]


def _find_wrong_content(workspace: str, data: bytes, item: Mapping[str, Any]) -> Iterator[str]:
    if "min_bytes" in item:
        yield from find_small(data, item["min_bytes"])
    if "sha256" in item:
        yield from find_other_digest(data, item["sha256"])
    if "json_pointer" in item:
        read_json(data, item["json_pointer"])
    if "equals" in item:
        yield from _find_other_value(data, item)
    if "equals_artifact" in item:
        yield from _find_other_artifact(workspace, data, item)


def _find_other_value(data: bytes, item: Mapping[str, Any]) -> Iterator[str]:
    wanted = item["equals"]
    if "json_pointer" not in item and isinstance(wanted, str):
        if text_in(data) != wanted:
            yield "isn't the expected text"
        return
    at = item.get("json_pointer", "")
    found = read_json(data, at)
    if not equal_json(found, wanted):
        yield f"{at or 'it'} is {shown(found)}, not {shown(wanted)}"


def _find_other_artifact(workspace: str, data: bytes, item: Mapping[str, Any]) -> Iterator[str]:
    other = item["equals_artifact"]
    try:
        second = read_file(workspace, other["path"])
        if "json_pointer" not in item and "json_pointer" not in other:
            same = data == second
        else:
            wanted = read_json(second, other.get("json_pointer", ""))
            same = equal_json(read_json(data, item.get("json_pointer", "")), wanted)
    except Unmet as error:
        raise Unmet(f"can't be compared with {other['path']}: {error}") from error
    if not same:
        yield f"isn't the same as {other['path']}{other.get('json_pointer', '')}"


_other: Callable[[Any], Any] = mapping(
    {"path": inside_path, "json_pointer": pointer}, required=("path",)
)
_KEYS: dict[str, Check] = {
    "path": inside_path,
    "json_pointer": pointer,
    "equals": json_value,
    "equals_artifact": _other,
    "absent": boolean,
    "min_bytes": integer(1),
    "sha256": sha256_digest,
}


def check_artifact(value: Any) -> None:
    item: dict[str, Any] = mapping(_KEYS, required=("path",))(value)
    refuse_absent_with_more(item, beside=("path",))


EVALUATORS = (
    evaluator_of(
        "artifacts", find_unmet, list_of(check_artifact, least=1), "the artifacts are as expected"
    ),
)
