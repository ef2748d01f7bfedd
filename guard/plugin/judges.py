"""Models that judge: asked by the built-in ``judge`` evaluator, offered by ``guard_judges``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Question(NamedTuple):
    """What a judge is asked: one vote on one answer."""

    model: str
    rubric: str
    asked: str
    """What the agent was asked."""
    answer: str
    """What it answered; nothing else of the trial is shown to a judge."""
    timeout: float
    """Seconds; a judge that isn't done by then is unavailable."""


class Vote(NamedTuple):
    """What a judge answered."""

    score: Any
    """As it came: guard refuses what isn't a number from 0 to 1."""
    reason: str = ""
    model: str = ""
    """The model that answered."""
    response_id: str = ""
    """The provider's id; the same one twice is no second vote."""
    cost_usd: float | None = None
    tokens: Mapping[str, int] | None = None


class Judge(NamedTuple):
    """A provider of models that judge, named in an expectation as ``name:model``."""

    name: str
    ask: Callable[[Question], Vote]
    """Raises `TargetError` where no vote can be had."""
    prompt: str
    """The fixed text around each question; its digest is recorded with each score."""
    missing: Callable[[], str | None] = lambda: None
    """What this machine lacks to ask it, in words, or None."""
    endpoint: Callable[[], str] = lambda: ""
    """Where it answers; empty for the provider's own."""
