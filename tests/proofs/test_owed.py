"""What is owed of proofs, how it is paid, and that paying can be stopped at any trial."""

from __future__ import annotations

import subprocess
import sys

import pytest

from guard.engine import Limits
from guard.running.budget import Budget
from tests.clerk import BASE, CONFIG, FIXED, SKILL_PATH, case, fix, record, regressions
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.proving import prove

PAID = CONFIG.replace("deterministic: true}", "deterministic: true}\n    paid: true")
SAMPLED = CONFIG.replace("deterministic: true", "deterministic: false")
TWO = regressions(taxi=record(), tram=record(case="evals/tram.md"))


@pytest.fixture
def fixed(repo: ScratchRepo) -> ScratchRepo:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    return repo


def guard(repo: ScratchRepo, *arguments: str) -> Outcome:
    return call_guard(repo.root, *arguments)


def test_paying_proves_what_is_pending_and_a_push_is_answered(fixed: ScratchRepo) -> None:
    assert "1 proof pending: guard run --owed" in guard(fixed, "status").out
    paid = guard(fixed, "run", "--owed")
    assert (paid.code, "taxi PROVEN" in paid.out) == (0, True), paid
    pushed = prove(fixed.root, at="HEAD", run=False)
    assert (pushed.one.verdict, pushed.ran) == ("PROVEN", [])
    told = guard(fixed, "status").out
    assert "? taxi  PENDING: its receipts hold, the record doesn't name them yet" in told
    assert "  do  guard prove taxi\n" in told
    assert "--owed" not in told
    assert "nothing is owed" in guard(fixed, "run", "--owed").out


def test_a_proof_on_record_is_owed_again_where_the_skill_was_edited(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.write(fix())
    assert guard(repo, "prove", "taxi").code == 0
    assert "taxi  proven on" in guard(repo, "status").out
    repo.write({SKILL_PATH: FIXED + "\nBe kind.\n"})
    assert "1 proof owed on these files: guard run --owed" in guard(repo, "status").out
    assert guard(repo, "run", "--owed").code == 0
    assert "owed" not in guard(repo, "status").out


def test_selectors_limit_what_is_paid(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    tram = case().replace("id: taxi", "id: tram")
    repo.commit("fix: taxi", {**fix(), "evals/tram.md": tram, "regressions.json": TWO})
    assert "tram PROVEN" in guard(repo, "run", "--owed", "tram").out
    assert "1 proof pending" in guard(repo, "status").out


def test_a_budget_leaves_the_rest_pending(fixed: ScratchRepo) -> None:
    found = guard(fixed, "run", "--owed", "--max-seconds", "0", "--strict")
    assert (found.code, "PENDING" in found.out) == (3, True), found
    assert guard(fixed, "run", "--owed").code == 0


def test_what_is_to_be_paid_is_said_first(fixed: ScratchRepo) -> None:
    assert "to run:" not in guard(fixed, "verify").err
    fixed.write({"guard.yaml": PAID})
    said = guard(fixed, "verify", "--live").err
    assert "to run: at most 4 trials of 1 regression (about " in said


# Stopped and resumed -----------------------------------------------------------------------


class Few(Budget):
    """Ends after so many trials."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.left = most

    def spend(self, cost: float | None) -> None:
        self.left -= 1

    def ended(self) -> bool:
        return self.left <= 0


def test_a_proof_that_is_stopped_after_each_trial_runs_none_twice(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, "guard.yaml": SAMPLED})
    repo.commit("fix: taxi", fix())
    calls, one = 0, Limits(jobs=1)
    while prove(repo.root, limits=one, budget=Few(1)).one.verdict != "PROVEN":
        calls += 1
    assert calls + 1 == len(prove(repo.root, limits=one, live=True).ran)


def test_two_at_once_are_both_right_though_one_is_killed(fixed: ScratchRepo) -> None:
    call = [sys.executable, "-P", "-m", "guard", "verify"]
    started = [
        subprocess.Popen(call, cwd=fixed.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    started[0].kill()
    ended = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started[1:]] == [0, 0]
    assert all(b"taxi PROVEN" in out for out in ended[1:])
    assert prove(fixed.root).ran == []
