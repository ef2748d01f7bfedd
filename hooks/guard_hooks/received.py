"""Judge what a server receives, by the policy of its protected branch."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from guard.config import FILE as CONFIG
from guard.errors import ExitCode, GuardError
from guard.git import Repo
from guard.hookruns.bounded import SetLimit
from guard.hookruns.pushes import Tip
from guard.judging.judge import Judgement, joined, readable
from guard.judging.policy import Policy
from guard.judging.protected import (
    Protected,
    find_policy,
    find_protected,
    untrusted,
    why_nothing,
)
from guard.judging.range_refusal import range_refusal
from guard.judging.ranges import CommitInfo, own_commits
from guard.messages.message import parse_message, weakenings
from guard.model import Violation
from guard.output import UNKNOWN, say, warn
from guard.plugin.switches import disabled_plugins
from guard.project import Project
from guard.regressions import FILE as RECORDS
from guard.regressions import Record
from guard.rules import case_weakened
from guard.rules.enforcement import warns_until
from guard.store import FOLDER, Store
from guard.tree import Tree
from guard.wording.units import count, names
from guard_hooks.pushed_commits import Push, own_of_tips, tell_notes
from guard_hooks.served_tips import served_refusal

STAGE = "pre-receive"
#: Refs whose commits were judged when they came. Not all refs: a host keeps the branch of a
#: pull request from elsewhere under a name of its own, past every hook.
PUBLISHED = ("--branches", "--tags", "--remotes")


class Received(NamedTuple):
    """One push to a server, and what it is judged with."""

    repo: Repo
    store: Store
    protected: Protected
    tips: Sequence[Tip]

    @property
    def coming(self) -> Tip | None:
        """The tip that the protected branch will have, where the push moves it."""
        return next((tip for tip in self.tips if self.protected.ref in tip.names), None)

    def tree(self, tip: Tip) -> Tree:
        """Return the tree of a tip."""
        return Tree(self.repo, tip.tree)


def judge_received(repo: Repo, tips: Sequence[Tip], set_limit: SetLimit) -> int:
    """Judge all tips by the protected branch as it is; return the exit code."""
    with open_store(repo) as store:
        received = Received(repo, store, find_protected(repo), tips)
        disabled = disabled_plugins()
        found = find_policy(repo, store, received.protected, disabled)
        policy = found.policy or untrusted(repo, store, disabled)
        check_coming(received, policy)
        if found.policy is None:
            if found.problem is None:
                tell_nothing(received)
                return ExitCode.OK
            refuse_unless_mended(received, policy, found.problem)
        set_limit(float(policy.project.config.hooks[STAGE]["max_seconds"]))
        return judge_commits(received, policy)


@contextmanager
def open_store(repo: Repo) -> Generator[Store]:
    """Open guard's folder in the git directory; where this user can't write there, another."""
    from guard.leftovers import make_folder, remove_folder

    kept = os.path.join(repo.common_dir, FOLDER)
    place = kept if os.path.lexists(kept) else repo.common_dir
    writable = os.path.isdir(place) and os.access(place, os.W_OK)
    place = repo.common_dir if writable else make_folder("scratch")
    # That it can't be used costs time alone, and is no news to whoever pushes.
    store = Store.open(place, warn=lambda text: None)
    try:
        yield store
    finally:
        store.close()
        if not writable:
            remove_folder(place)


def tell_nothing(received: Received) -> None:
    """Say in one line that no guard.yaml is in force, and what on the server may change that."""
    said, mend = why_nothing(received.repo, received.protected)
    warn(f"nothing is enforced yet: {said}{f' (on the server: {mend})' if mend else ''}")


def check_coming(received: Received, policy: Policy) -> None:
    """Raise `UsageError` where the protected branch would get a guard.yaml that can't be read."""
    tip = received.coming
    if tip is None:
        return
    coming = policy.as_data(received.tree(tip))
    try:
        _ = coming.agents
    except GuardError as error:
        error.message = f"{received.protected.name} at {tip.commit[:10]}: {error.message}"
        raise


def refuse_unless_mended(received: Received, policy: Policy, problem: GuardError) -> None:
    """Raise the problem of a guard.yaml that never could be used, unless this push mends it."""
    name, tip = received.protected.name, received.coming
    if tip and policy.as_data(received.tree(tip)).has_config:
        return
    problem.message = f"{CONFIG} of {name} can't be used: {problem.message}"
    problem.hint = f"mend it, and push that to {name}"
    raise problem


def judge_commits(received: Received, policy: Policy) -> int:
    """Judge each commit that is new here, once; say what is refused, or what is noted."""
    ranges = own_ranges(received, by_range=policy.project.policy.fix["unit"] == "range")
    own = [commit for commits in ranges for commit in commits]
    judged = joined(policy.judge(commits) for commits in ranges if commits)
    lost = lost_by_moving(received, policy, own)
    judged = judged._replace(violations=(*judged.violations, *lost))
    if judged.blocking:
        refuse(received, policy, judged)
        return ExitCode.REGRESSION
    if refused := served_refusal(new_tips(received, policy, own), by_data=True):
        say(refused)
        return ExitCode.REGRESSION
    if code := judge_checks(received, policy, own):
        return code
    tell_notes(judged)
    tell_owed(received, policy, own)
    return ExitCode.OK


def new_tips(
    received: Received, policy: Policy, own: Sequence[CommitInfo]
) -> list[tuple[Tip, Project]]:
    """Return the tips that are new here, each tree as its own guard.yaml describes it."""
    new = {commit.id for commit in own}
    tips = [tip for tip in received.tips if tip.commit in new]
    return [(tip, policy.as_data(received.tree(tip))) for tip in tips]


def judge_checks(received: Received, policy: Policy, own: Sequence[CommitInfo]) -> int:
    """Ask the records' checks on each tip that is new here; return the exit code."""
    new = {commit.id for commit in own}
    tips = [tip for tip in received.tips if tip.commit in new]
    if all(received.tree(tip).get(RECORDS.encode()) is None for tip in tips):
        return ExitCode.OK
    from guard_hooks import received_checks  # late: it brings the engine

    return received_checks.judge_checks(tips, policy)


def own_ranges(received: Received, *, by_range: bool) -> list[Sequence[CommitInfo]]:
    """Return the commits that are new here: together, or for each tip where that counts."""
    repo, tips = received.repo, received.tips
    known = [*PUBLISHED, *filter(None, [received.protected.commit])]
    if by_range:
        push = Push(repo, received.store, frozenset(), tips, known)
        return list(own_of_tips(push).values())
    return [own_commits(repo, [tip.commit for tip in tips], known)]


def lost_by_moving(
    received: Received, policy: Policy, own: Sequence[CommitInfo]
) -> list[Violation]:
    """Return what guard.yaml loses where the protected branch goes on beside what it was.

    Moved to a commit that was here before it loses nothing: that is git's to allow or deny.
    """
    tip, before = received.coming, received.protected.commit
    info = next((commit for commit in own if tip and commit.id == tip.commit), None)
    if info is None or is_ancestor(received.repo, before, info.id):
        return []
    new = policy.as_data(Tree(received.repo, info.tree))
    lost = case_weakened.losses(policy.project, new, [CONFIG.encode()])
    excused = {name: why for c in own for name, why in weakenings(parse_message(c.message)).items()}
    until = warns_until([policy.project], case_weakened.RULE)
    return [
        violation._replace(commit=info.title, warning=bool(until))
        for violation in case_weakened.violations(
            [loss for loss in lost if loss.subject == CONFIG], excused
        )
    ]


def is_ancestor(repo: Repo, commit: str, of: str) -> bool:
    """Tell whether a commit is part of another one's history."""
    asked = ("merge-base", "--is-ancestor", commit, of)
    return bool(commit) and repo.run(*asked, ok=(0, 1)).code == 0


def refuse(received: Received, policy: Policy, judged: Judgement) -> None:
    """Say what is refused, with the commands that mend it in the clone it comes from."""
    commit = judged.blocking[0].commit.partition(" ")[0]
    at = received.repo.resolve(f"{commit}^{{commit}}") or ""
    holding = (tip for tip in received.tips if is_ancestor(received.repo, at, tip.commit))
    tip = next(holding, received.tips[0])
    tree = received.tree(tip)
    older_than = "" if tree.get(CONFIG.encode()) else received.protected.name
    said = range_refusal(
        judged.blocking,
        received.repo,
        policy.judged(tree),
        "not pushed",
        head=tip.commit,
        older_than=older_than,
    )
    say(said)


def tell_owed(received: Received, policy: Policy, own: Sequence[CommitInfo]) -> None:
    """Name the records that come with the push: whether they are proven isn't known here."""
    new = {commit.id for commit in own}
    found: dict[str, None] = {}
    for tip in received.tips:
        if tip.commit in new:
            found |= dict.fromkeys(brought_records(policy, received.tree(tip)))
    if found:
        said = f"{UNKNOWN} {count(len(found), 'regression')} owed: {names(list(found))}"
        say(f"{said} (a server runs no case; CI proves them)")


def brought_records(policy: Policy, tree: Tree) -> list[str]:
    """Return the records of a tree that the protected branch doesn't have like this."""
    path = RECORDS.encode()
    if tree.get(path) == policy.project.tree.get(path):
        return []
    before = readable(policy.project)
    known: Mapping[str, Record] = before.records if before else {}
    return [
        name
        for name, record in policy.as_data(tree).records.items()
        if not record.retired and (name not in known or known[name].raw != record.raw)
    ]
