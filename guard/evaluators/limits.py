"""`no_permission_denials`, `max_cost_usd`, `max_seconds`, `max_turns`: what a run may take."""

from __future__ import annotations

from typing import Any

from guard.evaluators.reasons import counted, some
from guard.evaluators.shapes import only_true
from guard.evaluators.single import evaluator_of
from guard.results import Observation
from guard.schema import Check, Invalid, integer, number


def find_denials(observation: Observation, wanted: Any) -> list[str] | None:
    denials = observation.permission_denials
    if denials is None:
        return None
    return [f"{counted(len(denials), 'permission')} denied: {some([*denials])}"] if denials else []


def find_higher_cost(observation: Observation, limit: Any) -> list[str] | None:
    cost = observation.cost_usd
    if cost is None:
        return None
    return [] if cost <= limit else [f"it cost ${cost:.4g}, more than ${limit:g}"]


def find_longer_time(observation: Observation, limit: Any) -> list[str]:
    seconds = observation.seconds
    return [] if seconds <= limit else [f"it took {seconds:.1f} s, more than {limit:g} s"]


def find_more_turns(observation: Observation, limit: Any) -> list[str] | None:
    turns = observation.turns
    if turns is None:
        return None
    return [] if turns <= limit else [f"it took {counted(turns, 'turn')}, more than {limit}"]


def finite(check: Check) -> Check:
    """A number that passes ``check`` and that something can exceed."""

    def check_finite(value: Any) -> float:
        found: float = check(value)
        if found == float("inf"):
            raise Invalid("must be a finite number: nothing exceeds this one")
        return found

    return check_finite


EVALUATORS = (
    evaluator_of(
        "no_permission_denials",
        find_denials,
        only_true("leave it out where a denial is all right"),
        "no permission was denied",
    ),
    evaluator_of("max_cost_usd", find_higher_cost, finite(number(0)), "it cost no more"),
    evaluator_of(
        "max_seconds", find_longer_time, finite(number(0, above=True)), "it took no longer"
    ),
    evaluator_of("max_turns", find_more_turns, integer(1), "it took no more turns"),
)
