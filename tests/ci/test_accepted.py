"""Which evidence answers in `guard ci`: what its policy names, from where it may come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from guard.ci.accepted import Accepted
from guard.ci.jobs import Job
from guard.ci.services import Told
from guard.storage.records import CI, LOCAL, Receipt, made_in, seal
from tests.clerk import BASE, CONFIG, SKILL_PATH, case
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.running.dates import ago

RECEIPTS: Mapping[str, Any] = {"accept": [CI], "max_age": "30d"}
MAIN = Job("GitLab CI", "main")
TOPIC = Job("GitLab CI", "topic")
PULL = Job("GitLab CI", "", "7")
OTHER = Job("GitLab CI", "", "8")
BY_HAND = Job()


def receipt(job: Job | None, age: str = "1h", verdict: str = "PASS") -> Receipt:
    made = Receipt("k", "one", "clerk", verdict, 4, 4, ago(age))
    return seal(made_in(made, job._asdict() if job else {}))


def accepts(job: Job, made_in: Job | None, accept: list[str] | None = None) -> str:
    """Return why a receipt isn't accepted in a job; nothing where it is."""
    told = Told(target="main") if job.pull_request else Told(default="main")
    accepted = Accepted({**RECEIPTS, "accept": [CI] if accept is None else accept}, told, job)
    taken = accepted(receipt(made_in))
    assert taken == accepted.trials(made_in._asdict() if made_in else None)
    assert taken == (not accepted.lines())
    return "" if taken else accepted.lines()[0]


@pytest.mark.parametrize(
    ("job", "made_in"),
    [
        *((MAIN, MAIN), (TOPIC, TOPIC), (PULL, PULL), (BY_HAND, BY_HAND)),
        # What the branch holds that it goes into is trusted already.
        *((TOPIC, MAIN), (PULL, MAIN), (BY_HAND, MAIN), (PULL, Job("Jenkins", "main"))),
    ],
)
def test_evidence_of_the_same_place_or_of_where_it_goes(job: Job, made_in: Job) -> None:
    assert not accepts(job, made_in)


@pytest.mark.parametrize(
    ("job", "made_in", "why"),
    [
        (MAIN, None, "1 local receipt was not accepted: receipts.accept is ci"),
        (BY_HAND, None, "1 local receipt was not accepted: receipts.accept is ci"),
        (MAIN, PULL, "1 receipt of a pull request was not accepted"),
        (BY_HAND, PULL, "1 receipt of a pull request was not accepted"),
        (PULL, OTHER, "1 receipt of another pull request was not accepted"),
        (MAIN, TOPIC, "1 receipt of another branch was not accepted"),
        (PULL, TOPIC, "1 receipt of another branch was not accepted"),
        (MAIN, BY_HAND, "1 receipt made by hand was not accepted"),
    ],
)
def test_evidence_from_elsewhere(job: Job, made_in: Job | None, why: str) -> None:
    assert accepts(job, made_in) == why


def test_what_the_policy_names() -> None:
    assert not accepts(MAIN, None, [CI, LOCAL])
    assert not accepts(MAIN, None, [LOCAL])
    assert accepts(MAIN, MAIN, [LOCAL]).endswith("receipts.accept is local")
    assert accepts(MAIN, MAIN, []).endswith("receipts.accept is empty")


def test_a_receipt_of_ci_without_a_job_is_none() -> None:
    accepted = Accepted(RECEIPTS, Told(default="main"), MAIN)
    assert not accepted(seal(receipt(None)._replace(producer=CI)))
    assert accepted.lines() == ["1 receipt of no known job was not accepted"]


def test_evidence_that_the_base_finds_too_old() -> None:
    accepted = Accepted({**RECEIPTS, "max_age": "2h"}, Told(), MAIN)
    assert accepted(receipt(MAIN))
    assert not accepted(receipt(MAIN, "3h"))
    assert accepted(receipt(MAIN, "3h", verdict="FAIL"))
    accepted.ages = {"clerk": "4h"}
    assert accepted(receipt(MAIN, "3h"))


def test_each_reason_is_said_once_with_its_number() -> None:
    accepted = Accepted(RECEIPTS, Told(), MAIN)
    for age in ("1h", "2h", "1h"):
        accepted(receipt(None, age))
    accepted(receipt(PULL))
    for key in ("kept:k", "case:k"):
        red = receipt(PULL, verdict="FAIL")
        accepted(seal(red._replace(key=key, evidence={**red.evidence, "exact": "k"})))
    assert accepted.lines() == [
        "2 local receipts were not accepted: receipts.accept is ci",
        "2 receipts of a pull request were not accepted",
    ]


# At the command line --------------------------------------------------------------------------

ACCEPTING = CONFIG + "receipts: {accept: [ci, local]}\n"
ANSWERED = "answered by a receipt of"
REFUSED = "1 local receipt was not accepted: receipts.accept is ci"


@pytest.fixture
def changed(repo: ScratchRepo, no_service: None) -> ScratchRepo:
    """A branch whose commit affects the one case, which holds."""
    asking = BASE[SKILL_PATH].replace("Keep", "Ask which currency.\n\nKeep")
    repo.commit("feat: clerk", {**BASE, "evals/taxi.md": case(), SKILL_PATH: asking})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("feat: more", {SKILL_PATH: asking + "\nBe kind.\n"})
    return repo


@pytest.fixture
def no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run on a service themselves."""
    for marker in ("GITHUB_ACTIONS", "GITLAB_CI", "GITEA_ACTIONS", "FORGEJO_ACTIONS", "TRAVIS"):
        monkeypatch.delenv(marker, raising=False)


def ci(repo: ScratchRepo, *options: str) -> Outcome:
    return call_guard(repo.root, "ci", "--base=main", *options)


def test_a_local_run_answers_no_job_and_is_counted(changed: ScratchRepo) -> None:
    assert call_guard(changed.root, "run").code == 0
    assert "0 of them answered by receipts" in ci(changed, "--plan").out
    assert REFUSED in ci(changed, "--plan").out
    refused = ci(changed)
    assert refused.code == 0
    assert ANSWERED not in refused.out
    assert REFUSED in refused.out
    # What it made itself answers it, and the local hooks and commands.
    again = ci(changed)
    assert ANSWERED in again.out
    assert "not accepted" not in again.out
    assert ANSWERED in call_guard(changed.root, "run").out
    assert "not accepted" not in ci(changed, "--no-cache").out


def test_what_the_head_alone_accepts_is_not_accepted(changed: ScratchRepo) -> None:
    message = "chore: accept\n\nCase-Weakened: guard.yaml: to save money"
    changed.commit(message, {"guard.yaml": ACCEPTING})
    assert call_guard(changed.root, "run").code == 0
    outcome = ci(changed)
    assert outcome.code == 0, outcome
    assert REFUSED in outcome.out
    changed.git("branch", "-f", "main", "HEAD^")
    assert ANSWERED not in ci(changed, "--plan").out


def test_what_the_base_accepts_answers(changed: ScratchRepo) -> None:
    changed.git("checkout", "-q", "main")
    changed.commit("chore: accept", {"guard.yaml": ACCEPTING})
    changed.git("checkout", "-q", "topic")
    changed.git("rebase", "-q", "main")
    assert call_guard(changed.root, "run").code == 0
    outcome = ci(changed)
    assert ANSWERED in outcome.out
    assert "not accepted" not in outcome.out


def test_a_pull_request_s_job_answers_itself_and_not_the_branch(
    changed: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "7")
    assert ANSWERED not in ci(changed).out
    assert ANSWERED in ci(changed).out
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "8")
    assert "1 receipt of another pull request was not accepted" in ci(changed, "--plan").out
    monkeypatch.delenv("CI_MERGE_REQUEST_IID")
    monkeypatch.delenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
    monkeypatch.setenv("CI_COMMIT_BRANCH", "main")
    outcome = ci(changed)
    assert "1 receipt of a pull request was not accepted" in outcome.out
    assert ANSWERED not in outcome.out
    assert ANSWERED in ci(changed).out
