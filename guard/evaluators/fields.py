"""`fields`: the structured output, compared exactly and field by field.

Beside it, among the expectations or inside the mapping itself, may stand `min_accuracy` (the
floor of `fields_floor`; 1.0 where only `ratio_gates` is given) and `ratio_gates: false`: then
no `fields` score is written, since any score below 1 fails, and the ratio stands in the
reason of `fields_floor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guard.errors import PluginError
from guard.evaluators.json_values import equal_json, is_mapping
from guard.evaluators.reasons import bounded, counted, shown
from guard.evaluators.shapes import json_value, sentence_of
from guard.model import Observation, Score
from guard.plugin.api import Evaluator, Expectations
from guard.schema import Check, Invalid, boolean, kind_of, mapping_of, number

_OPTIONS: dict[str, Check] = {
    "min_accuracy": number(0, 1, above=True),
    "ratio_gates": boolean,
}


def grade_fields(observation: Observation, expectations: Expectations) -> Iterator[Score]:
    if "fields" not in expectations:
        return
    stated: Mapping[str, Any] = expectations["fields"]
    options = {name: _option(name, stated, expectations) for name in _OPTIONS}
    wanted = {name: value for name, value in stated.items() if name not in _OPTIONS}
    wrong = _find_wrong_fields(observation.output, wanted)
    floor = options["min_accuracy"]
    yield from _scores(len(wanted), wrong, floor, gates=options["ratio_gates"] is not False)


def _option(name: str, stated: Mapping[str, Any], expectations: Expectations) -> Any:
    outside = expectations.get(name)
    inside = stated.get(name)
    if outside is not None and inside is not None and outside != inside:
        raise PluginError(f"fields: `{name}` is stated twice, as {inside} and as {outside}")
    return outside if inside is None else inside


def _find_wrong_fields(output: Any, wanted: Mapping[str, Any]) -> list[str]:
    if not is_mapping(output):
        what = "there is none" if output is None else f"it is {kind_of(output)}"
        return [f"{name} is missing ({what})" for name in wanted]
    return [
        f"{name} is {shown(output[name])}, not {shown(value)}"
        if name in output
        else f"{name} is missing"
        for name, value in wanted.items()
        if name not in output or not equal_json(output[name], value)
    ]


def _scores(count: int, wrong: list[str], floor: float | None, *, gates: bool) -> Iterator[Score]:
    ratio = (count - len(wrong)) / count
    met = ratio >= (1.0 if floor is None else floor)
    how = f"{count - len(wrong)} of {counted(count, 'field')} as expected"
    details = f": {'; '.join(wrong)}" if wrong else ""
    if gates:
        lead = f"floor met, ratio {ratio:.2f}, " if wrong and met and floor is not None else ""
        yield Score("fields", ratio, bounded(lead + how + details))
    if floor is not None or not gates:
        verb = "meets" if met else "is below"
        line = f"ratio {ratio:.2f} {verb} the floor of {1.0 if floor is None else floor:g}, {how}"
        yield Score("fields_floor", float(met), bounded(line + details))


def check_fields(value: Any) -> None:
    stated: dict[str, Any] = mapping_of(json_value)(value)
    for name in _OPTIONS.keys() & stated.keys():
        try:
            _OPTIONS[name](stated[name])
        except Invalid as error:
            raise Invalid(error.message, (name,)) from error
    if not stated.keys() - _OPTIONS.keys():
        raise Invalid("names no field, so it can never fail")


def check_key(key: str, value: Any) -> str | None:
    return sentence_of(_OPTIONS.get(key, check_fields))(key, value)


EVALUATORS = (
    Evaluator(
        name="fields",
        evaluate=grade_fields,
        reads=("fields", *_OPTIONS),
        writes=("fields", "fields_floor"),
        check=check_key,
        source="built-in",
    ),
)
