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
    Judge,
    Observation,
    Option,
    Prerequisite,
    Project,
    Question,
    Report,
    Score,
    Served,
    Step,
    StorageDouble,
    Sync,
    Target,
    Trial,
    TrialResult,
    Vote,
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


@hookimpl
def guard_served_agents(project: Project) -> list[Served] | None:
    """Read the list of the letters that are sent: one name a line."""
    if "letters.txt" not in project.served:
        return None
    text = (project.read("letters.txt") or b"").decode()
    return [Served(name, "letters.txt") for name in text.split()]


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


def count_words(question: Question) -> Vote:
    """Where yours asks a model, this one counts: the rubric is the number of words allowed."""
    words = len(question.answer.split())
    return Vote(float(words <= int(question.rubric)), f"{words} words")


@hookimpl
def guard_judges() -> list[Judge]:
    """A judge named ``brevity:any``."""
    return [Judge("brevity", count_words, prompt="at most this many words")]


class Outbox:
    """Keeps letters where the real one would send them."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def send(self, letter: str) -> None:
        """Keep a letter."""
        self.kept.append(letter)


@hookimpl
def guard_storage_doubles() -> list[StorageDouble]:
    """For an agent that sends its letters itself; these two don't."""
    return [StorageDouble("outbox", "letters.post:Outbox", Outbox, "no letter is sent")]


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


def plan_copy(agents: Sequence[Agent], cases: Sequence[Case]) -> list[Step]:
    """Compare the list of cases with its copy in the file that LETTERS_COPY names."""
    path = os.environ["LETTERS_COPY"]
    text = "".join(f"{case.id}\n" for case in cases)

    def write() -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    if not os.path.exists(path):
        return [Step("+", f"the list {path}", write)]
    with open(path, encoding="utf-8") as file:
        same = file.read() == text
    return [] if same else [Step("~", f"the list {path}", write)]


def missing_copy() -> str | None:
    """Say what is missing where no file is named."""
    return None if "LETTERS_COPY" in os.environ else "LETTERS_COPY names no file"


@hookimpl
def guard_syncs() -> list[Sync]:
    """The copy behind ``guard sync letters``."""
    return [Sync("letters", plan_copy, missing_copy)]
