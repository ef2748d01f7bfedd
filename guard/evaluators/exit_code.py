"""`exit_code`: the target's program ended in it."""

from __future__ import annotations

from typing import Any

from guard.evaluators.single import evaluator_of
from guard.results import Observation
from guard.schema import Invalid, integer

#: A shell's own codes for a program that can't be started: an ERROR of the trial, never a grade.
NOT_STARTED = (126, 127)


def find_other_code(observation: Observation, wanted: Any) -> list[str] | None:
    status = observation.exit_status
    if status is None:
        return None
    return [] if status == wanted else [f"exit status {status}, not {wanted}"]


def exit_status(value: Any) -> int:
    """An exit status that a program that was started can end in."""
    found: int = integer(0, 255)(value)
    if found in NOT_STARTED:
        raise Invalid(f"{found} means that a program couldn't be started: ERROR, never graded")
    return found


EVALUATORS = (evaluator_of("exit_code", find_other_code, exit_status, "it ended as expected"),)
