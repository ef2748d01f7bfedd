"""``counter-example``: each counter-example of a case must fail exactly the keys it names."""

from __future__ import annotations

from collections.abc import Iterator

from guard.engine import Engine
from guard.errors import TrialOutcome, UsageError
from guard.model import Case, Violation
from guard.project import Project
from guard.running.counter_examples import judge_counter_example, lay_over, observe
from guard.trials.stage import Stage
from guard.workspace import lay_workspace

RULE = "counter-example"
#: Checkers are programs: they are started in hooks and runs, never by an offline check.
LEFT_OUT = ("command",)


def accepted_counter_examples(project: Project) -> Iterator[Violation]:
    """Yield a violation for each counter-example that the checks don't reject as stated."""
    with Engine(project) as engine:
        for name in sorted(project.cases):
            case = project.cases[name]
            if case.counter_examples:
                stage = engine.stage(project.agents[case.agent])
                yield from _judged(project, stage, case)


def _judged(project: Project, stage: Stage, case: Case) -> Iterator[Violation]:
    for number, example in enumerate(case.counter_examples, 1):
        with stage.slot() as slot:
            given = stage.given(case)
            before = lay_workspace(slot.folder, f"{case.id}-before", stage.template, given)
            after = lay_workspace(slot.folder, f"{case.id}-after", stage.template, given)
            try:
                lay_over(example, after.path, lambda path: _fixture(project, case, path))
                judgement = judge_counter_example(
                    example,
                    observe(example, before.path, after.path),
                    {**stage.agent.always, **case.expected},
                    stage.evaluators,
                    inputs=case.input,
                    leave_out=LEFT_OUT,
                )
                problem = judgement.problem
            except TrialOutcome as error:
                problem = error.message
            finally:
                before.remove()
                after.remove()
        if problem:
            yield Violation(
                RULE,
                f"counter-example {number} of {case.id}: {problem}",
                agent=case.agent,
                paths=(case.path,),
                hint=(f"guard explain {RULE}",),
            )


def _fixture(project: Project, case: Case, path: str) -> bytes:
    content = project.tree.read(path)
    if content is None:
        raise UsageError(f"{case.path}: the fixture {path} is not in the tree", f"git add {path}")
    return content
