"""What a CI service says of the job it runs: the variables that its documentation names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from guard.ci.github import read_event

#: Whoever knows the title that a service doesn't tell.
TITLE, BODY = "GUARD_PR_TITLE", "GUARD_PR_BODY"


class Told(NamedTuple):
    """What a service tells; empty is what it doesn't."""

    service: str = ""
    target: str = ""
    """The branch that a pull request will be merged into."""
    base: str = ""
    """The commit of that branch."""
    head: str = ""
    """The last commit of the pull request itself."""
    before: str = ""
    """What the pushed branch named before; zeros where it is new."""
    branch: str = ""
    """The branch, or tag, that was pushed."""
    default: str = ""
    """The default branch."""
    title: str = ""
    body: str = ""

    @property
    def is_pull_request(self) -> bool:
        """Whether the job is a pull request's."""
        return bool(self.target or self.base)


class Service(NamedTuple):
    """The variables of one service; of several the first that is set."""

    name: str
    marker: str
    """Set by this service alone."""
    target: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    branch: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    body: tuple[str, ...] = ()


SERVICES = (
    Service(
        "GitLab CI",
        "GITLAB_CI",
        target=("CI_MERGE_REQUEST_TARGET_BRANCH_NAME",),
        # The first is there in pipelines of merged results alone.
        base=("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "CI_MERGE_REQUEST_DIFF_BASE_SHA"),
        head=("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA",),
        before=("CI_COMMIT_BEFORE_SHA",),
        branch=("CI_COMMIT_BRANCH", "CI_COMMIT_TAG"),
        default=("CI_DEFAULT_BRANCH",),
        title=("CI_MERGE_REQUEST_TITLE",),
        body=("CI_MERGE_REQUEST_DESCRIPTION",),
    ),
    Service(
        "Azure Pipelines",
        "TF_BUILD",
        target=("SYSTEM_PULLREQUEST_TARGETBRANCH",),
        head=("SYSTEM_PULLREQUEST_SOURCECOMMITID",),
        branch=("BUILD_SOURCEBRANCH",),
    ),
    Service(
        "Bitbucket Pipelines",
        "BITBUCKET_BUILD_NUMBER",
        target=("BITBUCKET_PR_DESTINATION_BRANCH",),
        base=("BITBUCKET_PR_DESTINATION_COMMIT",),
        branch=("BITBUCKET_BRANCH", "BITBUCKET_TAG"),
    ),
    Service(
        "Jenkins",
        "JENKINS_URL",
        target=("CHANGE_TARGET",),
        # GIT_PREVIOUS_COMMIT may be of a build that failed: it would be judged by none again.
        before=("GIT_PREVIOUS_SUCCESSFUL_COMMIT",),
        branch=("BRANCH_NAME", "GIT_BRANCH"),
        title=("CHANGE_TITLE",),
    ),
    Service("CircleCI", "CIRCLECI", branch=("CIRCLE_BRANCH", "CIRCLE_TAG")),
    Service(
        "Buildkite",
        "BUILDKITE",
        target=("BUILDKITE_PULL_REQUEST_BASE_BRANCH",),
        branch=("BUILDKITE_BRANCH",),
        default=("BUILDKITE_PIPELINE_DEFAULT_BRANCH",),
    ),
)
#: Services that hand the event over in a file, the first that is set naming them.
BY_EVENT = {
    "FORGEJO_ACTIONS": "Forgejo Actions",
    "GITEA_ACTIONS": "Gitea Actions",
    "GITHUB_ACTIONS": "GitHub Actions",
}


def told_by(environment: Mapping[str, str]) -> Told:
    """Return what the service around this process tells; nothing outside of any."""
    told = _told(environment)
    title, body = environment.get(TITLE, ""), environment.get(BODY, "")
    return told._replace(title=title or told.title, body=(body if title else told.body))


def _told(environment: Mapping[str, str]) -> Told:
    for marker, name in BY_EVENT.items():
        if _is_set(environment, marker):
            return Told(service=name, **read_event(environment))
    if _is_set(environment, "TRAVIS"):
        return _told_by_travis(environment)
    for service in SERVICES:
        if _is_set(environment, service.marker):
            return _by_variables(service, environment)
    return Told()


def _is_set(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").lower() not in ("", "false", "0")


def _by_variables(service: Service, environment: Mapping[str, str]) -> Told:
    def first(names: Iterable[str]) -> str:
        values = (environment.get(name, "").strip() for name in names)
        # Azure leaves the name of a variable that isn't there in its place: $(Name).
        return next((value for value in values if value and not value.startswith("$(")), "")

    fields: dict[str, str] = {
        name: first(getattr(service, name)) for name in Told._fields if name != "service"
    }
    for name in ("target", "branch", "default"):
        fields[name] = short_branch(fields[name])
    if not (fields["target"] or fields["base"]):
        fields["head"] = ""
    return Told(service=service.name, **fields)


def short_branch(name: str) -> str:
    """Return a branch as people name it."""
    for prefix in ("refs/heads/", "refs/tags/", "origin/"):
        name = name.removeprefix(prefix)
    return name


def _told_by_travis(environment: Mapping[str, str]) -> Told:
    branch = environment.get("TRAVIS_BRANCH", "")
    if _is_set(environment, "TRAVIS_PULL_REQUEST"):
        # Of a pull request it names the branch that is merged into.
        head = environment.get("TRAVIS_PULL_REQUEST_SHA", "")
        return Told("Travis CI", target=branch, head=head)
    before = environment.get("TRAVIS_COMMIT_RANGE", "").partition("..")[0]
    return Told("Travis CI", before=before, branch=branch)
