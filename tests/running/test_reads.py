"""Evidence stands while what its trials were seen to read is the same; other data voids none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from guard.model import FAIL, PASS
from guard.results import CaseResult, Observation, TrialResult
from guard.running.answers import Answers
from guard.running.reads import DATA, READS, Reads
from guard.session import Session
from guard.storage.records import Receipt, trials_of
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.guard_command import case, clerk, config

FILES: Mapping[str, str | bytes | None] = {
    "agent/data.md": "12\n",
    "agent/notes/a.md": "a\n",
    "agent/notes/b.md": "b\n",
    "elsewhere.md": "x\n",
}


def states(repo: ScratchRepo, *names: str) -> dict[str, str]:
    """Return what a receipt keeps of trials that read these, on the working tree."""
    with Session.open(str(repo.root)) as session:
        project = session.project()
        trial = TrialResult("one", 1, PASS, observation=Observation(files_read=names))
        return Reads(project).of(project.agents["clerk"], [trial])


def holds(repo: ScratchRepo, noted: Any, agent: str = "clerk") -> bool:
    receipt = Receipt("k", "one", agent, PASS, 1, 1, "", {READS: noted})
    with Session.open(str(repo.root)) as session:
        return Reads(session.project()).hold(receipt)


@pytest.fixture
def laid(repo: ScratchRepo) -> ScratchRepo:
    repo.write({**config(), **FILES, **case()})
    return repo


@pytest.mark.parametrize(
    ("name", "voiding", "leaving"),
    [
        ("data.md", {"agent/data.md": "13\n"}, {"agent/notes/a.md": "c\n"}),
        ("data.md", {"agent/data.md": None}, {"elsewhere.md": "y\n"}),
        ("gone.md", {"agent/gone.md": "x\n"}, {"agent/other.md": "x\n"}),
        ("notes/", {"agent/notes/c.md": "c\n"}, {"agent/notes/a.md": "c\n"}),
        ("notes/", {"agent/notes/a.md": None}, {"agent/notesc.md": "c\n"}),
        ("notes/**", {"agent/notes/a.md": "c\n"}, {"agent/data.md": "13\n"}),
        ("./**", {"agent/data.md": "13\n"}, {"elsewhere.md": "y\n"}),
        ("./", {"agent/new.md": "x\n"}, {"agent/data.md": "13\n"}),
        # The agent's own files are in the key, and guard's are in no workspace.
        ("./**", {"agent/new.md": "x\n"}, {"agent/rules.md": "Be stern.\n", **case("echo hi")}),
    ],
)
def test_what_was_read_and_what_was_not(
    laid: ScratchRepo, name: str, voiding: dict[str, Any], leaving: dict[str, Any]
) -> None:
    noted = states(laid, name)
    assert list(noted) == [name]
    assert holds(laid, noted)
    laid.write(leaving)
    assert holds(laid, noted)
    laid.write(voiding)
    assert not holds(laid, noted)


def data(repo: ScratchRepo, *, told: bool = False) -> str | None:
    """Return what is noted of all data, of a trial that tells what it read or doesn't."""
    with Session.open(str(repo.root)) as session:
        answers, trial = Answers(session.project()), TrialResult("one", 1, PASS)
        if told:
            trial = trial._replace(observation=Observation(files_read=("data.md",)))
        one = answers.project.cases["one"]
        result = CaseResult("one", "clerk", PASS, trials=(trial,))
        found: str | None = answers.facts(one, result).get(DATA)
        assert found in (None, answers.data(one))
        return found


def test_all_data_is_noted_where_nobody_can_tell_what_was_read(laid: ScratchRepo) -> None:
    noted = data(laid)
    assert noted
    assert data(laid, told=True) is None
    laid.write({"elsewhere.md": "y\n", "agent/rules.md": "Be stern.\n"})
    assert data(laid) == noted
    laid.write({"agent/data.md": "13\n"})
    assert data(laid) != noted


def test_the_agent_s_own_files_are_in_the_key(laid: ScratchRepo) -> None:
    assert states(laid, "rules.md") == {}


def test_a_mode_counts(laid: ScratchRepo) -> None:
    noted = states(laid, "data.md")
    (laid.root / "agent/data.md").chmod(0o755)
    assert not holds(laid, noted)


def test_a_receipt_without_reads_stands(laid: ScratchRepo) -> None:
    assert holds(laid, {})
    assert holds(laid, None)


@pytest.mark.parametrize("noted", ["data.md", {"data.md": 7}, ["data.md"]])
def test_reads_that_are_none_stand_for_nothing(laid: ScratchRepo, noted: Any) -> None:
    assert not holds(laid, noted)


def test_an_agent_that_is_gone_has_no_reads(laid: ScratchRepo) -> None:
    assert not holds(laid, states(laid, "data.md"), "porter")


# In whole runs --------------------------------------------------------------------------------

READER = """\
from guard.plugin import Fingerprint, Observation, Target, ToolCall, hookimpl

def run(trial):
    done = trial.run_program(["sh", "-c", trial.utterance])
    calls = (ToolCall("Read", {"file_path": trial.workspace + "/data.md"}),)
    return Observation(reply=done.stdout, exit_status=0, tool_calls=calls)

@hookimpl
def guard_targets():
    return [Target(name="reader", run=run, real="sh", deterministic=True)]
"""


def test_data_that_a_trial_read_runs_it_again_and_other_data_does_not(repo: ScratchRepo) -> None:
    agents = clerk(target="reader", options={})
    files = {**config(agents, plugins=["plugin/reader.py"]), "plugin/reader.py": READER}
    repo.commit("feat: clerk", {**files, **FILES, **case("cat data.md", {"reply_contains": ["1"]})})

    def answered() -> bool:
        outcome = call_guard(repo.root, "run")
        assert outcome.code == 0, outcome
        return "by a receipt of" in outcome.out

    assert not answered()
    assert answered()
    repo.write({"agent/notes/a.md": "other\n"})
    assert answered()
    repo.write({"agent/data.md": "13\n"})
    assert "owed" in call_guard(repo.root, "status").out
    assert not answered()
    assert answered()
    repo.write({"agent/data.md": "12\n"})
    assert answered()  # what was known of these files still is
    repo.write({"agent/data.md": "7\n"})
    assert call_guard(repo.root, "run").code == 1


def test_a_red_side_is_bought_again_where_its_data_changed(repo: ScratchRepo) -> None:
    agents = clerk(target="reader", options={})
    files = {**config(agents, plugins=["plugin/reader.py"]), "plugin/reader.py": READER}
    script = "cat rules.md data.md"
    repo.commit("feat: clerk", {**files, **FILES, **case(script, {"reply_contains": ["Ask"]})})

    def red() -> set[str]:
        """Return which trials the red side rests on."""
        outcome = call_guard(repo.root, "prove", "one")
        assert outcome.code == 3, outcome
        assert "RED" in outcome.out
        with Session.open(str(repo.root)) as session:
            reds = session.store.all_receipts("red")
        assert all(kept.evidence[READS] and kept.verdict == FAIL for kept in reds)
        return {trial.trial_id for trial in trials_of(reds[-1])}

    first = red()
    assert red() == first
    repo.write({"agent/notes/a.md": "other\n"})
    assert red() == first
    repo.write({"agent/data.md": "13\n"})
    assert not red() & first


def test_a_kept_red_side_too_is_run_again_where_its_data_changed(repo: ScratchRepo) -> None:
    agents = clerk(target="reader", options={})
    files = {**config(agents, plugins=["plugin/reader.py"]), "plugin/reader.py": READER}
    repo.commit("feat: clerk", {**files, **FILES})
    repo.write(case("cat rules.md", {"reply_contains": ["Ask"]}))
    assert call_guard(repo.root, "prove", "one").code == 3
    repo.write({"agent/rules.md": "Be kind. Ask.\n"})
    assert call_guard(repo.root, "prove", "one").code == 0
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "fix: ask")

    def before_is_kept() -> bool:
        outcome = call_guard(repo.root, "verify", "--json", "-")
        assert outcome.code == 0, outcome
        return "before" in json.loads(outcome.out)["regressions"][0].get("reused", {})

    assert before_is_kept()
    repo.write({"agent/notes/a.md": "other\n", "agent/rules.md": "Be kind. Ask first.\n"})
    assert before_is_kept()
    repo.write({"agent/data.md": "13\n"})
    assert not before_is_kept()
    assert before_is_kept()
