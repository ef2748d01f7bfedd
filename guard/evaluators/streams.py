"""`stdout_contains`, `stdout_excludes`, `stderr_contains`: what the target's program printed."""

from __future__ import annotations

from typing import Any

from guard.evaluators.shapes import one_or_more, plain_text
from guard.evaluators.single import evaluator_of
from guard.evaluators.texts import find_missing, find_unwanted
from guard.results import Observation

_check = one_or_more(plain_text)


def find_missing_in_stdout(observation: Observation, wanted: Any) -> list[str]:
    return find_missing("stdout", observation.stdout, wanted)


def find_unwanted_in_stdout(observation: Observation, unwanted: Any) -> list[str]:
    return find_unwanted("stdout", observation.stdout, unwanted)


def find_missing_in_stderr(observation: Observation, wanted: Any) -> list[str]:
    return find_missing("stderr", observation.stderr, wanted)


EVALUATORS = (
    evaluator_of("stdout_contains", find_missing_in_stdout, _check, "stdout contains it all"),
    evaluator_of("stdout_excludes", find_unwanted_in_stdout, _check, "stdout contains none of it"),
    evaluator_of("stderr_contains", find_missing_in_stderr, _check, "stderr contains it all"),
)
