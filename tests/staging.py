"""Trials in tests: a real repository, a real stage, real programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from guard.evaluators import built_in_evaluators
from guard.git import find_repo
from guard.model import Agent, Case, Policy
from guard.plugin.api import Evaluator, Option, Target, Trial
from guard.results import Observation, TrialResult
from guard.snapshot import worktree_tree
from guard.trials.repoviews import PathTest
from guard.trials.runfolder import RunFolder
from guard.trials.stage import Stage, prepare_stage
from guard.trials.trial import run_trial
from tests.conftest import ScratchRepo

FILES: Mapping[str, str] = {"agent/SKILL.md": "be good\n", "agent/budget.md": "taxi 400\n"}


def run_argv(trial: Trial) -> Observation:
    """Run the program that options.argv names."""
    done = trial.run_program([trial.fill(part) for part in trial.options["argv"]])
    return Observation(
        reply=done.stdout, stdout=done.stdout, stderr=done.stderr, exit_status=done.exit_status
    )


def target_of(run: Callable[[Trial], Observation]) -> Target:
    return Target("test-target", run, "a program", options=(Option("argv", "texts", ()),))


def no_path(path: bytes) -> bool:
    return False


@contextmanager
def staged(
    repo: ScratchRepo,
    script: str = "",
    *,
    argv: Sequence[str] = (),
    run: Callable[[Trial], Observation] = run_argv,
    agent: Agent | None = None,
    evaluators: Sequence[Evaluator] = (),
    roots: Sequence[str] | None = None,
    hide_from_target: PathTest = no_path,
    hide_from_workspace: PathTest = no_path,
    show_to_checker: PathTest = no_path,
    python: Sequence[str] = (),
) -> Generator[Stage]:
    """A stage on the repository's working tree, whose target runs a shell script or ``argv``."""
    chosen = agent or Agent("expense", workspace="agent")
    argv = ["sh", "-c", script] if script else list(argv)
    found = find_repo(str(repo.root))
    try:
        with (
            RunFolder(found, roots) as folder,
            prepare_stage(
                found,
                worktree_tree(found),
                chosen._replace(options={"argv": argv}),
                target_of(run),
                (*built_in_evaluators(), *evaluators),
                run=folder,
                hide_from_target=hide_from_target,
                hide_from_workspace=hide_from_workspace,
                show_to_checker=show_to_checker,
                python=python,
            ) as stage,
        ):
            yield stage
    finally:
        found.close()


def case_of(timeout: float = 20.0, **fields: Any) -> Case:
    """A case that expects no change, where it isn't told otherwise."""
    fields.setdefault("expected", {"no_changes": True})
    return Case("c1", "expense", "evals/c1.md", policy=Policy(timeout=timeout), **fields)


def run_script(
    repo: ScratchRepo, script: str, case: Case | None = None, **more: Any
) -> TrialResult:
    """Run one trial of a shell script in the standard workspace."""
    if not os.path.exists(repo.root / "agent"):
        repo.write(FILES)
    with staged(repo, script, **more) as stage:
        return run_trial(stage, case or case_of(), 1)


def run_together(stage: Stage, case: Case, count: int) -> list[TrialResult]:
    """Run trials of a case at the same time; return them by number."""
    with ThreadPoolExecutor(count) as pool:
        pending = [pool.submit(run_trial, stage, case, n) for n in range(1, count + 1)]
        return [future.result() for future in pending]


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie doesn't."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except FileNotFoundError:
        return False
