"""``--report langsmith=FILE``: a run as experiments, and the probe that is made before it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from guard.errors import TargetError
from guard.results import CaseResult, Observation, Report, Score, TrialResult
from guard_langsmith import check_tracing
from guard_langsmith.experiments import floor_of, upload
from tests.commands.calling import Outcome
from tests.guard_command import case
from tests.plugins.langsmith.conftest import DATASET, Kept
from tests.servers.langsmith import Answer, Asked

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def synced(kept: Kept) -> Kept:
    done = kept.sync()
    assert done.code == 0, done
    kept.server.asked.clear()
    return kept


def run(kept: Kept, *options: str) -> Outcome:
    return kept.call("run", "--report", "langsmith=../experiments", *options)


def written(kept: Kept) -> str:
    return (kept.repo.root.parent / "experiments").read_text()


def experiments(kept: Kept) -> Mapping[str, dict[str, Any]]:
    found = kept.server.projects.values()
    return {p["extra"]["metadata"]["agent"]: p for p in found if p["reference_dataset_id"]}


def runs_of(kept: Kept, agent: str) -> Mapping[str, dict[str, Any]]:
    number = experiments(kept)[agent]["id"]
    return {r["name"]: r for r in kept.server.runs.values() if r["session_id"] == number}


def scores_of(kept: Kept, row: Mapping[str, Any]) -> Mapping[str, tuple[float, str | None]]:
    found = [item for item in kept.server.feedback.values() if item["run_id"] == row["id"]]
    return {item["key"]: (item["score"], item.get("comment")) for item in found}


def report_of(*trials: TrialResult, run_id: str = "r1", **case: Any) -> Report:
    result = CaseResult("one", "clerk", "PASS", trials)._replace(**case)
    return Report("run", run_id, "2026-07-01T10:00:00+00:00", sha=SHA, cases=(result,))


# A whole run ----------------------------------------------------------------------------------


def test_a_run_is_an_experiment_of_each_agent(synced: Kept) -> None:
    kept = synced
    skipped = case("echo no", id="later", prerequisites=["env:NO_SUCH_VARIABLE"])
    failing = case("echo bye", id="wrong")
    kept.repo.commit("feat: more", {**skipped, **failing})
    assert kept.sync().code == 0
    done = run(kept)
    assert done.code == 1, done
    assert done.err == ""
    text = written(kept)
    clerk, filer = experiments(kept)["clerk"], experiments(kept)["filer"]
    assert f"experiment {clerk['name']}: http" in text
    assert f"/compare?selectedSessions={filer['id']}" in text
    assert "  4 trials, " in text
    assert text.endswith(f"at {kept.server.url}, live: false\n")
    head = kept.repo.git("rev-parse", "HEAD").strip()
    told = clerk["extra"]["metadata"]
    assert (told["sha"], told["live"], told["exit_code"]) == (head, False, 1)
    assert told["verdicts"] == {"FAIL": 1, "PASS": 2, "SKIP": 1}
    assert clerk["end_time"]
    runs = runs_of(kept, "clerk")
    assert sorted(runs) == ["ask#1", "later#1", "one#1", "wrong#1"]
    one, wrong, later = runs["one#1"], runs["wrong#1"], runs["later#1"]
    examples = kept.server.examples_of(DATASET)
    assert one["reference_example_id"] == examples["one"]["id"]
    assert one["inputs"] == {"utterance": "echo hello"}
    assert one["outputs"]["reply"] == "hello\n"
    assert one["start_time"] < one["end_time"]
    assert "error" not in one
    assert one["extra"]["metadata"]["verdict"] == "PASS"
    assert one["extra"]["metadata"]["sha"] == head
    assert scores_of(kept, one) == {
        "no_changes": (1.0, "no file changed"),
        "reply_contains": (1.0, "the reply says it all"),
    }
    # A trial that failed is told by its scores: as an error it would be left out of averages.
    assert "error" not in wrong
    score, why = scores_of(kept, wrong)["reply_contains"]
    assert score == 0.0
    assert why
    assert later["error"].startswith("SKIP: ")
    assert "NO_SUCH_VARIABLE" in later["error"]
    assert scores_of(kept, later) == {}


def test_what_kept_evidence_answers_is_said_and_not_made_up(synced: Kept) -> None:
    assert synced.call("run", "one").code == 0
    done = run(synced, "one")
    assert done.code == 0, done
    assert written(synced).startswith("not uploaded: one, which was answered by kept evidence of ")
    assert experiments(synced) == {}


def test_no_case_is_no_experiment(synced: Kept) -> None:
    done = run(synced, "--affected=HEAD")
    assert done.code == 0, done
    assert written(synced).startswith("no case was run: there is no experiment\n")


# One trial ------------------------------------------------------------------------------------


def test_what_is_told_of_a_trial(synced: Kept) -> None:
    seen = Observation("done", output={"total": 5}, facts={"gate": "x"}, seconds=2.5, model="m1")
    scores = (Score("total", 0.99996, "nearly"), Score("judge", 0.5, evidence={"model": "j"}))
    first = TrialResult("one", 1, "XFAIL", scores, "as ever", seen, started="2026-07-01T10:00:01")
    second = TrialResult("one", 2, "ERROR", (), "it hung \udcff up\0")
    assert "  2 trials, 2 scores, dataset clerk (guard)\n" in upload(report_of(first, second))
    told = runs_of(synced, "clerk")
    one, two = told["one#1"], told["one#2"]
    assert one["outputs"] == {"reply": "done", "output": {"total": 5}, "facts": {"gate": "x"}}
    assert one["start_time"] == "2026-07-01T10:00:01+00:00"
    assert one["end_time"] == "2026-07-01T10:00:03.500000+00:00"
    assert one["extra"]["metadata"]["model"] == "m1"
    # Rounded up it would have passed.
    assert scores_of(synced, one) == {"total": (0.9999, "nearly"), "judge": (0.5, None)}
    sources = [item["feedback_source"]["metadata"] for item in synced.server.feedback.values()]
    assert {"model": "j"} in sources
    assert two["error"] == "ERROR: it hung \\xff up\\x00"
    assert experiments(synced)["clerk"]["name"] == f"clerk-{SHA[:10]}-r1"


def test_a_score_is_never_better_than_it_was() -> None:
    for value in (0.0, 0.1, 0.29, 0.5, 0.57, 1 / 3, 0.9999, 1.0):
        assert floor_of(value) == pytest.approx(value, abs=1e-4)
        assert floor_of(value) <= value
    assert floor_of(0.29) == 0.29
    assert floor_of(0.99999) == 0.9999


def test_many_trials_take_several_requests(synced: Kept) -> None:
    trials = [TrialResult("one", number, "PASS", (Score("k", 1.0),)) for number in range(1, 103)]
    upload(report_of(*trials))
    assert len(runs_of(synced, "clerk")) == len(synced.server.feedback) == 102
    assert synced.server.written.count("POST /runs/multipart") == 3


# The probe ------------------------------------------------------------------------------------


def test_where_traces_do_not_arrive_nothing_is_run(synced: Kept) -> None:
    synced.server.drops_traces = True
    done = run(synced)
    assert (done.code, done.out) == (3, "")
    assert re.fullmatch(
        r"guard: LangSmith \(.+\): 1 of 1 traces that it took can't be read 0\.3 s later: "
        r"they are lost, or late\n",
        done.err,
    )
    assert not (synced.repo.root.parent / "experiments").exists()
    assert experiments(synced) == {}
    synced.server.drops_traces = False
    assert run(synced).code == 0


def test_a_trace_may_be_late(synced: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard_langsmith.health.PATIENCE", 9.0)
    synced.server.late_looks = 4
    check_tracing()
    check_tracing()
    assert [p["name"] for p in synced.server.projects.values()] == ["guard-probe"]
    assert len(synced.server.runs) == 2


def test_without_a_key_nothing_is_run(synced: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGSMITH_API_KEY")
    said = "guard: langsmith: the environment variable LANGSMITH_API_KEY is not set\n"
    assert run(synced) == Outcome(3, "", said)
    monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_pt_wrong")
    done = run(synced)
    assert (done.code, done.out) == (3, "")
    assert "401 the key in LANGSMITH_API_KEY is refused" in done.err


# What goes wrong after the run ----------------------------------------------------------------


def test_a_run_that_can_not_be_uploaded_is_no_success(synced: Kept) -> None:
    failing: Mapping[str, str] = case("echo bye", id="wrong")
    synced.repo.commit("feat: more", dict(failing))
    done = run(synced, "one")
    assert done.code == 0, done
    assert synced.sync("--dry-run").out.count("+ ") == 1
    # It holds, and can't be told: what it established is shown nevertheless.
    synced.server.breaks = lambda asked: Answer(500) if asked.path == "/feedback" else None
    done = run(synced, "one", "--no-cache")
    assert done.code == 3
    assert "PASS" in done.out
    assert "sending scores: 500" in done.err
    assert "is not whole" in done.err
    assert run(synced, "one", "--no-cache", "--report-only").code == 3
    # What is worse outranks it.
    done = run(synced, "wrong")
    assert done.code == 1
    assert "dataset clerk (guard) has no example of case wrong" in done.err
    assert "do  guard sync langsmith" in done.err


def test_traces_that_are_lost_after_the_probe(synced: Kept) -> None:
    def lose(asked: Asked) -> Answer | None:
        later = asked.name == "POST /runs/multipart" and b"guard-probe" not in asked.data
        return Answer(202, {}) if later else None

    check_tracing()
    synced.server.breaks = lose
    with pytest.raises(TargetError, match=r"1 of 1 traces .+ is not whole") as raised:
        upload(report_of(TrialResult("one", 1, "PASS", (Score("k", 1.0),))))
    assert "they are lost, or late" in raised.value.message
    assert synced.server.feedback == {}
    synced.server.breaks = lambda asked: Answer(500) if "multipart" in asked.path else None
    with pytest.raises(TargetError, match="sending traces: 500"):
        upload(report_of(TrialResult("one", 1, "PASS"), run_id="r2"))


def test_what_it_would_compare_with_must_be_what_the_repository_says(synced: Kept) -> None:
    trial = TrialResult("one", 1, "PASS")
    row = synced.server.examples_of(DATASET)["one"]
    right = row["inputs"]
    row["inputs"] = {"utterance": "echo other"}
    with pytest.raises(TargetError, match=r"clerk \(guard\): example one was edited there") as seen:
        upload(report_of(trial))
    assert seen.value.hint == "guard sync langsmith"
    row["inputs"] = right
    with pytest.raises(TargetError, match=r"has no dataset other \(guard\) yet"):
        upload(report_of(trial, agent="other"))
    assert synced.server.runs == {}
    assert "clerk" in upload(report_of(trial))
