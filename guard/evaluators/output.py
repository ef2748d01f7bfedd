"""`output`: what the structured output holds at each pointer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from guard.evaluators.json_values import equal_json, find_value, is_array
from guard.evaluators.reasons import quoted, shown
from guard.evaluators.shapes import json_value, one_or_more, pattern, pointer, sentence_of
from guard.evaluators.single import as_list, evaluator_of
from guard.results import Observation
from guard.schema import Check, Invalid, list_of, mapping
from guard.searching import found_in

_HOLDS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "equals": ("not", equal_json),
    "contains": ("which lacks", lambda found, wanted: _contains_all(found, as_list(wanted))),
    "matches": ("which doesn't match", lambda found, wanted: _matches_all(found, as_list(wanted))),
    "one_of": (
        "none of",
        lambda found, wanted: any(equal_json(found, item) for item in wanted),
    ),
}


def find_unmet(observation: Observation, wanted: Any) -> list[str]:
    # None is no "can't tell" here: prose where JSON was asked for is the agent's own failure.
    if observation.output is None:
        return ["there is no structured output"]
    return [what for item in wanted for what in unmet_in(observation.output, item)]


def unmet_in(document: Any, item: Mapping[str, Any], called: str = "the output") -> list[str]:
    """Return what of one item of `output` doesn't hold in a document, in words."""
    at = item.get("pointer", "")
    try:
        found = find_value(document, at)
    except LookupError:
        return [f"there is nothing at {at}"]
    return [
        f"{at or called} is {shown(found)}, {words} {shown(item[name])}"
        for name, (words, holds) in _HOLDS.items()
        if name in item and not holds(found, item[name])
    ]


def _contains_all(found: Any, wanted: list[Any]) -> bool:
    if isinstance(found, str):
        return all(isinstance(item, str) and item in found for item in wanted)
    return is_array(found) and all(any(equal_json(one, item) for one in found) for item in wanted)


def _matches_all(found: Any, patterns: list[str]) -> bool:
    return isinstance(found, str) and all(found_in(found, item) for item in patterns)


def part(value: Any) -> Any:
    """A part of a text, or an item of a list."""
    if value == "":
        raise Invalid(f"must not be empty: every text contains {quoted('')}")
    return json_value(value)


_KEYS: dict[str, Check] = {
    "pointer": pointer,
    "equals": json_value,
    "contains": one_or_more(part),
    "matches": one_or_more(pattern),
    "one_of": list_of(json_value, least=1),
}


def wrong_item(value: Any) -> str | None:
    """Return what is wrong with one item of `output`, in one sentence, or None."""
    return sentence_of(mapping(_KEYS))("", value)


EVALUATORS = (
    evaluator_of(
        "output",
        find_unmet,
        list_of(mapping(_KEYS), least=1),
        "the structured output is as expected",
    ),
)
