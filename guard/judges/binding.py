"""Binds the built-in ``judge`` evaluator to the judges that a project's plugins offer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from guard.evaluators.judge import KEY
from guard.judges.panel import Panel
from guard.plugin.api import Evaluator, Expectations
from guard.results import Observation, Score


def with_judges(evaluators: Iterable[Evaluator], panel: Panel) -> tuple[Evaluator, ...]:
    """Return the evaluators, the one that reads ``judge`` bound to a panel."""
    return tuple(_bound(one, panel) if one.name == KEY else one for one in evaluators)


def _bound(evaluator: Evaluator, panel: Panel) -> Evaluator:
    def check(key: str, value: Any) -> str | None:
        return evaluator.check(key, value) or panel.unknown(value)

    return evaluator._replace(evaluate=partial(_evaluate, panel), check=check)


def _evaluate(
    panel: Panel, observation: Observation, expectations: Expectations
) -> Iterable[Score]:
    if KEY not in expectations:
        return ()
    score = panel.judge(expectations[KEY], asked_of(expectations), observation.reply)
    return (score._replace(key=KEY),)


def asked_of(expectations: Expectations) -> str:
    """Return what the agent was asked, as a judge is shown it."""
    inputs = dict(expectations.inputs)
    said = [str(inputs.pop("utterance", ""))]
    if inputs:
        said.append(f"input: {json.dumps(inputs, ensure_ascii=False, default=str)}")
    said += [f"then: {turn}" for turn in expectations.turns]
    return "\n".join(filter(None, said))
