"""A check that no built-in key makes: how polite an answer has to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guard.plugin import Observation, evaluator


@evaluator(reads=("polite",))
def polite(observation: Observation, expected: Mapping[str, Any]) -> bool:
    """Pass an answer that says thank you, where the case asks for it."""
    return not expected["polite"] or "thank you" in observation.reply.lower()
