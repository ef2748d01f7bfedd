"""The commits that a push brings, each judged once by the offline rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from guard.git import Repo
from guard.hookruns.pushes import Tip
from guard.judging.judge import Judgement, cosmetic_count, joined
from guard.judging.ranges import CommitInfo, judge_range, own_commits
from guard.output import LOOK, printable, say
from guard.project import Project
from guard.store import Store
from guard.tree import Tree
from guard.wording.units import count

#: Notes of the rules that a push shows.
NOTES = 3
#: Tip → the commits that it brings first.
Own = Mapping[Tip, Sequence[CommitInfo]]


class Push(NamedTuple):
    """One push, and what all of it is judged with."""

    repo: Repo
    store: Store
    disabled: frozenset[str]
    tips: Sequence[Tip]
    not_in: Sequence[str]
    """What the other side has, as rev-list takes it."""

    def project(self, tree: str) -> Project:
        """Return the project of a tree."""
        return Project(self.repo, Tree(self.repo, tree), self.store, self.disabled)


def is_guarded(push: Push) -> bool:
    """Tell whether any tip has a guard.yaml, or any of its own commits touches one."""
    if any(push.project(tip.tree).has_config for tip in push.tips):
        return True
    commits = [tip.commit for tip in push.tips]
    found = push.repo.out(
        "rev-list", "--max-count=1", *commits, "--not", *push.not_in, "--", "guard.yaml"
    )
    return bool(found.strip())


def own_of_tips(push: Push) -> Own:
    """Return tip → the commits that it brings first; a tip that stands on another comes later.

    So each commit is judged once, and with no later commit that one of its tips lacks.
    """
    commits = [tip.commit for tip in push.tips]
    together = own_commits(push.repo, commits, push.not_in)
    place = {commit.id: number for number, commit in enumerate(together)}
    ordered = sorted((t for t in push.tips if t.commit in place), key=lambda t: place[t.commit])
    if len(ordered) == 1:
        return {ordered[0]: together}
    found: dict[Tip, Sequence[CommitInfo]] = {}
    for tip in ordered:
        earlier = [other.commit for other in found]
        found[tip] = own_commits(push.repo, [tip.commit], [*push.not_in, *earlier])
    return found


def judge_commits(push: Push, own: Own) -> Judgement:
    """Judge every own commit by the offline rules."""
    return joined(
        judge_range(push.repo, commits, push.store, push.disabled)
        for commits in own.values()
        if commits
    )


def tell_notes(judged: Judgement) -> None:
    """Say what is excused, and what is noted, of commits that may pass."""
    warnings = [f"{v.commit}: {v.message} ({v.rule})" for v in judged.violations]
    cosmetic = cosmetic_count(judged.cosmetic)
    lines = [f"exempt: {text}" for text in judged.exempt] + warnings
    lines += [*judged.notes, *cosmetic]
    for line in lines[:NOTES]:
        say(printable(f"{LOOK} {line}"))
    if len(lines) > NOTES:
        say(f"{LOOK} {count(len(lines) - NOTES, 'more note')}: guard check --base REV")
