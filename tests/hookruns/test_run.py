"""A hook's run: within its budget, heard of while it works, remembered afterwards."""

from __future__ import annotations

import sys
from collections.abc import Generator

import pytest

from guard.affected import Selected
from guard.hookruns.run import Estimate, Pulse, budget_of, run_in_hook
from guard.model import FAIL, OWED, PASS
from guard.project import Project
from guard.results import TrialResult
from guard.running.budget import Budget
from guard.session import Session
from tests.conftest import ScratchRepo
from tests.hooks.installed import BAD_TALK, CONFIG, FILES, TALK, make_installed

#: Runs a hook that speaks five times a second instead of once in half a minute.
IMPATIENT = """\
import sys
import guard.hookruns.heartbeat as module
module.heartbeat.__wrapped__.__defaults__ = (0.2,)
from guard.cli import main
sys.exit(main(["hook", *sys.argv[1:]]))
"""


@pytest.fixture
def session(repo: ScratchRepo) -> Generator[Session]:
    repo.commit("feat: all", FILES)
    with Session.open(str(repo.root)) as found:
        yield found


def suite(project: Project) -> list[Selected]:
    return [Selected(case) for _, case in sorted(project.cases.items())]


def test_run_is_remembered(session: Session) -> None:
    project = session.project("HEAD")
    run = run_in_hook(project, suite(project), "pre-commit", at="index")
    assert [case.verdict for case in run.standing.cases] == [PASS, PASS]
    assert session.store.last_verdicts() == {"greets": PASS, "stops": PASS}
    (kept,) = session.store.get_runs()
    assert kept["command"] == "hook pre-commit"
    assert len(session.store.get_trials("greets", kept["run_id"])) == 2


def test_failure_is_remembered_too(repo: ScratchRepo, session: Session) -> None:
    repo.commit("feat: less", {TALK: BAD_TALK})
    project = session.project("HEAD")
    run_in_hook(project, suite(project), "pre-push", at="HEAD")
    assert session.store.last_verdicts() == {"greets": FAIL, "stops": PASS}


def test_debt_is_estimated_by_what_was_recorded(repo: ScratchRepo, session: Session) -> None:
    project = session.project("HEAD")
    run_in_hook(project, suite(project), "pre-push", at="HEAD")
    repo.commit("feat: less", {TALK: BAD_TALK})
    project = session.project("HEAD")
    run = run_in_hook(project, suite(project), "pre-push", at="HEAD", budget=Budget(0.0, 0.0))
    assert [case.verdict for case in run.standing.cases] == [OWED, PASS]
    assert run.estimate.seconds is not None
    assert 0 < run.estimate.seconds < 60


def test_debt_of_a_case_that_never_ran_is_estimated_by_its_agents_others(
    repo: ScratchRepo, session: Session
) -> None:
    project = session.project("HEAD")
    run_in_hook(project, suite(project), "pre-push", at="HEAD")
    repo.commit(
        "test: more",
        {"evals/talk/more.md": str(FILES["evals/talk/greets.md"]).replace("greets", "more")},
    )
    project = session.project("HEAD")
    more = [Selected(project.cases["more"])]
    run = run_in_hook(project, more, "pre-push", at="HEAD", budget=Budget(0.0, 0.0))
    assert run.estimate.seconds is not None


def test_unknown_debt_is_not_guessed(session: Session) -> None:
    project = session.project("HEAD")
    run = run_in_hook(project, suite(project), "pre-push", at="HEAD", budget=Budget(0.0, 0.0))
    assert run.estimate == Estimate()


def test_budget_of_the_configuration() -> None:
    budget = budget_of({"max_seconds": 60, "max_cost_usd": 0.5})
    assert (budget.max_seconds, budget.max_cost) == (60.0, 0.5)


def test_pulse_counts() -> None:
    pulse = Pulse()
    assert pulse.describe().startswith("still running: 0 trials of 0 cases done, ")
    for case, number in (("a", 1), ("a", 2), ("b", 1)):
        pulse.heard(TrialResult(case, number, PASS))
    assert pulse.describe().startswith("still running: 3 trials of 2 cases done, ")


@pytest.mark.parametrize("stage", ["pre-commit", "pre-push"])
def test_long_hook_is_heard_of(repo: ScratchRepo, stage: str) -> None:
    slow = '["sh", "-c", "sleep 1; cat SKILL.md"]'
    config = CONFIG.replace("[cat, SKILL.md]", slow, 1)
    installed = make_installed(repo, {**FILES, "guard.yaml": config})
    installed.stage({TALK: BAD_TALK})
    tip = installed.git("rev-parse", "HEAD").strip()
    said = f"refs/heads/main {tip} refs/heads/main {'0' * 40}\n"
    argv = [sys.executable, "-P", "-c", IMPATIENT, stage, "up", "url"]
    done = installed.run(*argv, input=said)
    assert "guard: still running: " in done.stderr
