"""`tools_used`, `tools_not_used`: which tools the agent called, and with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guard.evaluators.json_values import covers, is_mapping
from guard.evaluators.reasons import shown, some
from guard.evaluators.shapes import json_value, plain_text
from guard.evaluators.single import as_list, evaluator_of
from guard.results import Observation, ToolCall
from guard.schema import list_of, mapping, mapping_of


def find_unused(observation: Observation, wanted: Any) -> list[str] | None:
    calls = observation.tool_calls
    if calls is None:
        return None
    unused = [_describe(item) for item in as_list(wanted) if not _find_calls(calls, item)]
    if not unused:
        return []
    names = list(dict.fromkeys(call.name for call in calls))
    return [f"not used: {some(unused)}; used: {some(names) if names else 'no tool'}"]


def find_used(observation: Observation, unwanted: Any) -> list[str] | None:
    calls = observation.tool_calls
    if calls is None:
        return None
    used = [call for item in as_list(unwanted) for call in _find_calls(calls, item)]
    return [f"used: {some([f'{c.name} {shown(dict(c.input))}' for c in used], 3)}"] if used else []


def _find_calls(calls: Sequence[ToolCall], item: Any) -> list[ToolCall]:
    if not is_mapping(item):
        return [call for call in calls if call.name == item]
    wanted = item.get("input", {})
    return [call for call in calls if call.name == item["name"] and covers(call.input, wanted)]


def _describe(item: Any) -> str:
    if not is_mapping(item):
        return str(item)
    return f"{item['name']} {shown(item['input'])}" if "input" in item else str(item["name"])


_named = mapping({"name": plain_text, "input": mapping_of(json_value)}, required=("name",))


def check_tool(value: Any) -> Any:
    """A tool's name, or its name and a part of the input that it got."""
    return _named(value) if isinstance(value, dict) else plain_text(value)


_check = list_of(check_tool, least=1)

EVALUATORS = (
    evaluator_of("tools_used", find_unused, _check, "each tool was used"),
    evaluator_of("tools_not_used", find_used, _check, "none of the tools was used"),
)
