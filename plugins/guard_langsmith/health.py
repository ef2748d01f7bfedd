"""Whether traces arrive: one is sent and read back. What isn't read back counts as not sent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from guard.plugin import TargetError
from guard_langsmith.client import open_client, raise_first, telling
from guard_langsmith.settings import probe_name, where

if TYPE_CHECKING:
    from guard_langsmith.api import Client

#: Seconds until traces that were sent must have arrived.
PATIENCE: Final = 30.0
#: Seconds between two looks: at first, and at most.
PAUSES: Final = (0.1, 2.0)
#: Runs in one request.
BATCH: Final = 50


def check_tracing() -> None:
    """Send one trace and wait until it can be read. Raises `Skip` or `TargetError`."""
    with open_client() as (client, errors):
        with telling("making the project of the probe"):
            project = client.create_project(probe_name(), upsert=True)
        now = datetime.now(UTC)
        run = make_run(project.id, "guard-probe", {"asked": "does a trace arrive?"}, now, now)
        send(client, errors, [run])
        await_arrival(client, project.id, [run])


def make_run(
    project: UUID, name: str, inputs: Mapping[str, Any], start: datetime, end: datetime, **more: Any
) -> dict[str, Any]:
    """Return a whole trace of one run, as LangSmith takes it."""
    from langsmith import uuid7

    number = uuid7()
    return {
        "id": number,
        "trace_id": number,
        "dotted_order": f"{start.astimezone(UTC):%Y%m%dT%H%M%S%fZ}{number}",
        "session_id": project,
        "name": name,
        "run_type": "chain",
        "inputs": dict(inputs),
        "start_time": start,
        "end_time": end,
        **more,
    }


def send(client: Client, errors: list[Exception], runs: Sequence[dict[str, Any]]) -> None:
    """Send runs, a batch a request. Raises `TargetError` where one is not taken."""
    for first in range(0, len(runs), BATCH):
        with telling("sending traces"):
            client.multipart_ingest(create=runs[first : first + BATCH])
            raise_first(errors)


def await_arrival(client: Client, project: UUID, runs: Sequence[Mapping[str, Any]]) -> None:
    """Wait until each run can be read back. Raises `TargetError` where one can't in time."""
    deadline = time.monotonic() + PATIENCE
    pause, longest = PAUSES
    waiting = list(runs)
    while True:
        waiting = [run for run in waiting if not _has_arrived(client, project, run)]
        if not waiting:
            return
        if time.monotonic() + pause > deadline:
            raise TargetError(
                f"LangSmith ({where()}): {len(waiting)} of {len(runs)} traces that it took can't "
                f"be read {PATIENCE:g} s later: they are lost, or late"
            )
        time.sleep(pause)
        pause = min(2 * pause, longest)


def _has_arrived(client: Client, project: UUID, run: Mapping[str, Any]) -> bool:
    from langsmith.utils import LangSmithNotFoundError

    with telling("reading a trace back"):
        try:
            found = client.read_run(run["id"], project_id=project, start_time=run["start_time"])
        except LangSmithNotFoundError:
            return False
    # It may be there before its end is.
    return found.end_time is not None
