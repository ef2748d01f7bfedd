"""A change isn't judged by what it adds to a baseline: in CI, before a push, and in its parts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from guard.judging.in_force import by_accepted_baselines
from guard.session import Session
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.hooks.installed import BAD_TALK, FILES, TALK, TALK_CASE, case, make_installed

Files = Mapping[str, str | bytes | None]
SERVICES = ("GITHUB_", "GITEA_", "FORGEJO_", "GITLAB_", "CI", "TF_BUILD", "BITBUCKET_")
OTHERS = ("JENKINS_URL", "CIRCLECI", "BUILDKITE", "TRAVIS")
KNOWN = "expected_baseline:\n  - {failing_keys: [reply_contains], note: not yet}\n"
FLAKY = KNOWN.replace("note: not yet", "intermittent: true")
LIMITED = KNOWN.replace("note: not yet", "only_when: {n: 0}")
#: The case whose agent says nothing fails on this key.
BROKEN: Files = {**FILES, TALK: BAD_TALK}
NOT_YET = (
    "what this change adds to the baseline of greets is not in force yet: judged by the baseline"
)


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run on a service themselves."""
    for name in [*os.environ]:
        if name.startswith((*SERVICES, *OTHERS)):
            monkeypatch.delenv(name)


def greets(more: str = "") -> str:
    return case("greets", "say hello", more)


def on_topic(repo: ScratchRepo, base: Files, head: Files) -> None:
    """Commit the base to main and the head to a branch."""
    repo.commit("feat: all", {path: text for path, text in base.items() if text is not None})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("test: known", head)


def ci(repo: ScratchRepo, *options: str) -> Outcome:
    return call_guard(repo.root, "ci", "--base=main", *options)


def verdict_of(outcome: Outcome, name: str = "greets") -> str:
    found: dict[str, Any] = json.loads(outcome.out)
    (verdict,) = [one["verdict"] for one in found["cases"] if one["id"] == name]
    return str(verdict)


# CI ---------------------------------------------------------------------------------------


def test_an_excuse_that_the_change_adds_excuses_nothing_in_it(repo: ScratchRepo) -> None:
    on_topic(repo, BROKEN, {TALK_CASE: greets(KNOWN)})
    # By itself the tree holds: the baseline is in force in what is run on it.
    assert call_guard(repo.root, "run", "greets").code == 0
    outcome = ci(repo)
    assert outcome.code == 1
    assert "✗ greets FAIL: 0 of 2 passed" in outcome.out
    assert outcome.out.count(f"\n{NOT_YET} of the base\n") == 1
    assert "it failed before your change too" in outcome.out
    plan = ci(repo, "--plan")
    assert (plan.code, NOT_YET in plan.out) == (0, True)


def test_once_the_base_has_it_it_is_in_force(repo: ScratchRepo) -> None:
    base = {**BROKEN, TALK_CASE: greets(KNOWN)}
    on_topic(repo, base, {TALK: f"{BAD_TALK}at all\n", TALK_CASE: greets(f"{KNOWN}timeout: 90\n")})
    outcome = ci(repo)
    assert outcome.code == 0
    assert "! greets XFAIL" in outcome.out
    assert "in force" not in outcome.out


def test_making_it_intermittent_hides_no_xpass(repo: ScratchRepo) -> None:
    on_topic(repo, {**FILES, TALK_CASE: greets(KNOWN)}, {TALK_CASE: greets(FLAKY)})
    outcome = ci(repo, "--json=-")
    assert (outcome.code, verdict_of(outcome)) == (1, "XPASS")


def test_taking_it_out_is_in_force_at_once(repo: ScratchRepo) -> None:
    fixed = {TALK: FILES[TALK], TALK_CASE: greets()}
    on_topic(repo, {**BROKEN, TALK_CASE: greets(KNOWN)}, fixed)
    outcome = ci(repo, "--json=-")
    assert (outcome.code, verdict_of(outcome)) == (0, "PASS")


def test_a_new_case_has_its_own(repo: ScratchRepo) -> None:
    on_topic(repo, {**BROKEN, TALK_CASE: None}, {TALK_CASE: greets(KNOWN)})
    outcome = ci(repo)
    assert outcome.code == 0
    assert "! greets XFAIL" in outcome.out
    assert "new with a baseline, which is in force at once: greets" in outcome.out


def test_the_whole_suite_says_it_too(repo: ScratchRepo) -> None:
    on_topic(repo, BROKEN, {TALK_CASE: greets(KNOWN)})
    outcome = ci(repo, "--all")
    assert outcome.code == 1
    assert NOT_YET in outcome.out


# A push -----------------------------------------------------------------------------------


def test_a_push_is_judged_by_what_the_other_side_has(repo: ScratchRepo, tmp_path: Path) -> None:
    installed = make_installed(repo, BROKEN)
    installed.git("init", "-q", "--bare", str(tmp_path / "up"))
    installed.git("remote", "add", "up", str(tmp_path / "up"))
    installed.git("push", "-q", "--no-verify", "up", "main")
    installed.bypass("test: known", {TALK_CASE: greets(KNOWN)})
    done = installed.run("git", "push", "up", "main")
    assert done.returncode != 0
    lines = done.stderr.splitlines()
    assert lines[1] == f"guard: {NOT_YET} of what is there already"
    assert lines[2].startswith("guard: not pushed: greets fails in main at ")
    assert len([line for line in lines if not line.startswith("error: ")]) <= 8

    # Whoever may push past the hook has accepted it.
    installed.git("push", "-q", "--no-verify", "up", "main")
    installed.bypass("docs: more", {"README.md": "A talk.\n"})
    done = installed.run("git", "push", "up", "main")
    assert done.returncode == 0, done.stderr
    assert "in force" not in done.stderr


# Its parts --------------------------------------------------------------------------------


def test_nothing_is_replaced_where_nothing_is_added(repo: ScratchRepo) -> None:
    on_topic(repo, {**BROKEN, TALK_CASE: greets(KNOWN)}, {TALK_CASE: greets(LIMITED)})
    with Session.open(str(repo.root)) as session:
        base, tip = session.project("main"), session.project("topic")
        assert by_accepted_baselines(base, tip) == (tip, ())
        assert by_accepted_baselines(tip, tip) == (tip, ())


def test_only_the_runs_see_another_baseline(repo: ScratchRepo) -> None:
    on_topic(repo, BROKEN, {TALK_CASE: greets(KNOWN)})
    with Session.open(str(repo.root)) as session:
        tip = session.project("topic")
        _ = tip.cases_by_path
        found = by_accepted_baselines(session.project("main"), tip).project
        assert found.cases["greets"].expected_baseline == ()
        assert found.cases_by_path[TALK_CASE] == (found.cases["greets"],)
        assert found.cases["stops"] is tip.cases["stops"]
        assert tip.cases["greets"].expected_baseline != ()
        assert tip.cases_by_path[TALK_CASE] == (tip.cases["greets"],)


def test_a_case_that_cannot_be_read_on_the_base_had_no_baseline(repo: ScratchRepo) -> None:
    unreadable = {**BROKEN, TALK_CASE: "---\nid: greets\ntrials: many\n---\n"}
    on_topic(repo, unreadable, {TALK_CASE: greets(KNOWN)})
    with Session.open(str(repo.root)) as session:
        found = by_accepted_baselines(session.project("main"), session.project("topic"))
        assert found.project.cases["greets"].expected_baseline == ()
        assert found.lines == (f"{NOT_YET} of the base",)


def test_a_guard_yaml_that_cannot_be_read_on_the_base_is_told(repo: ScratchRepo) -> None:
    head = {"guard.yaml": FILES["guard.yaml"], TALK_CASE: greets(KNOWN)}
    on_topic(repo, {**BROKEN, "guard.yaml": "agents: 3\n"}, head)
    with Session.open(str(repo.root)) as session:
        tip = session.project("topic")
        project, (line,) = by_accepted_baselines(session.project("main"), tip)
    assert project is tip
    said = "guard.yaml of the base can't be read, so baselines are as the change has them: "
    assert line.startswith(said)
