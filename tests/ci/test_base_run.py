"""Whether what fails in CI was red before the change: shown beside it, never an excuse."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from guard.ci.base_run import beside_base
from guard.engine import Engine
from guard.reports.wording import base_sentence
from guard.results import CaseResult
from guard.running.budget import Budget
from guard.session import Session
from tests.clerk import BASE, BROKEN, CASE_PATH, CONFIG, FIXED, SKILL_PATH, case
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.drifting import SKILL, Brewer

Files = Mapping[str, str | bytes | None]
SERVICES = ("GITHUB_", "GITEA_", "FORGEJO_", "GITLAB_", "CI", "TF_BUILD", "BITBUCKET_")
OTHERS = ("JENKINS_URL", "CIRCLECI", "BUILDKITE", "TRAVIS")
HELD: Files = {SKILL_PATH: FIXED, CASE_PATH: case()}
#: A change of the agent that changes nothing of what it does.
MORE = "\nBe quick.\n"


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run on a service themselves."""
    for name in [*os.environ]:
        if name.startswith((*SERVICES, *OTHERS)):
            monkeypatch.delenv(name)


def on_topic(repo: ScratchRepo, base: Files, head: Files) -> str:
    """Commit the base to main and the head to topic; return the base's short id."""
    files = {**BASE, **base}
    repo.commit("feat: clerk", {path: text for path, text in files.items() if text is not None})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("feat: more", head)
    return repo.git("rev-parse", "--short=7", "main").strip()


def ci(repo: ScratchRepo, *options: str) -> Outcome:
    return call_guard(repo.root, "ci", "--base=main", *options)


def base_of(repo: ScratchRepo, *options: str) -> dict[str, Any]:
    found = json.loads(ci(repo, "--json=-", *options).out)
    assert found["exit_code"] == 1
    (one,) = [c for c in found["cases"] if c["id"] == "taxi"]
    assert one["verdict"] in ("FAIL", "XPASS")
    base: dict[str, Any] = one["base"]
    assert base["sha"] == repo.git("rev-parse", "main").strip()
    return base


def test_a_regression_of_the_head_held_before(repo: ScratchRepo) -> None:
    base = on_topic(repo, HELD, {SKILL_PATH: BROKEN})
    outcome = ci(repo, "--no-cache")
    assert outcome.code == 1
    assert f"  it held before your change: 2 of 2 on {base}\n" in outcome.out
    found = base_of(repo)
    assert (found["verdict"], found["passed"], found["trials"]) == ("PASS", 2, 2)
    # The first call left a receipt of the base's tree.
    assert found["reused"]


def test_what_was_red_before_stays_red(repo: ScratchRepo, tmp_path: Path) -> None:
    broken = {SKILL_PATH: BROKEN, CASE_PATH: case()}
    base = on_topic(repo, broken, {SKILL_PATH: BROKEN + MORE})
    said = f"it failed before your change too: 0 of 2 on {base}"
    names = ("markdown", "html", "junit")
    outcome = ci(repo, *(f"--{name}={tmp_path / name}" for name in names))
    assert outcome.code == 1
    assert f"  {said}\n" in outcome.out
    for name in names:
        assert said in (tmp_path / name).read_text()
    assert base_of(repo)["verdict"] == "FAIL"
    shown = call_guard(repo.root, "show", "taxi#base-1")
    assert shown.code == 0
    assert "Booked 4600 crowns" in shown.out


def test_a_client_that_changed_fails_on_both(
    repo: ScratchRepo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    brewer = Brewer(repo, tmp_path_factory.mktemp("brew"))
    assert call_guard(repo.root, "run").code == 0
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("feat: more", {SKILL: "Ask which currency, please.\n"})
    brewer.be("1.1", answers=False)
    outcome = ci(repo)
    assert outcome.code == 1
    assert outcome.out.startswith("! drift: brew is 1.1 now, was 1.0 when this suite last held (")
    assert "it failed before your change too: 0 of 2 on " in outcome.out


def test_what_holds_is_not_asked_of_the_base(repo: ScratchRepo) -> None:
    on_topic(repo, HELD, {SKILL_PATH: FIXED + MORE})
    found = json.loads(ci(repo, "--json=-").out)
    assert found["exit_code"] == 0
    assert "base" not in found["cases"][0]


def test_an_outdated_baseline_is_asked_too(repo: ScratchRepo) -> None:
    more = (
        "expected_baseline:\n  - {failing_keys: [reply_contains], note: not yet,"
        " observed_in: 2026-07}\n"
    )
    known = {SKILL_PATH: BROKEN, CASE_PATH: case(more=more)}
    on_topic(repo, known, {SKILL_PATH: FIXED})
    found = base_of(repo)
    assert found["verdict"] == "XFAIL"


@pytest.mark.parametrize(
    ("base", "head", "reason"),
    [
        ({SKILL_PATH: BROKEN}, {CASE_PATH: case()}, "the case is new"),
        ({"guard.yaml": None, CASE_PATH: case()}, {"guard.yaml": CONFIG}, "the case is new"),
        (
            {**HELD, SKILL_PATH: None, "agent/skills/other/SKILL.md": BROKEN},
            {SKILL_PATH: BROKEN},
            "there was no agent before: none of its own paths were there",
        ),
        (
            {SKILL_PATH: BROKEN, CASE_PATH: case('{reply_contains: ["Booked"]}')},
            {CASE_PATH: case()},
            "the agent is the same there, its case, checks or data are not",
        ),
    ],
)
def test_what_the_base_cannot_tell_is_said(
    repo: ScratchRepo, base: Files, head: Files, reason: str
) -> None:
    on_topic(repo, base, head)
    found = base_of(repo)
    assert (found["verdict"], found["trials"], found["reason"]) == (None, 0, reason)
    where = repo.git("rev-parse", "--short=7", "main").strip()
    assert f"  not run on {where}: {reason}\n" in ci(repo).out


def test_where_nothing_of_it_changed_one_run_stands_for_both(repo: ScratchRepo) -> None:
    base = on_topic(repo, {SKILL_PATH: BROKEN, CASE_PATH: case()}, {"README.md": "x\n"})
    outcome = ci(repo, "--all")
    assert outcome.code == 1
    said = f"it failed before your change too: all that it depends on is the same on {base}"
    assert f"  {said}\n" in outcome.out
    assert base_of(repo, "--all")["trials"] == 2


def test_data_that_the_change_brought_is_not_before_it(repo: ScratchRepo) -> None:
    base = {SKILL_PATH: BROKEN, CASE_PATH: case()}
    on_topic(repo, base, {"agent/notes.md": "more\n"})
    assert "data are not" in base_of(repo, "--all")["reason"]


def test_the_base_has_what_is_left_of_the_budget(repo: ScratchRepo) -> None:
    on_topic(repo, HELD, {SKILL_PATH: BROKEN})
    sha = repo.git("rev-parse", "main").strip()
    failed = CaseResult("taxi", "clerk", "FAIL")
    with Session.open(str(repo.root)) as session:
        start, tip = session.project("main"), session.project("HEAD")
        with Engine(tip, budget=Budget(max_seconds=0)) as engine:
            (case_,) = beside_base(engine, start, sha, [failed])
    assert case_.verdict == "FAIL"
    assert case_.base is not None
    assert case_.base.verdict == "OWED"
    assert base_sentence(case_.base) == (
        f"whether it failed before your change isn't known: OWED on {sha[:7]} (not started)"
    )


def test_a_stranger_s_head_is_not_run_on_either(repo: ScratchRepo) -> None:
    on_topic(repo, HELD, {SKILL_PATH: BROKEN})
    found = json.loads(ci(repo, "--untrusted-head", "--json=-").out)
    assert found["exit_code"] == 3
    assert [("base" in one, one["verdict"]) for one in found["cases"]] == [(False, "OWED")]
