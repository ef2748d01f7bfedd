"""impossible-baseline: each key that a baseline excuses can fail, and may be excused.

What evaluators declare is enough to tell; where one of them is a plain function, which declares
nothing, it shows once the case was run that nothing scores a key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from guard.cases.loading import place_of_case
from guard.evaluators.fields import unwritten_keys
from guard.model import Case, Violation
from guard.plugin.api import Evaluator
from guard.project import Project
from guard.running.shown import Shown
from guard.trials.baseline import NEVER_EXCUSED, keys_of

RULE: Final = "impossible-baseline"
_HINT: Final = (f"guard explain {RULE}",)


def impossible_baselines(
    project: Project, cases: Iterable[Case], shown: Mapping[str, Shown] = {}
) -> Iterator[Violation]:
    """Yield a violation for each key of a baseline that can't be excused, or that nothing scores.

    ``shown``: id → what the case's trials show, where it was run.
    """
    known: dict[str, tuple[Evaluator, ...]] = {}
    for case in cases:
        if not case.expected_baseline:
            continue
        agent = project.agents[case.agent]
        if agent.name not in known:
            known[agent.name] = project.evaluators_of(agent)
        expected = {**agent.always, **case.expected}
        unscored = shown[case.id].unscored if case.id in shown else ()
        for key in sorted(frozenset[str]().union(*map(keys_of, case.expected_baseline))):
            said = _why_not(key, expected, known[agent.name])
            if not said and key in unscored:
                said = f"`{key}`, which nothing scored when it was run"
            if said:
                yield _violation(project, case, said)


def _why_not(key: str, expected: Mapping[str, Any], evaluators: Sequence[Evaluator]) -> str:
    """Return the key and why no baseline excuses it; empty where one may."""
    if key in NEVER_EXCUSED:
        return f"`{key}`, which is never excused: it says nothing about what was asked"
    for evaluator in evaluators:
        if key in evaluator.never_excuse:
            return f"`{key}`, which is never excused, by evaluator {evaluator.name}"
    if all(evaluator.declared for evaluator in evaluators):
        written = written_keys(expected, evaluators)
        if key not in written:
            from guard.schema import nearest

            return f"`{key}`, which nothing scores in this case{nearest(key, written)}"
    return ""


def written_keys(expected: Mapping[str, Any], evaluators: Iterable[Evaluator]) -> set[str]:
    """Return the score keys that evaluators declare to write where this is expected."""
    asked = [e for e in evaluators if not expected.keys().isdisjoint(e.reads)]
    return {key for evaluator in asked for key in evaluator.writes} - unwritten_keys(expected)


def _violation(project: Project, case: Case, said: str) -> Violation:
    where = place_of_case(project.tree, case, "expected_baseline")
    return Violation(
        rule=RULE,
        message=f"{where}: the baseline of {case.id} excuses {said}",
        agent=case.agent,
        paths=(case.path,),
        hint=_HINT,
    )
