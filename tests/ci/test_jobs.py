"""Which job of a service runs here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from guard.ci.jobs import SOME, Job, job_here, read_job

HEAD = "b" * 40
JOBS: Mapping[str, tuple[Mapping[str, str], Job]] = {
    "a merge request of GitLab": (
        {
            "GITLAB_CI": "true",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_JOB_ID": "11",
        },
        Job("GitLab CI", "", "7", "11"),
    ),
    "a branch of GitLab": (
        {"GITLAB_CI": "true", "CI_COMMIT_BRANCH": "main", "CI_JOB_ID": "11"},
        Job("GitLab CI", "main", "", "11"),
    ),
    "a pull request of Azure": (
        {
            "TF_BUILD": "True",
            "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
            "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER": "$(System.PullRequest.PullRequestNumber)",
            "SYSTEM_PULLREQUEST_PULLREQUESTID": "5",
            "BUILD_BUILDID": "9",
        },
        Job("Azure Pipelines", "", "5", "9"),
    ),
    "a branch of Buildkite": (
        {"BUILDKITE": "true", "BUILDKITE_PULL_REQUEST": "false", "BUILDKITE_BRANCH": "main"},
        Job("Buildkite", "main"),
    ),
    "a pull request of CircleCI, which tells no target": (
        {"CIRCLECI": "true", "CIRCLE_BRANCH": "topic", "CIRCLE_PULL_REQUEST": "https://x/pull/3"},
        Job("CircleCI", "", "https://x/pull/3"),
    ),
    "a pull request of Travis": (
        {"TRAVIS": "true", "TRAVIS_PULL_REQUEST": "3", "TRAVIS_BRANCH": "main"},
        Job("Travis CI", "", "3"),
    ),
    "a branch of Jenkins": (
        {"JENKINS_URL": "http://x", "BRANCH_NAME": "main", "BUILD_TAG": "j-1"},
        Job("Jenkins", "main", "", "j-1"),
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_by_its_variables(name: str) -> None:
    environment, job = JOBS[name]
    assert job_here(environment) == job


def on_github(folder: Path, name: str, event: object, **variables: str) -> dict[str, str]:
    (folder / "event.json").write_text(json.dumps(event))
    path = str(folder / "event.json")
    told = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": path}
    return {**told, "GITHUB_RUN_ID": "42", **variables}


PULL = {"pull_request": {"base": {"ref": "main", "sha": "a" * 40}, "head": {"sha": HEAD}}}


def test_a_pull_request_of_github_is_told_by_its_ref(tmp_path: Path) -> None:
    told = on_github(tmp_path, "pull_request", PULL, GITHUB_REF="refs/pull/7/merge")
    assert job_here(told) == Job("GitHub Actions", "", "7", "42")


def test_one_run_with_the_rights_of_its_base_is_told_by_its_commit(tmp_path: Path) -> None:
    """Its ref is the base's: it must not pass for a job of that branch."""
    told = on_github(tmp_path, "pull_request_target", PULL, GITHUB_REF="refs/heads/main")
    assert job_here(told) == Job("GitHub Actions", "", HEAD, "42")


@pytest.mark.parametrize("event", ["push", "schedule"])
def test_a_branch_of_github(tmp_path: Path, event: str) -> None:
    told = on_github(tmp_path, event, {}, GITHUB_REF="refs/heads/main")
    assert job_here(told) == Job("GitHub Actions", "main", "", "42")


def test_outside_of_any_service_there_is_no_job() -> None:
    assert job_here({"CI": "true"}) is None


def test_a_job_whose_event_cannot_be_read_stands_for_none() -> None:
    told = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": "/nowhere/event.json"}
    assert job_here(told) == Job("unknown", "", SOME)


def test_a_job_as_a_receipt_names_it() -> None:
    job = Job("GitLab CI", "main", "", "11")
    assert read_job(json.loads(json.dumps(job._asdict()))) == job
    assert read_job({"service": 7}) is None
    assert read_job("ci") is None
