"""A server's protected branch, the one that HEAD names; and the policy that it sets.

As it is before a push: git moves no ref until the hook has let it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from guard.errors import GuardError, UsageError
from guard.git import Repo, text_of
from guard.judging.merges import tree_of
from guard.judging.policy import Policy
from guard.output import shell_path, warn
from guard.project import RULE_HOOKS, Project
from guard.store import Store
from guard.tree import Tree

#: States of the branch that are looked at for one that can be read.
STATES = 20
#: What a policy is made of: guard.yaml, and code that a plugin may import.
DECIDING = ("guard.yaml", "*.py")
SHORT = 10


class Protected(NamedTuple):
    """The branch whose guard.yaml is in force."""

    ref: str
    """Its full name; empty where HEAD is detached."""
    commit: str
    """What it names; empty where it isn't there yet."""

    @property
    def name(self) -> str:
        """Its name, for people."""
        return self.ref.removeprefix("refs/heads/") or "HEAD"


class Found(NamedTuple):
    """What is known of the policy of a branch."""

    policy: Policy | None
    """None where the branch has no guard.yaml, or none that can be read."""
    problem: GuardError | None = None
    """Why its guard.yaml, as it is now, can't be used."""


def find_protected(repo: Repo) -> Protected:
    """Return the branch that HEAD names."""
    told = repo.run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).out
    return Protected(text_of(told.strip()), repo.resolve("HEAD^{commit}") or "")


def why_nothing(repo: Repo, protected: Protected) -> tuple[str, str]:
    """Return why no guard.yaml is in force, and the command of the server that may mend it."""
    if protected.commit:
        return f"there is no guard.yaml on {protected.name}", ""
    branches = text_of(repo.out("for-each-ref", "--count=2", "--format=%(refname)", "refs/heads"))
    first = branches.split("\n")[0]
    said = f"HEAD names {protected.name}, and there is no such branch"
    return said, f"git symbolic-ref HEAD {shell_path(first)}" if first else ""


def find_policy(
    repo: Repo, store: Store, protected: Protected, disabled: frozenset[str] = frozenset()
) -> Found:
    """Return the policy of the branch: the newest of its states whose guard.yaml can be used.

    So a state that can't doesn't open the repository to all, nor close it to what mends it.
    """
    problem: GuardError | None = None
    for commit in _states(repo, protected.commit) if protected.commit else ():
        project = Project(repo, tree_of(repo, commit), store, disabled)
        if not project.has_config:
            break
        try:
            _use(project)
        except UsageError as error:
            problem = problem or error
            continue
        if problem is not None:
            warn(f"guard.yaml of {protected.name} can't be used: {problem.message}")
            warn(f"judged by the one of {commit[:SHORT]} until {protected.name} has it mended")
        return Found(Policy(project, protected.name), problem)
    return Found(None, problem)


def _use(project: Project) -> None:
    """Load all that decides. Raises `UsageError` where any of it is wrong."""
    _ = project.agents
    project.plugins_with(*RULE_HOOKS)


def _states(repo: Repo, commit: str) -> Iterator[str]:
    """Yield the commit, and then the newest ones before it that had other deciding files."""
    yield commit
    listed = repo.out(
        *("rev-list", "--first-parent", f"--max-count={STATES}", commit, "--", *DECIDING),
        env={"GIT_LITERAL_PATHSPECS": "0"},
    )
    # The first one made the files what they are now.
    yield from listed.decode().split()[1:]


def untrusted(repo: Repo, store: Store, disabled: frozenset[str] = frozenset()) -> Policy:
    """Return the policy where nothing is trusted yet: guard's defaults, and no code."""
    empty = Project(repo, Tree(repo, repo.empty_tree), store, disabled)
    return Policy(empty, "nothing")
