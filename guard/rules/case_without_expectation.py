"""case-without-expectation: a case says what it expects; nothing that happens can fail it else.

Its trials are UNGRADED, and that is what hooks and CI go by. A check runs none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from guard.cases.loading import place_of_case
from guard.git import bytes_of
from guard.model import Case, Violation
from guard.project import Project

RULE: Final = "case-without-expectation"


def without_expectation(project: Project, base: Project | None = None) -> Iterator[Violation]:
    """Yield a violation for each case that states none, nor has one from its agent.

    With a ``base`` only of the files that differ from it.
    """
    for case in project.cases.values():
        if case.expected or project.agents[case.agent].always:
            continue
        if base is None or _is_changed(case, base):
            yield _violation(project, case)


def _is_changed(case: Case, base: Project) -> bool:
    before = base.tree.get(bytes_of(case.path))
    return before is None or before.oid != case.blob


def _violation(project: Project, case: Case) -> Violation:
    where = place_of_case(project.tree, case, "id")
    return Violation(
        rule=RULE,
        message=f"{where}: {case.id} states nothing it expects, so nothing can fail it",
        agent=case.agent,
        paths=(case.path,),
        hint=("guard explain expected",),
    )
