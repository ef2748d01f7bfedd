"""Grade one expectation with the built-in evaluator that reads it."""

from __future__ import annotations

from typing import Any

from guard.evaluators import built_in_evaluators
from guard.plugin import Expectations
from guard.results import Observation, Score


def scores_of(expected: dict[str, Any], observation: Observation) -> dict[str, Score]:
    """Return every score that the built-in evaluators write for these expectations."""
    found = [
        score
        for evaluator in built_in_evaluators()
        for score in evaluator.evaluate(observation, Expectations(expected))
    ]
    assert len({score.key for score in found}) == len(found)
    return {score.key: score for score in found}


def reason_of(key: str, value: Any, observation: Observation, *, holds: bool) -> str:
    """Assert that exactly this key is scored, and how; return its reason."""
    found = scores_of({key: value}, observation)
    assert list(found) == [key]
    assert found[key].value == float(holds), found[key].reason
    reason = found[key].reason
    assert 0 < len(reason) <= 300
    assert reason.isprintable()
    return reason
