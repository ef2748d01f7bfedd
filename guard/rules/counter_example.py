"""``counter-example``: each counter-example of a case must fail exactly the keys it names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from guard.engine import Engine
from guard.errors import TrialOutcome, UnreadableError, UsageError
from guard.model import Case, Violation
from guard.process import CheckerPlace, checkers_run_in
from guard.project import Project
from guard.references import named_in_repo
from guard.running.counter_examples import judge_counter_example, lay_over, observe
from guard.trials.environment import trial_environment
from guard.trials.stage import Slot, Stage
from guard.workspace import Workspace, lay_workspace

RULE = "counter-example"
#: Checkers are programs: `guard check` starts them where it is told to.
CHECKERS = ("command",)


def accepted_counter_examples(
    project: Project, *, run_checkers: bool = False
) -> Iterator[Violation]:
    """Yield a violation for each counter-example that the checks don't reject as stated."""
    with Engine(project) as engine:
        for name in sorted(project.cases):
            case = project.cases[name]
            if case.counter_examples:
                stage = engine.stage(project.agents[case.agent])
                yield from _judged(project, stage, case, run_checkers=run_checkers)


def _judged(
    project: Project, stage: Stage, case: Case, *, run_checkers: bool
) -> Iterator[Violation]:
    expected = {**stage.agent.always, **case.expected}
    run_checkers = run_checkers and not stage.missing
    judged = {key for e in stage.evaluators if e.judge for key in (*e.reads, *e.writes)}
    unasked = judged if run_checkers else judged.union(CHECKERS)
    for number, example in enumerate(case.counter_examples, 1):
        with stage.slot() as slot:
            given = stage.given(case)
            before = lay_workspace(slot.folder, f"{case.id}-before", stage.template, given)
            after = lay_workspace(slot.folder, f"{case.id}-after", stage.template, given)
            try:
                lay_over(example, after.path, lambda path: _fixture(project, case, path))
                repo = _lay_repo(stage, after, expected) if run_checkers else ""
                with _checkers_of(stage, slot, after) if run_checkers else nullcontext():
                    judgement = judge_counter_example(
                        example,
                        observe(example, before.path, after.path, repo),
                        expected,
                        [e for e in stage.evaluators if not e.judge],
                        inputs=case.input,
                        leave_out=unasked,
                        seconds=case.policy.timeout,
                    )
                problem = judgement.problem
            except TrialOutcome as error:
                problem = error.message
            except UnreadableError as error:
                said = f"counter-example {number} of {case.id}: {error.message}"
                raise UnreadableError(said, error.hint) from error
            finally:
                before.remove()
                after.remove()
        if problem:
            yield _violation(case, number, problem)
        if left := judged.intersection(example["fails"]):
            said = f"no judge is asked here, so nothing shows that {_names(left)} rejects it"
            yield _violation(case, number, said)._replace(warning=True)


def _violation(case: Case, number: int, said: str) -> Violation:
    return Violation(
        RULE,
        f"counter-example {number} of {case.id}: {said}",
        agent=case.agent,
        paths=(case.path,),
        hint=(f"guard explain {RULE}",),
    )


def _names(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in sorted(keys))


def _checkers_of(stage: Stage, slot: Slot, workspace: Workspace) -> AbstractContextManager[None]:
    env = trial_environment(workspace.folder, stage.shared_env)
    return checkers_run_in(CheckerPlace(slot.sandbox.starter, env))


def _lay_repo(stage: Stage, workspace: Workspace, expected: Mapping[str, Any]) -> str:
    """Lay ``{repo}`` as checkers see it."""
    folder = os.path.join(workspace.folder, "repo")
    os.mkdir(folder)
    stage.checker_repo.template(named_in_repo(expected)).lay(os.fsencode(folder))
    return folder


def _fixture(project: Project, case: Case, path: str) -> bytes:
    content = project.tree.read(path)
    if content is None:
        raise UsageError(f"{case.path}: the fixture {path} is not in the tree", f"git add {path}")
    return content
