"""A dataset for each agent, rebuilt from its cases: the file in the repository is the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from guard.plugin import Agent, Case, Step, TargetError
from guard_langsmith.client import make_client, telling
from guard_langsmith.examples import SPLIT, Example, example_of, says_the_same
from guard_langsmith.settings import PREFIX, dataset_name

if TYPE_CHECKING:
    from guard_langsmith.api import Client, Dataset

#: What the metadata of a dataset says of who made it.
MADE_BY: Final = {"made_by": "guard"}
DESCRIPTION: Final = "Rebuilt by `guard sync langsmith`: what is edited here is overwritten."


def plan_datasets(agents: Sequence[Agent], cases: Sequence[Case]) -> list[Step]:
    """Compare every agent's dataset with its cases. Raises `Skip` without a key, `TargetError`."""
    with telling("it can't be used"):
        # The steps hold it; it has no thread and closes its connections as it is let go of.
        client = make_client()
    steps: list[Step] = []
    for agent in agents:
        own = [example_of(agent, case) for case in cases if case.agent == agent.name]
        steps += _plan_one(client, dataset_name(agent.name), own)
    return steps


def find_dataset(client: Client, name: str) -> Dataset | None:
    """Return the dataset of this name. Raises `TargetError` where guard didn't make it."""
    from langsmith.utils import LangSmithNotFoundError

    with telling(f"reading dataset {name}"):
        try:
            found = client.read_dataset(dataset_name=name)
        except LangSmithNotFoundError:
            return None
    if not MADE_BY.items() <= (found.metadata or {}).items():
        raise TargetError(
            f"LangSmith has a dataset {name} that guard did not make, and would overwrite",
            f"{PREFIX}=NAME- guard sync langsmith    # or rename it there",
        )
    return found


def read_examples(client: Client, dataset: Dataset) -> list[tuple[UUID, Example]]:
    """Return (id, example) of all that a dataset holds, in a steady order."""
    with telling(f"reading the examples of dataset {dataset.name}"):
        found = [
            (item.id, Example(item.inputs or {}, item.outputs or {}, item.metadata or {}))
            for item in client.list_examples(dataset_id=dataset.id)
        ]
    return sorted(found, key=lambda one: (one[1].case, str(one[0])))


class _Home:
    """The dataset that examples are put into: one that is there, or that a step makes."""

    def __init__(self, client: Client, name: str, dataset: Dataset | None) -> None:
        self.client = client
        self.name = name
        self.dataset = dataset

    def make(self) -> None:
        with telling(f"making dataset {self.name}"):
            self.dataset = self.client.create_dataset(
                self.name, description=DESCRIPTION, metadata=MADE_BY
            )

    def add(self, wanted: Example) -> None:
        assert self.dataset is not None, "the step before makes it"
        with telling(f"adding example {wanted.case}"):
            self.client.create_examples(dataset_id=self.dataset.id, examples=[wanted._asdict()])

    def update(self, row: UUID, wanted: Example, remote: Example) -> None:
        assert self.dataset is not None
        kept = {SPLIT: remote.metadata[SPLIT]} if SPLIT in remote.metadata else {}
        with telling(f"overwriting example {wanted.case}"):
            self.client.update_example(
                row,
                inputs=wanted.inputs,
                outputs=wanted.outputs,
                metadata={**wanted.metadata, **kept},
                dataset_id=self.dataset.id,
            )

    def delete(self, row: UUID) -> None:
        with telling(f"deleting example {row}"):
            self.client.delete_example(row)


def _plan_one(client: Client, name: str, wanted: Sequence[Example]) -> list[Step]:
    dataset = find_dataset(client, name)
    if dataset is None and not wanted:
        return []
    home = _Home(client, name, dataset)
    remote = read_examples(client, dataset) if dataset else []
    steps = [] if dataset else [Step("+", f"dataset {name}", home.make)]
    for example in wanted:
        same = [(row, one) for row, one in remote if one.case == example.case]
        if not same:
            steps.append(_step("+", example.case, name, partial(home.add, example)))
            continue
        # Of several the one that needs nothing is kept; the others go below.
        row, one = next((pair for pair in same if says_the_same(pair[1], example)), same[0])
        remote = [pair for pair in remote if pair[0] != row]
        if not says_the_same(one, example):
            steps.append(_step("~", example.case, name, partial(home.update, row, example, one)))
    for row, one in remote:
        told = one.case or f"{row}, which names no case,"
        steps.append(_step("-", told, name, partial(home.delete, row)))
    return steps


def _step(sign: str, example: str, dataset: str, apply: Callable[[], None]) -> Step:
    return Step(sign, f"example {example} of dataset {dataset}", apply)
