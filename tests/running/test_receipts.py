"""What voids the evidence of a case, and what leaves it: a receipt stands for a run."""

from __future__ import annotations

import json
import sqlite3
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from guard.engine import Engine
from guard.model import Policy
from guard.plugin import entrypoints
from guard.results import CaseResult, TrialResult
from guard.running.receipts import answers, make_receipt, shows_pass
from guard.session import Session
from guard.storage.records import Receipt
from guard.verdict import CASE_CODES
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, clerk, config, passes_in
from tests.running.dates import ago

SKILL = "---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n"
CHECKS = "def exact(observation, expected):\n    return True\n"
KEYS: dict[str, Any] = {
    "depends": ["evals/depends/**"],
    "evaluators": ["evals/code/checks.py:exact"],
    "always": {"command": {"argv": ["sh", "{repo}/evals/always.sh"]}},
}
EXPECTED = {
    "reply_contains": ["hello"],
    "command": {"argv": ["sh", "-c", "exec sh --opt={repo}/evals/named.sh"]},
}
OPTIONS = {"argv": ["sh", "{repo}/tools/run.sh", "{utterance}"]}
FILES: dict[str, str | bytes | None] = {
    "agent/data.md": "12\n",
    "agent/skills/tea/SKILL.md": SKILL,
    "evals/depends/table.csv": "1\n",
    "evals/code/checks.py": CHECKS,
    "evals/code/helper.py": "A = 1\n",
    "evals/always.sh": "true\n",
    "evals/named.sh": "true\n",
    "evals/fixtures/letter": "Dear\n",
    "tools/run.sh": 'eval "$1"\n',
    "other/readme.md": "x\n",
}
GIVEN = {"files": {"letter": {"from": "evals/fixtures/letter"}, "note": "hi"}}


def written(**changes: Any) -> dict[str, str | bytes | None]:
    """Return the repository's files, with changed keys of the agent."""
    agent = clerk(**{**KEYS, "options": OPTIONS, **changes})
    return {**config(agent), **FILES, **case("echo hello", EXPECTED, given=GIVEN)}


def key_of(repo: ScratchRepo) -> str:
    """Return the key of the evidence of case one on the working tree."""
    with Session.open(str(repo.root)) as session:
        project = session.project()
        return Engine(project).receipt_key(project.cases["one"])


def rewritten_case(**keys: Any) -> dict[str, str | bytes | None]:
    return {**case("echo hello", EXPECTED, **{"given": GIVEN, **keys})}


VOIDING: dict[str, dict[str, str | bytes | None]] = {
    "the case's utterance": {**case("echo hello there", EXPECTED, given=GIVEN)},
    "the case's expectation": {**case("echo hello", {"reply_contains": ["hell"]}, given=GIVEN)},
    "the case's trials": rewritten_case(trials=2),
    "the case's gate": rewritten_case(gate="quick"),
    "the case's rate": rewritten_case(trials=4, min_pass_rate=0.5),
    "the agent's python": written(python="python3"),
    "the case's preconditions": rewritten_case(preconditions=[{"match": "12"}]),
    "the case's given text": rewritten_case(given={"files": {**GIVEN["files"], "note": "ho"}}),
    "the agent's own path": {"agent/rules.md": "Be stern.\n"},
    "a fixture": {"evals/fixtures/letter": "Sir\n"},
    "a depends file": {"evals/depends/table.csv": "2\n"},
    "a new depends file": {"evals/depends/more.csv": "2\n"},
    "an evaluator's file": {"evals/code/checks.py": CHECKS + "\n"},
    "what an evaluator may import": {"evals/code/helper.py": "A = 2\n"},
    "a file that always names": {"evals/always.sh": "false\n"},
    "a file that the case names": {"evals/named.sh": "false\n"},
    "a file that the options name": {"tools/run.sh": "exit 1\n"},
    "a skill's description": {"agent/skills/tea/SKILL.md": SKILL.replace("Makes", "Serves")},
    "a skill beside it": {"agent/skills/milk/SKILL.md": SKILL.replace("tea", "milk")},
    "no skill beside it": {"agent/skills/tea/SKILL.md": None},
    "the agent's options": written(options={**OPTIONS, "env": {"A": "1"}}),
    "the agent's always": written(always={"exit_code": 0}),
    "the agent's env": written(env=["HOME"]),
    "the agent is deterministic": written(deterministic=True),
    "the agent's default trials": written(trials=3),
}
LEAVING: dict[str, dict[str, str | bytes | None]] = {
    "data in the workspace": {"agent/data.md": "13\n", "agent/more.md": "x\n"},
    "a skill's body": {"agent/skills/tea/SKILL.md": SKILL + "Wait.\n"},
    "a file elsewhere": {"other/readme.md": "y\n"},
    "another case": {**case(id="two")},
    "the case's prose": {
        path: str(text).replace("Why.", "Because.") for path, text in rewritten_case().items()
    },
    "what the case claims": rewritten_case(supports_claims=["polite"]),
    "how old a receipt may be": written(max_age="2d"),
}


@pytest.mark.parametrize("change", VOIDING.values(), ids=VOIDING)
def test_evidence_is_void_when_what_it_depended_on_changes(
    repo: ScratchRepo, change: dict[str, str | bytes | None]
) -> None:
    repo.write(written())
    before = key_of(repo)
    assert key_of(repo) == before
    repo.write(change)
    assert key_of(repo) != before


@pytest.mark.parametrize("change", LEAVING.values(), ids=LEAVING)
def test_evidence_stands_when_anything_else_changes(
    repo: ScratchRepo, change: dict[str, str | bytes | None]
) -> None:
    repo.write(written())
    before = key_of(repo)
    repo.write(change)
    assert key_of(repo) == before


def test_words_of_a_baseline_leave_evidence_and_what_it_excuses_voids_it(repo: ScratchRepo) -> None:
    def key(group: dict[str, object]) -> str:
        repo.write({**config(), **case(expected_baseline=[group])})
        return key_of(repo)

    known: dict[str, object] = {"failing_keys": ["reply_contains"]}
    assert key(known) == key({**known, "note": "seen", "observed_in": "0123456789abcdef"})
    assert key(known) != key({**known, "intermittent": True})


def test_moving_the_case_leaves_its_evidence(repo: ScratchRepo) -> None:
    repo.write(written())
    before = key_of(repo)
    (repo.root / "evals/one.md").rename(repo.root / "evals/renamed.md")
    assert key_of(repo) == before


def test_a_root_level_evaluator_is_voided_by_what_it_may_import(repo: ScratchRepo) -> None:
    files = written(evaluators=["checks.py:exact"])
    repo.write({**files, "checks.py": CHECKS, "helper.py": "A = 1\n"})
    before = key_of(repo)
    repo.write({"helper.py": "A = 2\n"})
    assert key_of(repo) != before


def test_a_variable_s_value_voids_and_one_that_is_not_passed_leaves(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(written(env=["MODE"]))
    monkeypatch.setenv("MODE", "a")
    before = key_of(repo)
    monkeypatch.setenv("OTHER_MODE", "a")
    assert key_of(repo) == before
    monkeypatch.setenv("MODE", "b")
    assert key_of(repo) != before


def test_the_code_of_an_installed_plugin_voids_where_it_has_a_say(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo.write(written())
    before = key_of(repo)
    install(tmp_path, "talker", TALKER)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    assert key_of(repo) == before  # a target of no agent here
    install(tmp_path, "grader", GRADER)
    entrypoints._installed.cache_clear()  # pyright: ignore[reportPrivateUsage]  # per process
    graded = key_of(repo)
    assert graded != before
    (tmp_path / "grader.py").write_text(GRADER + "A = 1\n")
    assert key_of(repo) != graded


TALKER = """\
from guard.plugin import Observation, Target, hookimpl

@hookimpl
def guard_targets():
    return [Target(name="talker", run=lambda trial: Observation(), real="x")]
"""
GRADER = """\
from guard.plugin import Evaluator, hookimpl

@hookimpl
def guard_evaluators():
    return [Evaluator("grader", lambda observation, expected: (), reads=("polite",))]
"""


def install(folder: Path, name: str, code: str) -> None:
    """Lay a distribution with one plugin into a folder of ``sys.path``."""
    (folder / f"{name}.py").write_text(code)
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "entry_points.txt").write_text(f"[guard]\n{name} = {name}\n")


# Which receipts answer ------------------------------------------------------------------------


def receipt(verdict: str = "PASS", age: timedelta = timedelta()) -> Receipt:
    date = (datetime.now(UTC) - age).isoformat(timespec="seconds")
    evidence = {"trials": [{"verdict": "PASS"}] * 4}
    return Receipt("k", "one", "clerk", verdict, 4, 4, date, evidence)


@pytest.mark.parametrize("verdict", ["PASS", "XFAIL"])
def test_what_holds_answers(verdict: str) -> None:
    assert answers(receipt(verdict), "30d")


@pytest.mark.parametrize(
    "verdict",
    [verdict for verdict in (*CASE_CODES, "", "proven") if verdict not in ("PASS", "XFAIL")],
)
def test_nothing_else_answers(verdict: str) -> None:
    assert not answers(receipt(verdict), "30d")


@pytest.mark.parametrize(
    ("age", "max_age", "stands"),
    [
        (timedelta(days=29), "30d", True),
        (timedelta(days=31), "30d", False),
        (timedelta(hours=1), "2h", True),
        (timedelta(hours=3), "2h", False),
        (timedelta(minutes=1), "2m", True),
        (timedelta(minutes=3), "2m", False),
        (timedelta(minutes=3), "0m", False),
        (timedelta(days=4000), "99999999999999d", True),
        (-timedelta(days=1), "30d", False),
    ],
)
def test_a_receipt_gets_too_old(age: timedelta, max_age: str, stands: bool) -> None:
    assert answers(receipt(age=age), max_age) is stands


@pytest.mark.parametrize("date", ["", "yesterday", "2026-01-01T00:00:00"])
def test_a_date_that_is_none_answers_nothing(date: str) -> None:
    assert not answers(receipt()._replace(date=date), "30d")
    assert not answers(None, "30d")


def test_a_verdict_without_its_trials_answers_nothing() -> None:
    bare = receipt()._replace(evidence={})
    assert not answers(bare, "30d")
    assert not answers(bare._replace(passed=0, trials=0), "30d")
    assert not answers(receipt()._replace(passed=5, trials=5), "30d")


def test_trials_are_judged_by_the_policy_that_asks() -> None:
    four = receipt()
    assert shows_pass(four, Policy("standard", None, 1.0, 9), deterministic=False)
    assert shows_pass(four, Policy(None, 4, 1.0, 9), deterministic=False)
    assert not shows_pass(four, Policy("critical", None, 1.0, 9), deterministic=False)
    assert not shows_pass(four, Policy(None, 5, 1.0, 9), deterministic=False)


def test_a_receipt_counts_graded_trials() -> None:
    trials = tuple(TrialResult("one", i, v) for i, v in enumerate(("PASS", "FAIL", "ERROR"), 1))
    made = make_receipt("k", CaseResult("one", "clerk", "ERROR", trials))
    assert (made.passed, made.trials, made.verdict) == (1, 2, "ERROR")
    assert len(made.evidence["trials"]) == 3


# In whole runs --------------------------------------------------------------------------------


def test_a_second_run_is_answered_and_says_since_when(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case()})
    first = guard.report()["cases"][0]
    assert len(first["runs"]) == 4
    second = guard.report()["cases"][0]
    assert second["runs"] == []
    assert (second["verdict"], second["passed"], second["trials"]) == ("PASS", 4, 4)
    assert second["receipt"] == first["receipt"]
    guard("run").says("by a receipt of 20")
    fresh = guard.report("--no-cache")["cases"][0]
    assert len(fresh["runs"]) == 4
    assert fresh["receipt"] != first["receipt"]


def test_a_failure_is_looked_at_again(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case("echo no", trials=1)})
    for _ in range(2):
        assert len(guard.report(ends_in=1)["cases"][0]["runs"]) == 1


@pytest.mark.parametrize(
    ("script", "keys", "verdict", "code"),
    [
        ("exit 9", {}, "ERROR", 3),
        ("echo hello", {"prerequisites": ["env:NOT_SET_ANYWHERE"]}, "SKIP", 0),
        ("echo busy", {"blocked_when_stdout_contains": ["busy"]}, "BLOCKED", 0),
    ],
)
def test_what_was_not_established_is_never_kept_as_a_pass(
    repo: ScratchRepo,
    guard: GuardCommand,
    script: str,
    keys: dict[str, Any],
    verdict: str,
    code: int,
) -> None:
    repo.commit("feat: clerk", {**config(), **case(script, trials=1, **keys)})
    for _ in range(2):
        assert guard.verdicts(ends_in=code) == {"one": verdict}
    guard("status").says("1 of 1 case has no evidence for these files")


def test_a_receipt_that_was_altered_is_void(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case("echo no", trials=1)})
    guard.report(ends_in=1)
    with sqlite3.connect(repo.root / ".git/guard/store.sqlite3") as db:
        (body,) = db.execute("SELECT body FROM receipts").fetchone()
        db.execute(
            "UPDATE receipts SET body = ?", [json.dumps({**json.loads(body), "verdict": "PASS"})]
        )
    db.close()
    outcome = guard("run").ends_in(1)
    assert "void" in outcome.err


def test_another_worktree_is_answered_by_the_same_receipts(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    guard.report()
    repo.git("worktree", "add", "--quiet", str(repo.root / "../second"))
    second = GuardCommand(ScratchRepo(repo.root.parent / "second"))
    assert second.report()["cases"][0]["runs"] == []


def test_an_old_receipt_is_paid_again(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(receipts={"max_age": "0m"}), **case(trials=1)})
    guard.report()
    with Session.open(str(repo.root)) as session:
        kept = session.store.all_receipts()[0]
        old = (datetime.now(UTC) - timedelta(minutes=2)).isoformat(timespec="seconds")
        session.store.put_receipt(kept._replace(date=old))
    assert len(guard.report()["cases"][0]["runs"]) == 1
    repo.write(config(clerk(max_age="1h"), receipts={"max_age": "0m"}))
    assert guard.report()["cases"][0]["runs"] == []


def test_more_trials_than_the_policy_are_no_receipt_for_it(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case(passes_in(1))})
    assert guard.verdicts("--trials", "1") == {"one": "PASS"}
    assert guard.verdicts(ends_in=1) == {"one": "FAIL"}


def answered(repo: ScratchRepo, *options: str) -> bool:
    """Run the one case, which holds; return whether a receipt answered."""
    outcome = call_guard(repo.root, "run", *options)
    assert outcome.code == 0, outcome
    return "by a receipt of" in outcome.out


def test_a_changed_variable_or_gate_runs_the_case_again(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODE", "a")
    repo.commit("feat: clerk", {**config(clerk(env=["MODE"])), **case(gate="quick"), "data": "x\n"})
    assert not answered(repo)
    repo.write({"data": "y\n"})
    monkeypatch.setenv("OTHER_MODE", "b")
    assert answered(repo)
    monkeypatch.setenv("MODE", "b")
    assert "owed: not run on these files" in call_guard(repo.root, "status").out
    assert not answered(repo)
    monkeypatch.setenv("MODE", "a")
    assert answered(repo)
    repo.write({**case(gate="standard")})
    assert not answered(repo)


def test_a_receipt_from_the_future_answers_nothing(repo: ScratchRepo) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    assert not answered(repo)
    with Session.open(str(repo.root)) as session:
        kept = session.store.all_receipts()[0]
        session.store.put_receipt(kept._replace(date=ago("-1d")))
    assert not answered(repo)
    assert answered(repo)  # by the one that was made just now


def test_a_pass_that_its_trials_do_not_show_answers_nothing(repo: ScratchRepo) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=2)})
    assert not answered(repo)
    with Session.open(str(repo.root)) as session:
        kept = session.store.all_receipts()[0]
        one = {**kept.evidence, "trials": kept.evidence["trials"][:1]}
        session.store.put_receipt(kept._replace(evidence=one, passed=1, trials=1))
    assert not answered(repo)


@pytest.mark.parametrize("damage", ["corrupt", "newer"])
def test_a_store_of_no_use_costs_a_run_and_no_verdict(repo: ScratchRepo, damage: str) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    assert not answered(repo)
    file = repo.root / ".git/guard/store.sqlite3"
    for name in ("store.sqlite3-wal", "store.sqlite3-shm"):
        (file.parent / name).unlink(missing_ok=True)
    if damage == "corrupt":
        file.write_bytes(b"no database at all " * 100)
    else:
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA user_version = 999")
        db.close()
    for _ in range(2):
        outcome = call_guard(repo.root, "run")
        assert outcome.code == 0
        assert "running without receipts" in outcome.err
        assert "by a receipt of" not in outcome.out
