"""Plans and verdicts over whole runs, with targets that a plugin of the repository brings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guard.affected import Selected
from guard.engine import Engine, Limits
from guard.errors import ConfigError, PluginError, UsageError
from guard.results import CaseResult, TrialResult
from guard.running.budget import Budget
from guard.running.selection import select_cases
from guard.session import Session
from tests.conftest import ScratchRepo
from tests.guard_command import CLERK, GuardCommand, case, cases, clerk, config, passes_in

#: Targets that do what the utterance says, a Python expression that may use ``trial``.
PLUGIN = """\
from guard.plugin import (
    Blocked, Fingerprint, Observation, Option, Skip, Target, TargetError, hookimpl
)


def run(trial):
    return eval(trial.utterance)


def broken(options):
    raise LookupError("no kettle")


def raised(error):
    raise error


def said(text, **fields):
    return Observation(reply=text, **fields)


@hookimpl
def guard_targets():
    options = (Option("tea", "text", "black"), Option("cups", "integer", 2))
    return [
        Target("free", run, "a function", options=options),
        Target("paid", run, "a function", paid=True),
        Target("fake", run, "a function", live=False),
        Target("odd", run, "a function", fingerprint=broken),
        Target("needy", run, "a function", prerequisites=("env:NOT_SET_HERE",)),
    ]
"""


def plugged(target: str = "free", **keys: Any) -> dict[str, str | bytes | None]:
    """Return guard.yaml whose clerk runs a target of the plugin."""
    agent: dict[str, Any] = {**CLERK, "target": target, "options": {}, **keys}
    return {**config({"clerk": agent}, plugins=["plugins/t.py"]), "plugins/t.py": PLUGIN}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all runs of this test, and of no one else's."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path / "runtime" / "guard"


@pytest.fixture
def session(repo: ScratchRepo) -> Iterator[Session]:
    with Session.open(str(repo.root)) as opened:
        yield opened


ONE_JOB = Limits(jobs=1)


def run_all(
    session: Session,
    limits: Limits = ONE_JOB,
    budget: Budget | None = None,
    heard: list[TrialResult] | None = None,
    *affected_by: tuple[str, str],
) -> dict[str, CaseResult]:
    """Run every case; return id → result."""
    project = session.project()
    reasons = dict(affected_by)
    selection = [
        Selected(case, (reasons[case.id],) if case.id in reasons else ())
        for case in select_cases(project, ())
    ]
    listen = (heard if heard is not None else []).append
    with Engine(project, limits, budget, listen) as engine:
        results = engine.run(selection)
    assert [result.case for result in results] == [chosen.case.id for chosen in selection]
    return {result.case: result for result in results}


# What a target may do -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "verdict", "said"),
    [
        ("said('hello')", "PASS", ""),
        ("said('no')", "FAIL", "reply_contains"),
        ("raised(Skip('no kettle here'))", "SKIP", "no kettle here"),
        ("raised(Blocked('the shop is shut'))", "BLOCKED", "the shop is shut"),
        ("raised(TargetError('it boiled over'))", "ERROR", "it boiled over"),
        ("raised(KeyError('cup'))", "ERROR", "KeyError: 'cup'"),
        ("raised(SystemExit(3))", "ERROR", "SystemExit"),
        ("'hello'", "ERROR", "it returned str, not an Observation"),
        ("None", "ERROR", "it returned NoneType"),
        ("said('hello', loaded=False)", "ERROR", "agent_not_loaded"),
    ],
)
def test_each_way_in_which_a_target_ends(
    repo: ScratchRepo, session: Session, script: str, verdict: str, said: str
) -> None:
    repo.write({**plugged(), **case(script, trials=1)})
    found = run_all(session)["one"]
    assert found.verdict == verdict, found.reason
    assert said in found.reason


def test_a_trial_carries_all_that_the_case_says(repo: ScratchRepo, session: Session) -> None:
    script = (
        "said(repr([trial.turns, dict(trial.input), dict(trial.options), trial.number,"
        " trial.case, trial.agent, trial.timeout, trial.env['GUARD_TRIAL']]))"
    )
    shown = "[('and then', 'at last'), {'cups': 3}, {'tea': 'green', 'cups': 2}, 1, 'one', 'clerk',"
    keys: dict[str, Any] = {"turns": ["and then", "at last"], "input": {"cups": 3}}
    repo.write(
        {
            **plugged(options={"tea": "green"}),
            **case(script, {"reply_contains": [shown]}, trials=1, timeout=7, **keys),
        }
    )
    assert run_all(session)["one"].verdict == "PASS"


def test_options_that_a_target_refuses_are_named_with_their_line(
    repo: ScratchRepo, session: Session
) -> None:
    repo.write({**plugged(options={"tee": "green"}), **case("None")})
    with pytest.raises(ConfigError, match=r"guard.yaml:\d+: agents.clerk.options.tee: .*`tea`"):
        run_all(session)
    repo.write(plugged(options={"cups": "two"}))
    with pytest.raises(ConfigError, match=r"options.cups: must be a whole number"):
        run_all(session)


def test_a_fingerprint_that_breaks_names_its_target(repo: ScratchRepo, session: Session) -> None:
    repo.write({**plugged("odd"), **case("said('hello')")})
    with pytest.raises(PluginError, match="target odd: its fingerprint raised LookupError"):
        run_all(session)


def test_what_a_target_asks_of_the_machine_is_asked_first(
    repo: ScratchRepo, session: Session
) -> None:
    repo.write({**plugged("needy"), **case("said('hello')", trials=1)})
    found = run_all(session)["one"]
    assert (found.verdict, found.trials) == ("SKIP", ())
    assert "NOT_SET_HERE" in found.reason


def test_the_same_response_twice_is_an_error(repo: ScratchRepo, session: Session) -> None:
    repo.write(
        {
            **plugged(),
            **case("said('hello', response_ids=('r1',))", id="cached", trials=3),
            **case("said('hello', response_ids=(f'r{trial.number}',))", id="fresh", trials=3),
        }
    )
    found = run_all(session)
    assert found["fresh"].verdict == "PASS"
    assert found["cached"].verdict == "ERROR"
    assert "the same response id as in trial 1" in found["cached"].reason
    assert [trial.verdict for trial in found["cached"].trials] == ["PASS", "ERROR", "ERROR"]
    assert (found["cached"].passed, found["cached"].graded_count) == (1, 1)


def test_the_same_response_of_a_deterministic_target_is_none(
    repo: ScratchRepo, session: Session
) -> None:
    script = "said('hello', response_ids=('r1',))"
    repo.write({**plugged(deterministic=True), **case(script)})
    assert run_all(session)["one"].verdict == "PASS"


def test_what_is_not_live_makes_no_receipt_and_is_said(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.write({**plugged("fake"), **case("said('hello')", trials=1)})
    for _ in range(2):
        report = guard.report()
        assert report["live"] is False
        assert report["cases"][0]["receipt"] is None
        assert len(report["cases"][0]["runs"]) == 1
    guard("run").says("the model's endpoint was not the provider's own")
    repo.write(plugged("free"))
    report = guard.report()
    assert report["live"] is True
    assert report["cases"][0]["receipt"].startswith("sha256:")


def test_a_check_that_breaks_names_its_evaluator(repo: ScratchRepo, session: Session) -> None:
    own = """
from guard.plugin import Evaluator, hookimpl


def broken(key, value):
    return value["no such"]


@hookimpl
def guard_evaluators():
    return [Evaluator("steep", lambda seen, expected: [], ("minutes",), check=broken)]
"""
    files = {**config(plugins=["plugins/own.py"]), "plugins/own.py": own}
    repo.write({**files, **case("echo hello", {"minutes": {"least": 3}})})
    with pytest.raises(PluginError, match="evaluator steep: its check of minutes raised KeyError"):
        run_all(session)


# Known failures -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "group", "verdict", "code"),
    [
        ("said('no', facts={'weather': 'rain'})", {}, "XFAIL", 0),
        ("said('no', facts={'weather': 'sun'})", {}, "FAIL", 1),
        ("said('hello', facts={'weather': 'rain'})", {}, "XPASS", 1),
        ("said('hello', facts={'weather': 'rain'})", {"intermittent": True}, "PASS", 0),
        ("said('no')", {}, "ERROR", 3),
    ],
)
def test_a_known_failure_is_excused_under_its_condition_alone(
    repo: ScratchRepo,
    guard: GuardCommand,
    script: str,
    group: dict[str, Any],
    verdict: str,
    code: int,
) -> None:
    known = {"failing_keys": ["reply_contains"], "only_when": {"weather": "rain"}, **group}
    repo.write({**plugged(), **case(script, trials=2, expected_baseline=[known])})
    assert guard.verdicts(ends_in=code) == {"one": verdict}
    answered = guard.report(ends_in=code)["cases"][0]["runs"] == []
    assert answered is (verdict in ("PASS", "XFAIL"))


# Budgets --------------------------------------------------------------------------------------

COSTLY = "said('hello', cost_usd=0.1)"


def test_a_paid_target_that_nobody_timed_is_owed_under_a_budget(
    repo: ScratchRepo, session: Session
) -> None:
    repo.write({**plugged("paid"), **case(COSTLY, trials=2)})
    unknown = run_all(session, budget=Budget(60, 1.0))["one"]
    assert (unknown.verdict, unknown.reason) == ("OWED", "not started")
    paid = run_all(session)["one"]
    assert paid.verdict == "PASS"
    assert paid.cost_usd == pytest.approx(0.2)  # pyright: ignore[reportUnknownMemberType]
    fresh = Limits(jobs=1, no_cache=True)
    assert run_all(session, fresh, Budget(60, 1.0))["one"].verdict == "PASS"
    assert run_all(session, fresh, Budget(60, 0.15))["one"].verdict == "OWED"
    assert run_all(session, budget=Budget(60, 0.0))["one"].verdict == "PASS"  # by its receipt


def test_the_agent_may_say_that_it_is_paid_or_free(repo: ScratchRepo, session: Session) -> None:
    repo.write({**plugged("paid", paid=False), **case("said('hello')", trials=1)})
    assert run_all(session, budget=Budget(60))["one"].verdict == "PASS"
    repo.write({**plugged("free", paid=True), **case("said('hello')", trials=1)})
    fresh = Limits(no_cache=True)
    assert run_all(session, fresh, Budget(60, 1.0))["one"].verdict == "OWED"


def test_what_costs_more_than_thought_ends_the_budget(repo: ScratchRepo, session: Session) -> None:
    repo.write({**plugged(), **cases(dict.fromkeys("abc", COSTLY), trials=1)})
    found = run_all(session, budget=Budget(max_cost=0.15))
    assert [found[name].verdict for name in "abc"] == ["PASS", "PASS", "OWED"]


def test_a_budget_that_ends_in_the_middle_owes_the_case(
    repo: ScratchRepo, session: Session
) -> None:
    repo.write({**plugged(), **case(COSTLY, trials=5)})
    found = run_all(session, budget=Budget(max_cost=0.15))["one"]
    assert found.verdict == "OWED"
    assert found.reason == "a budget ended after 2 of at most 5 trials"
    assert found.receipt == ""


def test_under_a_budget_new_cases_come_first_then_failed_ones_then_cheap_ones(
    repo: ScratchRepo, session: Session
) -> None:
    slow = "(__import__('time').sleep(.05), said('hello'))[1]"
    scripts = {"a": slow, "b": "said('hello')", "c": slow, "d": slow}
    repo.write({**plugged(), **cases(scripts, trials=1)})
    run_all(session)
    heard: list[TrialResult] = []
    reasons = (("c", "last-verdict"), ("d", "case"))
    run_all(session, Limits(jobs=1, no_cache=True), Budget(60), heard, *reasons)
    assert [trial.case for trial in heard] == ["d", "c", "b", "a"]
    heard.clear()
    run_all(session, Limits(jobs=1, no_cache=True), None, heard, *reasons)
    assert [trial.case for trial in heard] == ["a", "b", "c", "d"]


# Confirming -----------------------------------------------------------------------------------

CONFIRM = Limits(jobs=1, confirm=True)


@pytest.mark.parametrize(
    ("passing", "keys", "verdict", "trials", "again"),
    [
        ((), {}, "FAIL", 2, 2),
        ((3, 4, 5, 6), {}, "INCONCLUSIVE", 2, 4),
        ((3,), {"gate": "quick"}, "FAIL", 2, 3),
        ((), {"trials": 2}, "FAIL", 1, None),
        ((1, 2, 3, 4), {}, "PASS", 4, None),
    ],
)
def test_a_fail_by_a_gate_is_confirmed_by_a_fresh_one(
    repo: ScratchRepo,
    session: Session,
    passing: tuple[int, ...],
    keys: dict[str, Any],
    verdict: str,
    trials: int,
    again: int | None,
) -> None:
    repo.write({**config(), **case(passes_in(*passing), **keys)})
    heard: list[TrialResult] = []
    found = run_all(session, CONFIRM, None, heard)["one"]
    assert found.verdict == verdict, found.reason
    assert found.confirmed is (verdict == "FAIL" and again is not None)
    assert [trial.number for trial in heard] == list(range(1, trials + (again or 0) + 1))
    assert (found.repeated.trials if found.repeated else None) == again


def test_by_hand_a_fail_is_not_confirmed(repo: ScratchRepo, session: Session) -> None:
    repo.write({**config(), **case(passes_in(3, 4, 5, 6))})
    found = run_all(session)["one"]
    assert (found.verdict, found.repeated) == ("FAIL", None)


def test_a_deterministic_fail_needs_no_confirmation(repo: ScratchRepo, session: Session) -> None:
    repo.write({**config(clerk(deterministic=True)), **case("echo no")})
    heard: list[TrialResult] = []
    assert run_all(session, CONFIRM, None, heard)["one"].verdict == "FAIL"
    assert len(heard) == 2


# Slots and folders ----------------------------------------------------------------------------


def test_cases_share_the_slots_and_results_keep_their_order(
    repo: ScratchRepo, session: Session
) -> None:
    scripts = dict.fromkeys("abcdefgh", "echo hello")
    repo.write({**config(), **cases(scripts, trials=3)})
    heard: list[TrialResult] = []
    found = run_all(session, Limits(jobs=4), None, heard)
    assert {result.verdict for result in found.values()} == {"PASS"}
    assert len(heard) == 24
    for name in "abcdefgh":
        assert [trial.number for trial in found[name].trials] == [1, 2, 3]


def test_nothing_is_left_on_disk(repo: ScratchRepo, session: Session, runs: Path) -> None:
    repo.write({**config(), **case("mkdir -p a/b; chmod 0 a; echo hello", trials=2)})
    project = session.project()
    with Engine(project, Limits(jobs=2)) as engine:
        engine.run([Selected(project.cases["one"])])
        assert len(list(runs.iterdir())) == 1
    assert list(runs.iterdir()) == []


def test_nothing_is_left_either_where_a_case_cannot_be_laid(
    repo: ScratchRepo, guard: GuardCommand, runs: Path
) -> None:
    given = {"files": {"rules.md/below": "x\n"}}
    repo.write({**config(), **cases({"good": "echo hello"}), **case(given=given)})
    guard("run").refuses("rules.md")
    assert list(runs.iterdir()) == []


def test_trials_of_a_run_are_kept_under_the_runs_id(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(), **case(trials=2)})
    run_id = guard.report()["run_id"]
    with Session.open(str(repo.root)) as session:
        assert [trial.number for trial in session.store.get_trials("one", run_id)] == [1, 2]
        assert session.store.get_runs()[0]["run_id"] == run_id


# Going on where a run was ended ----------------------------------------------------------------


def resumed(session: Session, limits: Limits = ONE_JOB) -> tuple[CaseResult, list[int]]:
    """Resume the run of case one; return its result, and the numbers of the trials it took."""
    project, heard = session.project(), list[TrialResult]()
    with Engine(project, limits, None, heard.append) as engine:
        (result,) = engine.run([Selected(project.cases["one"])], resume=True)
    return result, [trial.number for trial in heard]


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_what_a_budget_ended_is_resumed(repo: ScratchRepo, session: Session, jobs: int) -> None:
    repo.write({**plugged(), **case(COSTLY, trials=6)})
    ended = run_all(session, Limits(jobs=jobs), Budget(max_cost=0.15))["one"]
    assert (ended.verdict, ended.receipt) == ("OWED", "")
    done = len(ended.trials)
    result, taken = resumed(session)
    assert (result.verdict, len(result.trials)) == ("PASS", 6)
    assert taken == list(range(done + 1, 7))
    assert [trial.number for trial in session.store.get_trials("one")] == [1, 2, 3, 4, 5, 6]


def test_trials_that_are_too_old_are_not_gone_on_with(repo: ScratchRepo, session: Session) -> None:
    repo.write({**plugged(max_age="1h"), **case(COSTLY, trials=3)})
    case_one = session.project().cases["one"]
    key = Engine(session.project()).receipt_key(case_one)
    old = TrialResult("one", 1, "PASS", trial_id="t", started="2021-01-01T00:00:00.000+00:00")
    session.store.put_trial("killed", "clerk", old, key=key)
    assert resumed(session)[1] == [1, 2, 3]


def test_a_failed_run_is_not_mixed_with_the_one_that_repeats_it(
    repo: ScratchRepo, session: Session
) -> None:
    repo.write({**config(), **case(passes_in(1, 2, 3), trials=4)})
    assert run_all(session)["one"].verdict == "FAIL"
    repo.write(case(passes_in(), trials=4))
    run_all(session)
    repo.write(case(passes_in(1, 2, 3), trials=4))
    result, taken = resumed(session)
    assert (result.verdict, taken) == ("FAIL", [1, 2, 3, 4])
    assert len(session.store.get_trials("one")) == 4


def test_a_budget_beside_fail_fast_owes_what_it_ended(repo: ScratchRepo, session: Session) -> None:
    repo.write({**plugged(), **cases(dict.fromkeys("ab", COSTLY), trials=1)})
    limits = Limits(jobs=1, fail_fast=True)
    found = run_all(session, limits, Budget(max_cost=0.05))
    assert [found[name].verdict for name in "ab"] == ["PASS", "OWED"]


def test_what_cannot_be_laid_is_said_before_anything_is_paid_for(
    repo: ScratchRepo, session: Session
) -> None:
    given = {"files": {"letter": {"from": "evals/no-such-letter"}}}
    repo.write({**plugged(), **cases({"a": COSTLY}), **case(id="z", given=given)})
    heard: list[TrialResult] = []
    with pytest.raises(UsageError, match="the fixture evals/no-such-letter is not in the tree"):
        run_all(session, heard=heard)
    assert heard == []
