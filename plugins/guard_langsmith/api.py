"""What is used of LangSmith's client, and of what it returns, as types: its own name half of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID


class Dataset(Protocol):
    """A dataset, as LangSmith has it."""

    @property
    def id(self) -> UUID: ...
    @property
    def name(self) -> str: ...
    @property
    def metadata(self) -> Mapping[str, Any] | None: ...
    @property
    def url(self) -> str | None: ...


class Row(Protocol):
    """An example of a dataset."""

    @property
    def id(self) -> UUID: ...
    @property
    def inputs(self) -> Mapping[str, Any] | None: ...
    @property
    def outputs(self) -> Mapping[str, Any] | None: ...
    @property
    def metadata(self) -> Mapping[str, Any] | None: ...


class Project(Protocol):
    """A project that traces are in; an experiment is one that refers to a dataset."""

    @property
    def id(self) -> UUID: ...


class Run(Protocol):
    """A trace, or a part of one."""

    @property
    def end_time(self) -> datetime | None: ...


class Client(Protocol):
    """`langsmith.Client`, as far as it is used."""

    def read_dataset(self, *, dataset_name: str) -> Dataset: ...

    def create_dataset(
        self, dataset_name: str, *, description: str, metadata: Mapping[str, Any]
    ) -> Dataset: ...

    def list_examples(self, dataset_id: UUID) -> Iterator[Row]: ...

    def create_examples(
        self, *, dataset_id: UUID, examples: Sequence[Mapping[str, Any]]
    ) -> object: ...

    def update_example(
        self,
        example_id: UUID,
        *,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        metadata: Mapping[str, Any],
        dataset_id: UUID,
    ) -> object: ...

    def delete_example(self, example_id: UUID) -> None: ...

    def create_project(
        self,
        project_name: str,
        *,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        upsert: bool = False,
        reference_dataset_id: UUID | None = None,
    ) -> Project: ...

    def update_project(self, project_id: UUID, *, end_time: datetime) -> object: ...

    def multipart_ingest(self, create: Sequence[Mapping[str, Any]]) -> None: ...

    def read_run(self, run_id: UUID, *, project_id: UUID, start_time: datetime) -> Run: ...

    def create_feedback(
        self,
        run_id: UUID,
        key: str,
        *,
        score: float,
        comment: str | None,
        source_info: Mapping[str, Any] | None,
        trace_id: UUID,
        session_id: UUID,
        start_time: datetime,
        feedback_id: UUID,
        stop_after_attempt: int,
    ) -> object: ...

    def close(self, timeout: float | None = None) -> None: ...
