"""The commits that a push brings, each judged once by the offline rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from guard.config import FILE as CONFIG
from guard.errors import UsageError
from guard.git import Repo
from guard.hookruns.pushes import Tip
from guard.judging.judge import Judgement, cosmetic_count, joined
from guard.judging.ranges import CommitInfo, judge_range, own_commits
from guard.output import LOOK, printable, say
from guard.project import Project
from guard.rules.agent_without_case import HAS_NONE, has_case, note_of
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
    lines = "".join(f"{tip.commit}\n" for tip in push.tips).encode()
    call = ("rev-list", "--stdin", "--not", *push.not_in)
    # Simplified to a path, a walk leaves out the side that a merge doesn't take it from.
    walked = push.repo.out(call[0], "--full-history", *call[1:], "--", CONFIG, input=lines)
    if walked.strip():
        return True
    merges = push.repo.out(call[0], "--merges", *call[1:], input=lines)
    return bool(push.repo.out("diff-tree", "--stdin", "-m", "--", CONFIG, input=merges))


def own_of_tips(push: Push) -> Own:
    """Return tip → the commits that it brings first; a tip that stands on another comes later.

    So each commit is judged once, and with no later commit that one of its tips lacks.
    """
    commits = [tip.commit for tip in push.tips]
    together = own_commits(push.repo, commits, push.not_in)
    place = {commit.id: number for number, commit in enumerate(together)}
    ordered = sorted((t for t in push.tips if t.commit in place), key=lambda t: place[t.commit])
    known = {commit.id: commit for commit in together}
    left = set(known)
    return {tip: _taken(tip.commit, known, left, place) for tip in ordered}


def _taken(
    tip: str, known: Mapping[str, CommitInfo], left: set[str], place: Mapping[str, int]
) -> list[CommitInfo]:
    """Take a tip and what it stands on out of what is left; the oldest first."""
    found: list[str] = []
    waiting = [tip]
    while waiting:
        commit = waiting.pop()
        if commit in left:
            left.remove(commit)
            found.append(commit)
            waiting += known[commit].parents
    return [known[commit] for commit in sorted(found, key=place.__getitem__)]


def judge_commits(push: Push, own: Own) -> Judgement:
    """Judge every own commit by the offline rules; together where no later one may help it."""
    ranges: list[Sequence[CommitInfo]] = []
    alone: list[CommitInfo] = []
    for tip, commits in own.items():
        if _is_by_range(push.project(tip.tree)):
            ranges.append(commits)
        else:
            alone += commits
    ranges.append(alone)
    judged = (judge_range(push.repo, c, push.store, push.disabled) for c in ranges if c)
    return _without_mended(joined(judged), [push.project(tip.tree) for tip in own])


def _without_mended(judged: Judgement, tips: Sequence[Project]) -> Judgement:
    """Leave out that an agent had no case yet where every tip has one by now."""
    if not any(HAS_NONE in note for note in judged.notes):
        return judged
    found = [(name, has_case(tip, name, lenient=True)) for tip in tips for name in tip.agents]
    lacking = {name for name, has in found if not has}
    mended = tuple(f": {note_of(name)}" for name, has in found if has and name not in lacking)
    return judged._replace(notes=tuple(n for n in judged.notes if not n.endswith(mended)))


def _is_by_range(project: Project) -> bool:
    try:
        return bool(project.config.fix["unit"] == "range")
    except UsageError:
        return False  # the commit that brought it says what is wrong with it


def tell_notes(judged: Judgement) -> None:
    """Say what is excused, and what is noted, of commits that may pass."""
    warnings = [f"{v.commit}: {v.message} ({v.rule})" for v in judged.violations]
    lines = [f"exempt: {text}" for text in judged.exempt] + warnings
    lines += [*judged.notes, *cosmetic_count(judged.cosmetic)]
    for line in lines[:NOTES]:
        say(printable(f"{LOOK} {line}"))
    if len(lines) > NOTES:
        say(f"{LOOK} {count(len(lines) - NOTES, 'more note')}: guard check --base REV")
