"""dead-expectation: whatever a case expects is read by an evaluator; what isn't can't fail.

Of a case in guard's own format a key that nobody declares is refused when the case is read. Of
other formats it is found here; and where evaluators are plain functions, which declare nothing,
or declare a key and don't read it, once they have run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from guard.cases import is_native
from guard.cases.loading import place_of_case
from guard.config import FILE
from guard.model import Case, Violation
from guard.project import Project
from guard.running.expectations import ReadersOf, is_read, readers_of
from guard.running.shown import Shown
from guard.schema import nearest
from guard.wording.units import names

RULE: Final = "dead-expectation"
_HINT: Final = ("guard explain expected",)
_SHOWN: Final = 3


class _Dead(NamedTuple):
    """One key of a file that nothing reads."""

    path: str
    agent: str
    key: str
    was_run: bool
    """Whether it is known from a run, not by what evaluators declare."""


def dead_expectations(
    project: Project, cases: Iterable[Case], shown: Mapping[str, Shown] = {}
) -> Iterator[Violation]:
    """Yield a violation for each key that no evaluator of the agent reads.

    ``shown``: id → what the case's trials show, where it was run.
    """
    readers: ReadersOf = {}
    found: dict[_Dead, list[Case]] = {}
    for case in cases:
        undeclared = [] if is_native(case.path) else list(_undeclared(project, case, readers))
        unread = shown[case.id].unread if case.id in shown else ()
        for key in dict.fromkeys((*undeclared, *unread)):
            dead = _Dead(case.path, case.agent, key, key not in undeclared)
            found.setdefault(dead, []).append(case)
    for dead, stating in found.items():
        yield _violation(project, dead, stating, readers)


def _undeclared(project: Project, case: Case, readers: ReadersOf) -> Iterator[str]:
    if case.agent not in readers:
        readers[case.agent] = readers_of(project, project.agents[case.agent])
    return (key for key in case.expected if not is_read(key, readers[case.agent]))


def _violation(project: Project, dead: _Dead, stating: list[Case], readers: ReadersOf) -> Violation:
    first = stating[0]
    verb = "states" if len(stating) == 1 else "state"
    told = f"`{dead.key}`, which {names([case.id for case in stating], _SHOWN)} {verb}"
    if dead.was_run:
        said = f"no evaluator of agent {dead.agent} read {told}, when they were run"
    else:
        near = nearest(dead.key, list(readers[dead.agent]))
        said = f"no evaluator of agent {dead.agent} reads {told}{near}"
    is_own = dead.key in first.expected
    place = place_of_case(project.tree, first, f"expected.{dead.key}") if is_own else FILE
    path = dead.path if is_own else FILE
    return Violation(RULE, f"{place}: {said}", agent=dead.agent, paths=(path,), hint=_HINT)
