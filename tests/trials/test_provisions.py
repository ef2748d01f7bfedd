"""What prerequisites set up for a trial: entered, seen, taken away, whatever happens in between."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from guard import model
from guard.errors import Blocked, Skip, TargetError
from guard.model import Agent, Case
from guard.plugin.api import Evaluator, Expectations, Prerequisite, Trial
from guard.plugin.provisions import Ground, Provided
from guard.results import Observation, Score, TrialResult
from guard.storage.records import trial_from_json, trial_to_json
from guard.trials import provisions
from guard.trials.kept import Left
from guard.trials.trial import regrade, run_trial
from tests.conftest import ScratchRepo
from tests.staging import FILES, case_of, run_argv, run_together, staged

AGENT = Agent("expense", workspace="agent", prerequisites=("box:small",))
PASSWORD = "hunter2-hunter2"


class Box:
    """Hands out a box for each trial, and writes down what happens to it."""

    def __init__(self, *, entering: Exception | None = None, leaving: Exception | None = None):
        self.entering = entering
        self.leaving = leaving
        self.observe: Callable[[Mapping[str, Any]], Any] = lambda expected: {"boxes": 1}
        self.secrets: Any = (PASSWORD,)
        self.told: list[str] = []
        self.grounds: list[Ground] = []
        self.threads: list[str] = []

    @contextmanager
    def provide(self, argument: str, ground: Ground) -> Generator[Provided]:
        self.grounds.append(ground)
        self.told.append(f"open {argument} {ground.number}")
        self.threads.append(threading.current_thread().name)
        if self.entering is not None:
            raise self.entering
        env = {"BOX": f"box {ground.number}", "BOX_PASSWORD": PASSWORD}
        yield Provided(env, self.secrets, self.observe)
        self.told.append(f"close {argument} {ground.number}")
        self.threads.append(threading.current_thread().name)
        if self.leaving is not None:
            raise self.leaving


def run_with(
    repo: ScratchRepo,
    box: Box,
    script: str = "true",
    case: Case | None = None,
    **more: Any,
) -> TrialResult:
    repo.write(FILES)
    with staged(repo, script, agent=AGENT, **more) as stage:
        stage.prerequisites = {"box": Prerequisite("box", not_missing, box.provide)}
        return run_trial(stage, case or case_of(), 1)


def boxes(observation: Observation, expected: Expectations) -> Iterator[Score]:
    if "boxes" in expected and "box" in observation.services:
        found = observation.services["box"]["boxes"]
        yield Score("boxes", float(found == expected["boxes"]), f"{found} boxes")


COUNTED = Evaluator("boxes", boxes, ("boxes",), ("boxes",), source="plugin")


def not_missing(argument: str) -> None:
    return None


def left_by(seen: Observation, workspace: str) -> Left:
    return Left(seen)


# What the target, the checkers and the evaluators get -------------------------------------


def test_the_target_and_the_checkers_get_what_is_set_up(repo: ScratchRepo) -> None:
    checker = {"argv": ["sh", "-c", 'test "$BOX" = "box 1"']}
    case = case_of(expected={"reply_contains": ["box 1"], "command": checker})
    box = Box()
    result = run_with(repo, box, "echo $BOX", case)
    assert (result.verdict, result.reason) == (model.PASS, "")
    assert box.told == ["open small 1", "close small 1"]
    # What a provider opens on a thread it may close there.
    assert len(set(box.threads)) == 1


def test_the_observation_holds_what_was_there_once_the_target_had_ended(repo: ScratchRepo) -> None:
    box = Box()
    case = case_of(expected={"boxes": 1})
    assert run_with(repo, box, case=case, evaluators=[COUNTED]).verdict == model.PASS
    box.observe = lambda expected: {"boxes": expected["boxes"] + 1}
    result = run_with(repo, box, case=case, evaluators=[COUNTED])
    assert (result.verdict, result.reason) == (model.FAIL, "boxes: 2 boxes")
    assert result.observation.services == {"box": {"boxes": 2}}


def test_it_is_kept_with_the_observation_and_graded_again(repo: ScratchRepo) -> None:
    case, box = case_of(expected={"boxes": 1}), Box()
    result = run_with(repo, box, case=case, evaluators=[COUNTED])
    kept = trial_from_json(json.loads(json.dumps(trial_to_json(result)))).observation
    assert kept.services == {"box": {"boxes": 1}}
    with staged(repo, "true", agent=AGENT, evaluators=[COUNTED]) as stage:
        stage.prerequisites = {"box": Prerequisite("box", not_missing, box.provide)}
        others = (kept._replace(services={"box": {"boxes": 3}}), Observation())
        graded = [regrade(stage, case, partial(left_by, seen)).verdict for seen in (kept, *others)]
    assert graded == [model.PASS, model.FAIL, model.UNGRADED]
    assert len(box.grounds) == 1  # nothing is set up for it


def test_the_provider_is_told_of_the_trial_and_its_tree(repo: ScratchRepo) -> None:
    box = Box()
    case = case_of(provisions={"box": {"size": 3}, "other": 1})
    repo.write({"db/schema.sql": "select 1\n"})
    seen: list[Any] = []

    def look(expected: Mapping[str, Any]) -> None:
        ground = box.grounds[0]
        seen.append((Path(ground.lay()) / "db/schema.sql").read_bytes())
        seen.extend((ground.read("db/schema.sql"), ground.read("no/such"), ground.files()))

    box.observe = look
    result = run_with(repo, box, case=case)
    ground = box.grounds[0]
    assert result.verdict == model.PASS
    assert result.observation.services == {}
    assert ground[:4] == ("expense", "c1", 1, {"size": 3})
    laid, read, absent, files = seen
    assert (laid, read, absent) == (b"select 1\n", b"select 1\n", None)
    assert files["db/schema.sql"] == repo.git("hash-object", "db/schema.sql").strip()
    assert "BOX" not in ground.env
    assert "HOME" in ground.env


def test_many_trials_have_one_each(repo: ScratchRepo) -> None:
    repo.write(FILES)
    box = Box()
    case = case_of(expected={"reply_matches": r"box \d"})
    with staged(repo, "echo $BOX", agent=AGENT) as stage:
        stage.prerequisites = {"box": Prerequisite("box", not_missing, box.provide)}
        results = run_together(stage, case, 6)
    assert [r.observation.reply for r in results] == [f"box {n}\n" for n in range(1, 7)]
    assert sorted(box.told) == sorted(
        f"{w} small {n}" for w in ("open", "close") for n in range(1, 7)
    )


def test_nothing_is_set_up_for_a_case_whose_precondition_no_longer_holds(repo: ScratchRepo) -> None:
    box = Box()
    case = case_of(preconditions=({"file_exists": "gone.md"},))
    assert run_with(repo, box, case=case).verdict == model.STALE
    assert box.told == []


# Secrets ----------------------------------------------------------------------------------


def test_a_secret_stands_nowhere(repo: ScratchRepo) -> None:
    box = Box()
    box.observe = lambda expected: {"url": f"postgresql://u:{PASSWORD}@h/d"}
    script = "echo $BOX_PASSWORD; echo $BOX_PASSWORD >&2; echo $BOX_PASSWORD >budget.md"
    result = run_with(repo, box, script, case_of(expected={"reply_contains": ["none"]}))
    assert result.verdict == model.FAIL
    assert PASSWORD not in repr(result)
    assert result.observation.stdout == "[redacted box]\n"
    assert result.observation.services == {"box": {"url": "postgresql://u:[redacted box]@h/d"}}


def test_a_secret_of_an_exception_stands_nowhere(repo: ScratchRepo) -> None:
    box = Box(leaving=ValueError(PASSWORD))
    assert PASSWORD not in repr(run_with(repo, box))

    def fail(expected: Mapping[str, Any]) -> None:
        raise ValueError(PASSWORD)

    box = Box()
    box.observe = fail
    result = run_with(repo, box)
    assert result.verdict == model.ERROR
    assert PASSWORD not in repr(result)


# What goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "verdict", "said"),
    [
        (Skip("no boxes here"), model.SKIP, "no boxes here"),
        (Blocked("boxes are sold out"), model.BLOCKED, "boxes are sold out"),
        (TargetError("it broke"), model.ERROR, "prerequisite box:small: it broke"),
        (
            ValueError("odd"),
            model.ERROR,
            "prerequisite box:small raised ValueError: odd (test_prov",
        ),
        (SystemExit(0), model.ERROR, "prerequisite box:small raised SystemExit: 0"),
        (KeyboardInterrupt(), model.ERROR, "box:small: it raised KeyboardInterrupt"),
    ],
)
def test_what_is_raised_while_it_is_set_up(
    repo: ScratchRepo, error: Exception, verdict: str, said: str
) -> None:
    result = run_with(repo, Box(entering=error), "touch ran")
    assert (result.verdict, result.observation.argv) == (verdict, ())
    assert said in result.reason
    assert result.scores == ()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TargetError("gone"), "prerequisite box:small: gone"),
        (ConnectionError("gone"), "prerequisite box:small raised ConnectionError: gone"),
    ],
)
def test_what_is_raised_while_it_is_looked_at(
    repo: ScratchRepo, error: Exception, said: str
) -> None:
    def fail(expected: Mapping[str, Any]) -> None:
        raise error

    box = Box()
    box.observe = fail
    result = run_with(repo, box)
    assert (result.verdict, result.scores) == (model.ERROR, ())
    assert said in result.reason
    assert box.told[-1] == "close small 1"
    # A time-out would be held against the agent; here its ground gave way.
    late = run_with(repo, box, "sleep 30", case_of(timeout=0.3))
    assert late.verdict == model.ERROR


@pytest.mark.parametrize("error", [TargetError("stuck"), RuntimeError("stuck")])
def test_what_can_not_be_taken_away_is_no_pass(repo: ScratchRepo, error: Exception) -> None:
    result = run_with(repo, Box(leaving=error))
    assert result.verdict == model.ERROR
    assert result.reason.startswith("prerequisite box:small can't be taken away")
    assert "stuck" in result.reason


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        ({1, 2}, "TypeError"),
        (float("nan"), "ValueError"),
        ("x" * (2 << 20), "more than 1 MiB as JSON"),
    ],
)
def test_what_is_no_json_value_is_no_observation(repo: ScratchRepo, seen: Any, said: str) -> None:
    box = Box()
    box.observe = lambda expected: seen
    result = run_with(repo, box)
    assert result.verdict == model.ERROR
    assert said in result.reason


def test_what_provides_something_else_is_named(repo: ScratchRepo) -> None:
    box = Box()
    box.secrets = PASSWORD
    result = run_with(repo, box)
    assert result.verdict == model.ERROR
    assert "box:small raised TypeError: what it provides has an `env` or `secrets`" in result.reason
    assert box.told == ["open small 1", "close small 1"]


# Taken away in any case -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("sleep 30", model.FAIL),
        ("exit 3", model.ERROR),
        ("sleep 30 & exit 0", model.FAIL),
        ("echo x >../stray", model.TAINTED),
    ],
)
def test_it_is_taken_away_however_the_trial_ends(
    repo: ScratchRepo, script: str, verdict: str
) -> None:
    box = Box()
    result = run_with(repo, box, script, case_of(timeout=0.5))
    assert (result.verdict, box.told[-1]) == (verdict, "close small 1")


def test_what_an_earlier_one_set_up_goes_where_a_later_one_fails(repo: ScratchRepo) -> None:
    box, broken = Box(), Box(entering=TargetError("no"))
    repo.write(FILES)
    agent = AGENT._replace(prerequisites=("box:small", "crate:big", "env:HOME"))
    with staged(repo, "true", agent=agent) as stage:
        stage.prerequisites = {
            "box": Prerequisite("box", not_missing, box.provide),
            "crate": Prerequisite("crate", not_missing, broken.provide),
        }
        result = run_trial(stage, case_of(), 1)
    assert (result.verdict, result.reason) == (model.ERROR, "prerequisite crate:big: no")
    assert box.told == ["open small 1", "close small 1"]
    assert broken.grounds[0].env["BOX"] == "box 1"


def test_one_that_hangs_is_no_pass_and_is_taken_away_late(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provisions, "SET_UP", 0.1)
    monkeypatch.setattr(provisions, "TAKE_AWAY", 0.1)
    go, box = threading.Event(), Box()

    @contextmanager
    def wait(argument: str, ground: Ground) -> Generator[Provided]:
        go.wait(20)
        with box.provide(argument, ground) as provided:
            yield provided

    repo.write(FILES)
    with staged(repo, "true", agent=AGENT) as stage:
        stage.prerequisites = {"box": Prerequisite("box", not_missing, wait)}
        result = run_trial(stage, case_of(), 1)
    assert result.verdict == model.ERROR
    assert result.reason == "prerequisite box:small: it was not done within 0.1 s"
    go.set()
    ends = time.monotonic() + 10
    while len(box.told) < 2 and time.monotonic() < ends:
        time.sleep(0.01)
    assert box.told == ["open small 1", "close small 1"]


def test_a_target_that_raises_leaves_it_unseen(repo: ScratchRepo) -> None:
    def skip(trial: Trial) -> Observation:
        run_argv(trial)
        raise Skip("not today")

    box = Box()
    box.observe = lambda expected: pytest.fail("it is asked")
    result = run_with(repo, box, "true", run=skip)
    assert (result.verdict, result.reason) == (model.SKIP, "not today")
    assert box.told[-1] == "close small 1"
