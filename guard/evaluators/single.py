"""An evaluator of one key: what most built-in ones are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from guard.evaluators.reasons import bounded
from guard.evaluators.shapes import sentence_of
from guard.plugin.api import Evaluator, Expectations
from guard.results import Observation, Score
from guard.schema import Check

#: Given the observation and the expectation's value: what doesn't hold, in words; None where
#: the target can't tell, so that there is no score.
FindWrong = Callable[[Observation, Any], list[str] | None]


def evaluator_of(key: str, find_wrong: FindWrong, check: Check, holds: str) -> Evaluator:
    """Return the evaluator that reads and writes ``key``; ``holds`` is its reason for a 1."""

    def evaluate(observation: Observation, expectations: Expectations) -> Iterator[Score]:
        if key not in expectations:
            return
        wrong = find_wrong(observation, expectations[key])
        if wrong is not None:
            yield Score(key, 0.0 if wrong else 1.0, bounded("; ".join(wrong) or holds))

    return Evaluator(
        name=key,
        evaluate=evaluate,
        reads=(key,),
        writes=(key,),
        check=sentence_of(check),
        source="built-in",
    )


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as a list of one."""
    return [*value] if isinstance(value, list) else [value]
