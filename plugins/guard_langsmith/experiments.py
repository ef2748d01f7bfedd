"""A run as experiments: one for each agent, a trace for each trial, a feedback for each score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID, uuid4

from guard.plugin import Report, Score, TargetError
from guard_langsmith.client import open_client, telling
from guard_langsmith.datasets import find_dataset, read_examples
from guard_langsmith.examples import Example, is_whole, plain
from guard_langsmith.health import await_arrival, make_run, send
from guard_langsmith.settings import dataset_name, is_live, where
from guard_langsmith.trials import Trial, trials_of

if TYPE_CHECKING:
    from guard_langsmith.api import Client, Dataset

#: Requests at once, for feedback: there is one for each.
AT_ONCE: Final = 8
SYNC: Final = "guard sync langsmith"


class Plan(NamedTuple):
    """One agent's experiment, before it is made."""

    agent: str
    dataset: Dataset
    examples: Mapping[str, tuple[UUID, Example]]
    trials: Sequence[Trial]


def upload(report: Report) -> str:
    """Upload a report; return what was made, a line each. Raises `TargetError`."""
    agents = sorted({result.agent for result in report.cases})
    lines: list[str] = []
    with open_client() as (client, errors):
        # All are looked at before one is made: what is refused leaves nothing behind.
        plans = [_plan(client, report, agent) for agent in agents]
        for plan in plans:
            if plan.trials:
                lines += _upload_one(client, errors, report, plan)
    lines += [
        f"not uploaded: {result.case}, which was answered by kept evidence of {result.reused}"
        for result in report.cases
        if result.reused and not result.trials
    ]
    if not lines:
        lines = ["no case was run: there is no experiment"]
    return "\n".join([*lines, f"at {where()}", ""])


def _plan(client: Client, report: Report, agent: str) -> Plan:
    name = dataset_name(agent)
    dataset = find_dataset(client, name)
    if dataset is None:
        raise TargetError(f"LangSmith has no dataset {name} yet to run against", SYNC)
    examples = {one.case: (row, one) for row, one in read_examples(client, dataset)}
    trials = [t for result in report.cases if result.agent == agent for t in trials_of(result)]
    for case in dict.fromkeys(trial.case for trial in trials):
        if case not in examples:
            raise TargetError(f"dataset {name} has no example of case {case}", SYNC)
        if not is_whole(examples[case][1]):
            raise TargetError(f"dataset {name}: example {case} was edited there", SYNC)
    return Plan(agent, dataset, examples, trials)


def _upload_one(
    client: Client, errors: list[Exception], report: Report, plan: Plan
) -> Sequence[str]:
    name = f"{plan.agent}-{report.sha[:10] or 'unborn'}-{report.run_id}"
    with telling(f"making experiment {name}"):
        project = client.create_project(
            name,
            description=f"guard {report.command}",
            metadata=_metadata(report, plan),
            reference_dataset_id=plan.dataset.id,
        )
    try:
        runs = [_run(report, project.id, plan, trial) for trial in plan.trials]
        send(client, errors, runs)
        # What a feedback is about must be there.
        await_arrival(client, project.id, runs)
        scores = _send_feedback(client, project.id, runs, plan.trials)
        with telling(f"closing experiment {name}"):
            client.update_project(project.id, end_time=datetime.now(UTC))
    except TargetError as error:
        raise TargetError(f"{error.message}; experiment {name} is not whole", error.hint) from None
    address = f"{plan.dataset.url}/compare?selectedSessions={project.id}"
    return [
        f"experiment {name}: {address}",
        f"  {len(runs)} trials, {scores} scores, dataset {plan.dataset.name}",
    ]


def _metadata(report: Report, plan: Plan) -> dict[str, Any]:
    verdicts = [result.verdict for result in report.cases if result.agent == plan.agent]
    found: dict[str, Any] = plain(
        {
            "agent": plan.agent,
            "sha": report.sha,
            "ref": report.ref,
            "tree": report.tree,
            "at": report.at,
            "command": report.command,
            "run_id": report.run_id,
            "exit_code": report.exit_code,
            "verdicts": {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
            "live": report.live and is_live(),
        }
    )
    return found


def _run(report: Report, project: UUID, plan: Plan, trial: Trial) -> dict[str, Any]:
    row, example = plan.examples[trial.case]
    start = _time(trial.result.started) or _time(report.started) or datetime.now(UTC)
    end = start + timedelta(seconds=max(0.0, trial.result.observation.seconds))
    metadata = {**trial.metadata, "sha": report.sha, "run_id": report.run_id}
    return make_run(
        project,
        f"{trial.case}#{trial.result.number}",
        example.inputs,
        start,
        end,
        outputs=plain(trial.outputs),
        error=plain(trial.error) or None,
        reference_example_id=row,
        extra={"metadata": plain(metadata)},
        tags=[trial.result.verdict],
    )


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _send_feedback(
    client: Client, project: UUID, runs: Sequence[Mapping[str, Any]], trials: Sequence[Trial]
) -> int:
    """Send a feedback for each score; return how many there are."""
    scored = [
        (run, score)
        for run, trial in zip(runs, trials, strict=True)
        for score in trial.result.scores
    ]

    def send_one(pair: tuple[Mapping[str, Any], Score]) -> None:
        run, score = pair
        client.create_feedback(
            run["id"],
            score.key,
            score=floor_of(score.value),
            comment=plain(score.reason) or None,
            source_info=plain(dict(score.evidence)) or None,
            trace_id=run["id"],
            session_id=project,
            start_time=run["start_time"],
            feedback_id=uuid4(),
            stop_after_attempt=1,
        )

    with telling("sending scores"), ThreadPoolExecutor(AT_ONCE) as pool:
        futures = [pool.submit(send_one, pair) for pair in scored]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return len(scored)


def floor_of(value: float) -> float:
    """Return a score to the four decimals that LangSmith keeps, never better than it was."""
    return math.floor(round(value * 10_000, 6)) / 10_000
