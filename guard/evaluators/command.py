"""`command`: checkers, run on the workspace when the target's processes are gone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from guard.errors import TargetError
from guard.evaluators.exit_code import NOT_STARTED, exit_status
from guard.evaluators.reasons import bounded, quoted, quoted_end
from guard.evaluators.shapes import one_or_more, plain_text
from guard.evaluators.single import as_list, evaluator_of
from guard.plugin.api import Finished
from guard.results import Observation
from guard.schema import list_of, mapping

_PLACEHOLDER = re.compile(r"\{(workspace|repo)\}")


def find_failing(observation: Observation, wanted: Any) -> list[str] | None:
    if not observation.workspace:
        return None
    checkers = as_list(wanted)
    if not observation.repo and any("{repo}" in part for c in checkers for part in c["argv"]):
        return None
    return [what for checker in checkers for what in _run(observation, checker)]


def _run(observation: Observation, checker: Mapping[str, Any]) -> list[str]:
    # Late, so that a hook which only checks the value of the key starts faster.
    from guard.process import CHECKER_TIMEOUT, run_checker

    argv = [fill(part, observation) for part in checker["argv"]]
    name = bounded(" ".join(checker["argv"]), 100)
    finished = run_checker(argv, observation.workspace, CHECKER_TIMEOUT)
    status = require_status(name, finished, CHECKER_TIMEOUT)
    wanted = checker.get("exit_code", 0)
    if status == wanted:
        return []
    said = finished.stderr.strip() or finished.stdout.strip()
    ending = f": {quoted_end(said)}" if said else ""
    return [f"checker `{name}` ended in {status}, not {wanted}{ending}"]


def fill(part: str, observation: Observation) -> str:
    """Fill in ``{workspace}`` and ``{repo}``, once: what is filled in is left as it is."""
    places = {"workspace": observation.workspace, "repo": observation.repo}
    return _PLACEHOLDER.sub(lambda match: places[match[1]], part)


def require_status(name: str, finished: Finished, timeout: float) -> int:
    """Return the exit status. Raises TargetError for one that says nothing about the agent."""
    status = finished.exit_status
    if finished.signal is not None:
        raise TargetError(f"checker `{name}` was ended by signal {finished.signal}")
    if status is None:
        raise TargetError(f"checker `{name}` did not end within {timeout:g} s")
    if status in NOT_STARTED:
        said = finished.stderr.strip()
        raise TargetError(f"checker `{name}` can't be started ({status}): {quoted(said)}")
    return status


_checker = mapping(
    {"argv": list_of(plain_text, least=1), "exit_code": exit_status}, required=("argv",)
)

EVALUATORS = (
    evaluator_of("command", find_failing, one_or_more(_checker), "each checker ended as expected"),
)
