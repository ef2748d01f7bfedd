"""`reply_contains`, `reply_excludes`, `reply_matches`: what the agent said in the end."""

from __future__ import annotations

from typing import Any

from guard.evaluators.shapes import one_or_more, pattern, plain_text
from guard.evaluators.single import evaluator_of
from guard.evaluators.texts import find_missing, find_unmatched, find_unwanted
from guard.results import Observation

_NAME = "the reply"


def find_missing_in_reply(observation: Observation, wanted: Any) -> list[str]:
    return find_missing(_NAME, observation.reply, wanted)


def find_unwanted_in_reply(observation: Observation, unwanted: Any) -> list[str]:
    return find_unwanted(_NAME, observation.reply, unwanted)


def find_unmatched_in_reply(observation: Observation, patterns: Any) -> list[str]:
    return find_unmatched(_NAME, observation.reply, patterns)


EVALUATORS = (
    evaluator_of(
        "reply_contains", find_missing_in_reply, one_or_more(plain_text), "the reply says it all"
    ),
    evaluator_of(
        "reply_excludes", find_unwanted_in_reply, one_or_more(plain_text), "the reply says none"
    ),
    evaluator_of(
        "reply_matches", find_unmatched_in_reply, one_or_more(pattern), "the reply matches"
    ),
)
