"""A plugin that implements every hook once, for letters that are filled in from prompts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from guard.plugin import (
    Agent,
    Case,
    Change,
    Commit,
    Evaluator,
    Expectations,
    Observation,
    Option,
    Prerequisite,
    Project,
    Report,
    Score,
    Target,
    Trial,
    TrialResult,
    hookimpl,
)


@hookimpl
def guard_agents(project: Project) -> Iterable[Agent]:
    """One agent for each prompt."""
    for path in project.paths():
        if path.startswith("prompts/") and path.endswith(".txt"):
            name = path.removeprefix("prompts/").removesuffix(".txt")
            yield Agent(
                name,
                paths=(path,),
                target="letter",
                options={"prompt": path.removeprefix("prompts/")},
                workspace="prompts",
                cases=(f"evals/cases/{name}.tsv",),
                prerequisites=("encoding:utf-8",),
            )


def write_letter(trial: Trial) -> Observation:
    """Fill the prompt in: here that is all the agent does."""
    with open(os.path.join(trial.workspace, trial.options["prompt"]), encoding="utf-8") as file:
        return Observation(reply=file.read().format(**trial.input))


@hookimpl
def guard_targets() -> list[Target]:
    """The target that the agents name."""
    option = Option("prompt", "text", required=True, help="the prompt's file")
    real = "the prompt, filled in"
    return [Target("letter", write_letter, real, options=(option,), deterministic=True)]


def is_polite(observation: Observation, expected: Expectations) -> Iterable[Score]:
    """Score whether the letter says please where the case asks for it."""
    said = "please" in observation.reply
    yield Score("polite", float(said is expected["polite"]), f"please: {said}")


@hookimpl
def guard_evaluators() -> list[Evaluator]:
    """What the cases state."""
    return [Evaluator("polite", is_polite, reads=("polite",), writes=("polite",))]


def missing_encoding(name: str) -> str | None:
    """Say what is missing for the prerequisite ``encoding:NAME``."""
    found = sys.getfilesystemencoding()
    return None if found == name else f"files are named in {found} here, not {name}"


@hookimpl
def guard_prerequisites() -> list[Prerequisite]:
    """A condition on the machine."""
    return [Prerequisite("encoding", missing_encoding)]


@hookimpl
def guard_load_cases(path: str, text: str) -> Sequence[Mapping[str, Any]] | None:
    """Read a table of cases: one row a case."""
    if not path.endswith(".tsv"):
        return None
    head, *rows = [line.split("\t") for line in text.splitlines()]
    named = [dict(zip(head, row, strict=True)) for row in rows]
    return [
        {
            "id": row["id"],
            "input": {"name": row["name"]},
            "expected": {"polite": row["polite"] == "yes"},
        }
        for row in named
    ]


@hookimpl
def guard_is_fix(commit: Commit) -> str | None:
    """Here a bug's emoji marks a fix."""
    return "it begins with :bug:" if commit.message.startswith(":bug:") else None


@hookimpl
def guard_affected(change: Change, agent: Agent, case: Case) -> str | None:
    """A change of the customers is worth all letters."""
    return "customers changed" if b"customers.txt" in change.paths else None


@hookimpl
def guard_trial_finished(result: TrialResult) -> None:
    """Say each trial as it ends."""
    print(f"letter {result.case}#{result.number}: {result.verdict}", file=sys.stderr)


@hookimpl
def guard_run_finished(report: Report) -> None:
    """Say how many letters were looked at."""
    print(f"{len(report.cases)} letters looked at", file=sys.stderr)


def write_table(report: Report) -> str:
    """Write the report as a table."""
    rows = [f"{case.case}\t{case.verdict}\n" for case in report.cases]
    return "case\tverdict\n" + "".join(rows)


@hookimpl
def guard_reports() -> Mapping[str, Callable[[Report], str]]:
    """The writer behind ``--report table=FILE``."""
    return {"table": write_table}
