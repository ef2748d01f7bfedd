"""A judge in whole runs, as a user calls them: what it costs, and who never asks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.guard_command import case, clerk, config

#: A judge that notes each question beside the repository, and takes a cent for a vote.
PLUGIN = """
import json, os, uuid
from guard.plugin import Judge, Question, Vote, hookimpl

def ask(question: Question) -> Vote:
    with open({log!r}, "a", encoding="utf-8") as log:
        log.write(json.dumps(question.answer) + "\\n")
    return Vote(float("please" in question.answer), "polite?", "m-1", uuid.uuid4().hex, {cost})

@hookimpl
def guard_judges():
    where = lambda: os.environ.get("TINY_URL", "")
    missing = lambda: os.environ.get("TINY_LACKS")
    return [Judge("tiny", ask, prompt={prompt!r}, endpoint=where, missing=missing)]
"""
JUDGE: Mapping[str, Any] = {
    "rubric": "It says please.",
    "model": "tiny:m",
    "canaries": {"accept": "please", "reject": "give"},
}


class Judged:
    """A scratch repository with a judge of its own, and what that one was asked."""

    def __init__(self, repo: ScratchRepo, folder: Path) -> None:
        self.repo = repo
        self.log = folder / "asked.log"

    def lay(
        self, script: str = "echo please", prompt: str = "p", cost: str = "0.01", **keys: Any
    ) -> None:
        agents = clerk(deterministic=True, **keys.pop("agent", {}))
        plugin = PLUGIN.format(log=str(self.log), prompt=prompt, cost=cost)
        expected = {"judge": JUDGE, **keys.pop("expected", {})}
        self.repo.write(
            {
                **config(agents, plugins=["evals/guard_plugin.py"]),
                **case(script, expected, **keys),
                "evals/guard_plugin.py": plugin,
            }
        )

    def __call__(self, *arguments: str) -> Outcome:
        return call_guard(self.repo.root, *arguments)

    def run(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Run the case; return the exit code and what the report says of it."""
        done = self("run", "--json", "-", *arguments)
        report: dict[str, Any] = json.loads(done.out)
        return done.code, {**report["cases"][0], "live": report["live"]}

    def asked(self) -> list[str]:
        """Return the answers that it was shown since it was looked at last."""
        found = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [json.loads(line) for line in found]


@pytest.fixture
def judged(repo: ScratchRepo, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return Judged(repo, tmp_path_factory.mktemp("judge"))


# What it takes --------------------------------------------------------------------------------


def test_its_cost_is_the_trials_and_counts_in_budgets(judged: Judged) -> None:
    judged.lay()
    code, found = judged.run("--max-cost", "0.05")
    # Never timed, and paid: it isn't started where money is limited.
    assert (code, found["verdict"], judged.asked()) == (0, "OWED", [])
    code, found = judged.run()
    assert (code, found["verdict"]) == (0, "PASS")
    assert found["cost_usd"] == pytest.approx(0.04)
    costs = sorted(run["execution_provenance"]["cost_usd"] for run in found["runs"])
    assert costs == pytest.approx([0.01, 0.03])
    assert sorted(judged.asked()) == ["give", "please", "please\n", "please\n"]
    code, found = judged.run("--no-cache", "--max-cost", "0.01")
    assert (found["verdict"], judged.asked()) == ("OWED", [])
    code, found = judged.run("--no-cache", "--max-cost", "1")
    assert found["verdict"] == "PASS"


def test_a_cost_that_is_not_known_is_not_zero(judged: Judged) -> None:
    judged.lay(cost="None")
    found = judged.run()[1]
    assert found["cost_usd"] is None
    assert found["runs"][0]["judged"]["judge"]["cost_usd"] is None
    assert "cost not known" in judged("show", "one#1").out


# Receipts -------------------------------------------------------------------------------------


def test_a_receipt_is_bound_to_prompt_and_endpoint(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged.lay()
    assert judged.run()[1]["receipt"]
    assert judged.asked()
    assert "reused" in judged.run()[1]
    assert not judged.asked()
    judged.lay(prompt="another")
    assert "reused" not in judged.run()[1]
    assert judged.asked()
    monkeypatch.setenv("TINY_URL", "http://127.0.0.1:1")
    found = judged.run()[1]
    assert ("reused" in found, found["live"]) == (False, False)
    assert judged.asked()
    # What was evidence for that endpoint is told as such when it answers.
    found = judged.run()[1]
    assert ("reused" in found, found["live"]) == (True, False)
    monkeypatch.delenv("TINY_URL")
    found = judged.run()[1]
    assert ("reused" in found, found["live"], judged.asked()) == (True, True, [])


def test_what_it_lacks_is_known_before_any_trial_is_run(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged.lay("echo please; touch ran")
    monkeypatch.setenv("TINY_LACKS", "no licence")
    code, found = judged.run()
    assert (code, found["verdict"], found["reason"]) == (0, "SKIP", "judge tiny: no licence")
    assert (found["runs"], judged.asked()) == ([], [])


# Who never asks it ----------------------------------------------------------------------------


def test_a_check_asks_no_judge_and_says_so(judged: Judged) -> None:
    judged.lay(counter_examples=[{"reply": "give", "fails": ["judge"]}])
    done = judged("check", "--null", "--run-checkers")
    assert done.code == 0, done
    assert "no judge is asked here, so nothing shows that `judge` rejects it" in done.out
    assert "only judge could tell" in done.out
    assert judged.asked() == []


def test_a_folder_that_is_graded_alone_asks_no_judge_and_passes_nothing(
    judged: Judged, tmp_path: Path
) -> None:
    judged.lay()
    code, found = judged.run("--check-only", str(tmp_path))
    assert (code, found["verdict"], judged.asked()) == (3, "UNGRADED", [])
    assert found["reason"] == "no score for what is expected: judge"


def test_no_secret_is_shown_to_it(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "tok-0123456789")
    judged.lay('echo "please, $SHOP_TOKEN"', agent={"env": ["SHOP_TOKEN"]})
    assert judged.run()[1]["verdict"] == "PASS"
    assert "please, [redacted SHOP_TOKEN]\n" in judged.asked()


# Configuration --------------------------------------------------------------------------------


def test_a_judge_that_nobody_offers_is_named_with_its_line(judged: Judged) -> None:
    judged.lay(expected={"judge": {**JUDGE, "model": "tinny:m"}})
    for command in ("check", "run"):
        done = judged(command)
        assert done.code == 2
        assert "evals/one.md:4: expected.judge: model: no plugin offers the judge" in done.err
        assert "did you mean `tiny`?" in done.err
    judged.lay(agent={"always": {"judge": {**JUDGE, "model": "tinny:m"}}}, expected={})
    done = judged("check")
    assert "guard.yaml:" in done.err
    assert "agents.clerk.always.judge: model: no plugin offers" in done.err


def test_a_shape_that_is_wrong_is_refused_wherever_cases_are_read(judged: Judged) -> None:
    judged.lay(expected={"judge": {**JUDGE, "votes": 2}})
    done = judged("affected")
    assert done.code == 2
    assert "expected.judge: votes: must be odd" in done.err
