"""Whether what a case asks its prerequisites to set up is something that one of them does.

A misspelt name under ``given`` would set up nothing, and the case would show nothing: it is a
configuration error, at its line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from guard.git import bytes_of
from guard.model import Agent, Case
from guard.plugin.api import Evaluator
from guard.plugin.blame import blamed_on
from guard.project import Project
from guard.references import sources_in
from guard.schema import nearest
from guard.trials.provisions import Wanted, wanted_of


def check_provisions(
    project: Project, agent: Agent, case: Case, readers: Mapping[str, Evaluator]
) -> None:
    """Refuse what nothing sets up or reads. Raises `ConfigError` at its line.

    ``readers``: key of an expectation → the evaluator that reads it.
    """
    needing = [key for key in (*agent.always, *case.expected) if key in readers]
    needing = [key for key in needing if readers[key].needs]
    if not (case.provisions or needing or case.prerequisites or agent.prerequisites):
        return
    wanted = wanted_of(
        agent, case, project.plugins.prerequisites(), project.target_of(agent).prerequisites
    )
    _refuse_twice(project, agent, case, wanted)
    names = [one.name for one in wanted]
    for key in needing:
        if not set(readers[key].needs) & set(names):
            said = f"asks for the prerequisite {' or '.join(readers[key].needs)}:…, {_NOT_STATED}"
            if key in case.expected:
                raise project.case_error(case.path, f"expected.{key}", said, case.id)
            raise project.config_error(("agents", agent.name, "always", key), said)
    for name, value in case.provisions.items():
        wrong = _find_wrong(name, value, wanted, names) or _lacking_source(project, value)
        if wrong:
            raise project.case_error(case.path, f"given.{name}", wrong, case.id)


_NOT_STATED = "which neither the case nor its agent states"


def _refuse_twice(project: Project, agent: Agent, case: Case, wanted: Collection[Wanted]) -> None:
    """Refuse two of one name: which one a trial gets, or is asked about, couldn't be told."""
    known: dict[str, Wanted] = {}
    for one in wanted:
        if one.name in known:
            said = f"{one.label}: {known[one.name].label} is asked for already, and one is set up"
            # What an agent asks for its cases ask for too, where they don't say otherwise.
            if one.label in agent.prerequisites:
                raise project.config_error(("agents", agent.name, "prerequisites"), said)
            raise project.case_error(case.path, "prerequisites", said, case.id)
        known[one.name] = one


def _find_wrong(
    name: str, value: Any, wanted: Collection[Wanted], names: Collection[str]
) -> str | None:
    found = next((one for one in wanted if one.name == name), None)
    if found is None:
        near = nearest(name, ("files", *names))
        return f"no prerequisite of this name sets anything up for the case{near}"
    with blamed_on(f"prerequisite {name}: its check of `given`"):
        return found.prerequisite.check_given(value)


def _lacking_source(project: Project, value: Any) -> str | None:
    for path in sources_in(value):
        if project.tree.get(bytes_of(path)) is None:
            return f"the file {path} is not in the tree (git add {path})"
    return None
