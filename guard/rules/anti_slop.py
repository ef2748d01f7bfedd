"""anti-slop/*: evidence that only looks like evidence. Findings to look at, no broken rules.

``anti-slop/null``: a case that an agent passes which does nothing, without a proof behind it.
``anti-slop/wording``: a case whose only subject is the text of the agent itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from guard.model import Case, Violation
from guard.output import UNKNOWN
from guard.project import Project
from guard.proofs.graders import Graders
from guard.proofs.known import is_known
from guard.proofs.own_text import find_own_text_alone
from guard.rules.case_weakened import case_of
from guard.running.null_agent import try_null
from guard.wording.units import count, names

NULL: Final = "anti-slop/null"
WORDING: Final = "anti-slop/wording"


class NullControl(NamedTuple):
    """What became of the cases with an agent that does nothing."""

    findings: tuple[Violation, ...] = ()
    """Of the cases that it passes, and no proof stands behind."""
    notes: tuple[str, ...] = ()
    unknown: bool = False
    """Whether it can't be told of a case what becomes of it."""


def null_control(project: Project, may_run: Callable[[Case], bool]) -> NullControl:
    """Try every case on an agent that does nothing.

    ``may_run``: whether a case's checkers, which are programs, may be started.
    """
    proven = proven_cases(project)
    with Graders(project, may_run) as graders:
        tried = [*try_null(graders, project.cases.values())]
    findings = [_passes_null(one.case) for one in tried if one.passes and one.case.id not in proven]
    passing = [one for one in tried if one.passes]
    notes = [f"{count(len(tried), 'case')} tried on an agent that does nothing: {_told(passing)}"]
    behind = len(passing) - len(findings)
    if behind:
        verb = "passes" if behind == 1 else "pass"
        notes.append(f"{count(behind, 'case')} rightly {verb} it: proven to fail before its fix")
    reasons = dict.fromkeys(one.reason for one in tried if one.reason)
    for reason in reasons:
        ids = [one.case.id for one in tried if one.reason == reason]
        notes.append(f"{UNKNOWN} {names(ids)}: {reason}")
    return NullControl(tuple(findings), tuple(notes), bool(reasons))


def _told(passing: Sequence[object]) -> str:
    return f"{len(passing)} pass" if len(passing) != 1 else "1 passes"


def _passes_null(case: Case) -> Violation:
    keys = ", ".join(case.expected) or "always"
    return Violation(
        rule=NULL,
        message=f"{case.id} passes with an agent that does nothing ({keys}), and no proof that "
        "is known here says that it can fail",
        agent=case.agent,
        paths=(case.path,),
        hint=(f"guard prove {case.id}",),
        warning=True,
    )


def proven_cases(project: Project) -> set[str]:
    """Return the cases of which this machine has seen that they fail before their fix."""
    found: set[str] = set()
    for record in project.records.values():
        case = None if record.retired else case_of(project, record)
        if case is not None and is_known(record, case.id, project.store):
            found.add(case.id)
    return found


# Wording -----------------------------------------------------------------------------------


def wording_cases(project: Project) -> Iterator[Violation]:
    """Yield a finding for each case that reads the agent's own text, and nothing it does."""
    for case in project.cases.values():
        why = find_own_text_alone(project, case)
        if why:
            yield _wording(case, why)


def _wording(case: Case, why: str) -> Violation:
    return Violation(
        rule=WORDING,
        message=f"{case.id} tests the wording of {case.agent}, and nothing that it does: {why}",
        agent=case.agent,
        paths=(case.path,),
        hint=(f"guard explain {WORDING}",),
        warning=True,
    )
