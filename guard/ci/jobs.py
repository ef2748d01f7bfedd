"""Which job of a CI service runs here: evidence is kept with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from guard.ci.services import Told, short_branch, told_by
from guard.errors import UnreadableError

#: Of a pull request whose number no one tells, and which has no commit of its own.
SOME: Final = "of no known number"
#: Service → the variables with a pull request's number, and with the job's.
_NUMBERS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "GitHub Actions": ((), "GITHUB_RUN_ID"),
    "Gitea Actions": ((), "GITHUB_RUN_ID"),
    "Forgejo Actions": ((), "GITHUB_RUN_ID"),
    "GitLab CI": (("CI_MERGE_REQUEST_IID",), "CI_JOB_ID"),
    "Azure Pipelines": (
        ("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"),
        "BUILD_BUILDID",
    ),
    "Bitbucket Pipelines": (("BITBUCKET_PR_ID",), "BITBUCKET_BUILD_NUMBER"),
    "Jenkins": (("CHANGE_ID",), "BUILD_TAG"),
    "CircleCI": (("CIRCLE_PR_NUMBER", "CIRCLE_PULL_REQUEST"), "CIRCLE_BUILD_NUM"),
    "Buildkite": (("BUILDKITE_PULL_REQUEST",), "BUILDKITE_JOB_ID"),
    "Travis CI": (("TRAVIS_PULL_REQUEST",), "TRAVIS_JOB_ID"),
}


class Job(NamedTuple):
    """One job; without a service it is `guard ci` called by hand, or on a service unknown here."""

    service: str = ""
    branch: str = ""
    pull_request: str = ""
    """Its number, or what stands for it; empty for a job of a branch."""
    id: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        """What its evidence was made for."""
        return self.service, self.branch, self.pull_request


def job_here(environment: Mapping[str, str]) -> Job | None:
    """Return the job that this process belongs to; None outside of any service."""
    try:
        told = told_by(environment)
    except UnreadableError:
        # Whoever needs the event says so. Nobody else takes what is made here.
        return Job("unknown", pull_request=SOME)
    return job_told(told, environment) if told.service else None


def job_told(told: Told, environment: Mapping[str, str]) -> Job:
    """Return the job of a service that has told what it is about."""
    variables, job = _NUMBERS.get(told.service, ((), ""))
    ref = environment.get("GITHUB_REF", "")
    found = [environment.get(name, "").strip() for name in variables]
    number = next((n for n in found if n not in ("", "false") and not n.startswith("$(")), "")
    pulled = re.fullmatch(r"refs/pull/(\d+)/\w+", ref)
    if told.is_pull_request and not number:
        number = pulled[1] if pulled else told.head or SOME
    branch = "" if number else told.branch or short_branch(ref)
    return Job(told.service, branch, number, environment.get(job, ""))


def read_job(told: Any) -> Job | None:
    """Return the job that a receipt names; None where that is no job."""
    if not isinstance(told, Mapping):
        return None
    fields = cast("Mapping[str, Any]", told)
    values = [fields.get(name, "") for name in Job._fields]
    return Job(*values) if all(isinstance(value, str) for value in values) else None
