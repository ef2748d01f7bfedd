"""`fields`: the structured output, compared exactly and field by field.

Beside it, among the expectations or inside the mapping itself, may stand `min_accuracy` (the
floor of `fields_floor`; 1.0 where only `ratio_gates` is given) and `ratio_gates: false`: then
no `fields` score is written, since any score below 1 fails, and the ratio stands in the
reason of `fields_floor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from guard.errors import PluginError
from guard.evaluators.json_values import equal_json, is_mapping
from guard.evaluators.reasons import bounded, counted, shown
from guard.evaluators.shapes import json_value, sentence_of
from guard.plugin.api import Evaluator, Expectations
from guard.results import Observation, Score
from guard.schema import Check, Invalid, boolean, kind_of, mapping_of, number

_OPTIONS: dict[str, Check] = {
    "min_accuracy": number(0, 1, above=True),
    "ratio_gates": boolean,
}


class _Compared(NamedTuple):
    """The fields of one observation, compared."""

    total: int
    wrong: list[str]
    floor: float | None
    gates: bool
    """Whether a ratio below 1 fails."""

    @property
    def ratio(self) -> float:
        return (self.total - len(self.wrong)) / self.total

    @property
    def details(self) -> str:
        details = f": {'; '.join(self.wrong)}" if self.wrong else ""
        right = self.total - len(self.wrong)
        return f"{right} of {counted(self.total, 'field')} as expected{details}"


def grade_ratio(observation: Observation, expectations: Expectations) -> Iterator[Score]:
    found = _compare(observation, expectations)
    if found is None or not found.gates:
        return
    shown_floor = found.wrong and found.floor is not None and found.ratio >= found.floor
    lead = f"floor met, ratio {found.ratio:.2f}, " if shown_floor else ""
    yield Score("fields", found.ratio, bounded(lead + found.details))


def grade_floor(observation: Observation, expectations: Expectations) -> Iterator[Score]:
    found = _compare(observation, expectations)
    if found is None or (found.gates and found.floor is None):
        return
    floor = 1.0 if found.floor is None else found.floor
    met = found.ratio >= floor
    verb = "meets" if met else "is below"
    lead = f"ratio {found.ratio:.2f} {verb} the floor of {floor:g}, "
    yield Score("fields_floor", float(met), bounded(lead + found.details))


def _compare(observation: Observation, expectations: Expectations) -> _Compared | None:
    if "fields" not in expectations:
        return None
    stated: Mapping[str, Any] = expectations["fields"]
    options = {name: _option(name, stated, expectations) for name in _OPTIONS}
    wanted = {name: value for name, value in stated.items() if name not in _OPTIONS}
    wrong = _find_wrong_fields(observation.output, wanted)
    gates = options["ratio_gates"] is not False
    return _Compared(len(wanted), wrong, options["min_accuracy"], gates)


def unwritten_keys(expected: Mapping[str, Any]) -> set[str]:
    """Return which of the two score keys these expectations ask nobody for."""
    stated = expected.get("fields")
    if not is_mapping(stated):
        return set()
    options = {**stated, **expected}
    if options.get("ratio_gates") is False:
        return {"fields"}
    return set() if options.get("min_accuracy") is not None else {"fields_floor"}


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


#: Two, since each is answered by the scores it writes: without a `fields` score the key
#: `fields` still has one, that of its floor.
EVALUATORS = tuple(
    Evaluator(
        name=name,
        evaluate=evaluate,
        reads=("fields", *_OPTIONS),
        writes=(name,),
        check=check_key,
        source="built-in",
    )
    for name, evaluate in (("fields", grade_ratio), ("fields_floor", grade_floor))
)
