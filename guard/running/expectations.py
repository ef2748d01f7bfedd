"""Whether each stated expectation has an evaluator that reads it, with a value it can use.

A key that nothing reads would pass for ever, so it is a configuration error; in another format
than guard's own, or where an agent has plain functions, which declare nothing, it is a broken
rule (`guard.rules.dead_expectation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from guard.cases import is_native
from guard.evaluators import check_expectation, is_built_in
from guard.model import Agent, Case
from guard.plugin.api import Evaluator
from guard.plugin.blame import blamed_on
from guard.project import Project
from guard.running.provided import check_provisions
from guard.schema import nearest

#: Agent → key → the evaluator that reads it.
ReadersOf = dict[str, Mapping[str, Evaluator]]


def check_expectations(
    project: Project, cases: Iterable[Case], known: ReadersOf | None = None
) -> None:
    """Refuse an expectation that no evaluator reads. Raises `ConfigError` at its line.

    ``known`` holds the agents that were looked at before, for who asks more than once.
    """
    evaluators: ReadersOf = {} if known is None else known
    for case in cases:
        agent = project.agents[case.agent]
        if agent.name not in evaluators:
            evaluators[agent.name] = readers_of(project, agent)
            for key, value in agent.always.items():
                said = _find_wrong(key, value, evaluators[agent.name])
                if said:
                    raise project.config_error(("agents", agent.name, "always", key), said)
        for key, value in case.expected.items():
            if not (is_native(case.path) or is_read(key, evaluators[agent.name])):
                continue
            said = _find_wrong(key, value, evaluators[agent.name])
            if said:
                raise project.case_error(case.path, f"expected.{key}", said, case.id)
        check_provisions(project, agent, case, evaluators[agent.name])


def readers_of(project: Project, agent: Agent) -> dict[str, Evaluator]:
    """Return key → evaluator; the key "" where a plain function may read any."""
    readers: dict[str, Evaluator] = {}
    for evaluator in project.evaluators_of(agent):
        if not evaluator.declared:
            readers.setdefault("", evaluator)
        for key in evaluator.reads:
            readers.setdefault(key, evaluator)
    return readers


def is_read(key: str, readers: Mapping[str, Evaluator]) -> bool:
    """Tell whether an evaluator reads a key, or may: a plain function doesn't say."""
    return is_built_in(key) or key in readers or "" in readers


def _find_wrong(key: str, value: Any, readers: Mapping[str, Evaluator]) -> str | None:
    if is_built_in(key) and not readers[key].judge:
        return check_expectation(key, value)
    if key in readers:
        with blamed_on(f"evaluator {readers[key].name}: its check of {key}"):
            return readers[key].check(key, value)
    if "" in readers:
        return None
    return f"no evaluator reads this key{nearest(key, readers)} (guard explain expected)"
