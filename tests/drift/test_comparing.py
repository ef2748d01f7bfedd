"""What counts as another version, and what doesn't."""

from __future__ import annotations

import pytest

from guard.drift.comparing import compared, mixed
from guard.drift.versions import (
    Held,
    Versions,
    versions_from_json,
    versions_of,
    versions_to_json,
)
from guard.results import Drift, Fingerprint, Observation, TrialResult

DATE = "2026-11-20T10:00:00+00:00"
CLAUDE = Versions(Fingerprint("claude-code 2.1.0", "sonnet"), ("claude-code 2.1.0",), ("s-1",))


def drift(now: Versions, was: Versions = CLAUDE) -> list[tuple[str, str, str, str, bool]]:
    found = compared(now, Held(was, DATE))
    assert all(one.since == DATE for one in found)
    return [(one.what, one.name, one.now, one.was, one.stated) for one in found]


def asked(program: str = "", model: str = "", endpoint: str = "") -> Versions:
    return Versions(Fingerprint(program, model, endpoint))


def trial(
    number: int = 1, model: str | None = None, program: str | None = None, fp: str = ""
) -> TrialResult:
    seen = Observation(model=model, program=program)
    return TrialResult("taxi", number, "PASS", observation=seen, asked=Fingerprint(fp))


def test_the_same_versions_are_no_drift() -> None:
    assert drift(CLAUDE) == []


def test_a_program_of_another_version_is_said_once() -> None:
    newer = "claude-code 2.1.4"
    now = Versions(Fingerprint(newer, "sonnet"), (newer,), ("s-1",))
    assert drift(now) == [("program", "claude-code", "2.1.4", "2.1.0", False)]


def test_a_version_that_only_the_trials_tell() -> None:
    was, now = (Versions(programs=(f"brew {v}",)) for v in ("1.0", "1.1"))
    assert drift(now, was) == [("program", "brew", "1.1", "1.0", False)]


def test_the_model_that_answers_is_another_behind_the_same_alias() -> None:
    now = CLAUDE._replace(models=("s-2",))
    assert drift(now) == [("model", "the model", "s-2", "s-1", False)]


def test_another_model_that_is_asked_for_may_be_the_users_own_change() -> None:
    now = Versions(CLAUDE.asked._replace(model="opus"), CLAUDE.programs, ("o-1",))
    assert drift(now) == [("model", "the model", "o-1", "s-1", True)]
    untold = now._replace(models=())
    assert drift(untold) == [("model", "the model asked for", "opus", "sonnet", True)]


def test_one_of_several_programs() -> None:
    was, now = asked("claude-code 2.1.0; node 22.1"), asked("claude-code 2.1.0; node 22.2")
    assert drift(now, was) == [("program", "node", "22.2", "22.1", False)]


def test_another_program() -> None:
    was, now = asked("deno 2.1"), asked("node 22.1")
    assert drift(now, was) == [("program", "the program", "node 22.1", "deno 2.1", True)]


def test_an_endpoint_of_its_own() -> None:
    was, now = asked(model="m"), asked(model="m", endpoint="http://127.0.0.1:1")
    own = "the provider's own"
    assert drift(now, was) == [
        ("endpoint", "the model's endpoint", "http://127.0.0.1:1", own, True)
    ]


@pytest.mark.parametrize(
    "untold",
    [
        Versions(),
        Versions(CLAUDE.asked),
        Versions(CLAUDE.asked, models=("s-1",)),
        Versions(programs=CLAUDE.programs),
    ],
)
def test_what_one_side_does_not_tell_is_no_drift(untold: Versions) -> None:
    assert drift(untold) == []
    assert drift(CLAUDE, untold) == []


def test_names_without_a_version() -> None:
    assert drift(asked("my agent"), asked("my agent")) == []
    assert drift(asked("my agent 2"), asked("my agent")) == [
        ("program", "the program", "my agent 2", "my agent", True)
    ]


def test_versions_of_trials_and_their_way_through_the_store() -> None:
    found = versions_of([trial(1, "b", "p 1", "p 1"), trial(2, "a", None, "p 1"), trial(3)])
    assert found == Versions(Fingerprint("p 1"), ("p 1",), ("a", "b"))
    assert versions_from_json(versions_to_json(found)) == found
    assert versions_from_json({"more": 1}) == Versions()


def test_models_that_take_turns_within_one_run() -> None:
    trials = [trial(1, "a"), trial(2, "b"), trial(3, "a"), trial(4)]
    assert mixed(trials) == (Drift("model", "the model", "a; b"),)
    assert mixed(trials[:1] + trials[2:]) == ()


def test_a_program_that_updates_itself_within_one_run() -> None:
    told = [trial(1, program="p 1"), trial(2, program="p 2")]
    assert mixed(told) == (Drift("program", "the program", "p 1; p 2"),)
    assert mixed([trial(1, fp="p 1"), trial(2, fp="p 2")]) == mixed(told)
