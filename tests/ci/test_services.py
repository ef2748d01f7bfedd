"""What each service tells, by the variables that its documentation names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from guard.ci.services import Told, told_by
from guard.errors import UnreadableError

A, B, C, ZEROS = "a" * 40, "b" * 40, "c" * 40, "0" * 40
PULL_REQUEST: Mapping[str, Any] = {
    "pull_request": {
        "title": "fix: ask",
        "body": "Why.",
        "base": {"ref": "main", "sha": A},
        "head": {"ref": "topic", "sha": B},
    },
    "repository": {"default_branch": "main"},
}
OF_PULL_REQUEST = Told(target="main", base=A, head=B, default="main", title="fix: ask", body="Why.")


def event(folder: Path, name: str, content: Mapping[str, Any]) -> dict[str, str]:
    path = folder / "event.json"
    path.write_text(json.dumps(content))
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(path),
    }


EVENTS: dict[str, tuple[str, Mapping[str, Any], Told]] = {
    "pull request": ("pull_request", PULL_REQUEST, OF_PULL_REQUEST),
    "pull request target": ("pull_request_target", PULL_REQUEST, OF_PULL_REQUEST),
    "no text": (
        "pull_request",
        {"pull_request": {**PULL_REQUEST["pull_request"], "body": None}},
        OF_PULL_REQUEST._replace(body="", default=""),
    ),
    "push": (
        "push",
        {
            "before": A,
            "after": B,
            "ref": "refs/heads/topic/x",
            "repository": {"default_branch": "m"},
        },
        Told(before=A, branch="topic/x", default="m"),
    ),
    "new branch": (
        "push",
        {"before": ZEROS, "after": B, "ref": "refs/heads/new", "created": True},
        Told(before=ZEROS, branch="new"),
    ),
    "tag": ("push", {"before": ZEROS, "ref": "refs/tags/v1"}, Told(before=ZEROS, branch="v1")),
    "merge queue": (
        "merge_group",
        {"merge_group": {"base_ref": "refs/heads/main", "base_sha": A, "head_sha": C}},
        Told(target="main", base=A, head=C),
    ),
    "nightly": ("schedule", {"repository": {"default_branch": "main"}}, Told(default="main")),
    "odd": ("push", {"before": 7, "repository": "x"}, Told()),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_of_github(tmp_path: Path, name: str) -> None:
    kind, content, told = EVENTS[name]
    environment = event(tmp_path, kind, content)
    assert told_by(environment) == told._replace(service="GitHub Actions")


@pytest.mark.parametrize(
    ("marker", "name"),
    [("GITEA_ACTIONS", "Gitea Actions"), ("FORGEJO_ACTIONS", "Forgejo Actions")],
)
def test_those_who_speak_as_github_does(tmp_path: Path, marker: str, name: str) -> None:
    environment = event(tmp_path, "pull_request", PULL_REQUEST) | {marker: "true"}
    assert told_by(environment) == OF_PULL_REQUEST._replace(service=name)


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000])
def test_an_event_that_cannot_be_read_is_no_guess(tmp_path: Path, content: str) -> None:
    environment = event(tmp_path, "push", {})
    Path(environment["GITHUB_EVENT_PATH"]).write_text(content)
    with pytest.raises(UnreadableError, match="GITHUB_EVENT_PATH"):
        told_by(environment)


def test_an_event_that_is_no_object_tells_nothing(tmp_path: Path) -> None:
    environment = event(tmp_path, "push", {})
    Path(environment["GITHUB_EVENT_PATH"]).write_text("[]")
    assert told_by(environment) == Told("GitHub Actions")


VARIABLES: dict[str, tuple[dict[str, str], Told]] = {
    "GitLab, merge request": (
        {
            "GITLAB_CI": "true",
            "CI_COMMIT_BEFORE_SHA": ZEROS,
            "CI_DEFAULT_BRANCH": "main",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": A,
            "CI_MERGE_REQUEST_TITLE": "fix: ask",
            "CI_MERGE_REQUEST_DESCRIPTION": "Why.",
        },
        Told("GitLab CI", "main", A, "", ZEROS, "", "main", "fix: ask", "Why."),
    ),
    "GitLab, merged results": (
        {
            "GITLAB_CI": "true",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": C,
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": B,
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": A,
        },
        Told("GitLab CI", "main", C, B),
    ),
    "GitLab, push": (
        {
            "GITLAB_CI": "true",
            "CI_COMMIT_BEFORE_SHA": A,
            "CI_COMMIT_BRANCH": "topic",
            "CI_DEFAULT_BRANCH": "main",
        },
        Told("GitLab CI", before=A, branch="topic", default="main"),
    ),
    "Azure, pull request": (
        {
            "TF_BUILD": "True",
            "BUILD_REASON": "PullRequest",
            "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
            "SYSTEM_PULLREQUEST_SOURCECOMMITID": B,
            "BUILD_SOURCEBRANCH": "refs/pull/7/merge",
        },
        Told("Azure Pipelines", target="main", head=B, branch="refs/pull/7/merge"),
    ),
    "Azure, push": (
        {
            "TF_BUILD": "True",
            "SYSTEM_PULLREQUEST_TARGETBRANCH": "$(System.PullRequest.TargetBranch)",
            "BUILD_SOURCEBRANCH": "refs/heads/topic",
        },
        Told("Azure Pipelines", branch="topic"),
    ),
    "Bitbucket, pull request": (
        {
            "BITBUCKET_BUILD_NUMBER": "7",
            "BITBUCKET_PR_DESTINATION_BRANCH": "main",
            "BITBUCKET_PR_DESTINATION_COMMIT": A[:12],
            "BITBUCKET_BRANCH": "topic",
        },
        Told("Bitbucket Pipelines", target="main", base=A[:12], branch="topic"),
    ),
    "Jenkins, change": (
        {
            "JENKINS_URL": "https://ci.example.org/",
            "CHANGE_TARGET": "main",
            "CHANGE_TITLE": "fix: ask",
            "BRANCH_NAME": "PR-7",
            "GIT_PREVIOUS_COMMIT": A,
        },
        Told("Jenkins", target="main", branch="PR-7", title="fix: ask"),
    ),
    "Jenkins, push after a failure": (
        {
            "JENKINS_URL": "https://ci.example.org/",
            "GIT_BRANCH": "origin/topic",
            "GIT_PREVIOUS_COMMIT": B,
            "GIT_PREVIOUS_SUCCESSFUL_COMMIT": A,
        },
        Told("Jenkins", before=A, branch="topic"),
    ),
    "Jenkins, no build was well": (
        {"JENKINS_URL": "x", "BRANCH_NAME": "topic", "GIT_PREVIOUS_COMMIT": B},
        Told("Jenkins", branch="topic"),
    ),
    "CircleCI": (
        {"CIRCLECI": "true", "CIRCLE_BRANCH": "topic", "CIRCLE_SHA1": B},
        Told("CircleCI", branch="topic"),
    ),
    "Buildkite, pull request": (
        {
            "BUILDKITE": "true",
            "BUILDKITE_PULL_REQUEST": "7",
            "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
            "BUILDKITE_BRANCH": "topic",
            "BUILDKITE_PIPELINE_DEFAULT_BRANCH": "main",
        },
        Told("Buildkite", target="main", branch="topic", default="main"),
    ),
    "Buildkite, push": (
        {
            "BUILDKITE": "true",
            "BUILDKITE_PULL_REQUEST": "false",
            "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "",
            "BUILDKITE_BRANCH": "topic",
        },
        Told("Buildkite", branch="topic"),
    ),
    "Travis, pull request": (
        {
            "TRAVIS": "true",
            "TRAVIS_PULL_REQUEST": "7",
            "TRAVIS_BRANCH": "main",
            "TRAVIS_PULL_REQUEST_SHA": B,
            "TRAVIS_COMMIT_RANGE": f"{A[:12]}...{B[:12]}",
        },
        Told("Travis CI", target="main", head=B),
    ),
    "Travis, push": (
        {
            "TRAVIS": "true",
            "TRAVIS_PULL_REQUEST": "false",
            "TRAVIS_BRANCH": "topic",
            "TRAVIS_COMMIT_RANGE": f"{A[:12]}...{B[:12]}",
        },
        Told("Travis CI", before=A[:12], branch="topic"),
    ),
    "none": ({"CI": "true", "GITLAB_CI": "false", "TRAVIS": ""}, Told()),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_of_a_service(name: str) -> None:
    environment, told = VARIABLES[name]
    assert told_by(environment) == told


def test_a_title_that_someone_knows_counts_over_the_service_s() -> None:
    environment, told = VARIABLES["Jenkins, change"]
    found = told_by({**environment, "GUARD_PR_TITLE": "feat: b", "GUARD_PR_BODY": "text"})
    assert found == told._replace(title="feat: b", body="text")
    assert told_by({"GUARD_PR_BODY": "text"}) == Told()
