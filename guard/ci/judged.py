"""What the offline rules say of a range: of its commits, its title, and the tree of its tip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from guard.change import change_of_trees
from guard.ci.services import Told
from guard.errors import GuardError
from guard.judging.judge import RANGE, Judgement, cosmetic_count, judge_commit
from guard.judging.ranges import CommitInfo, RangeJudge
from guard.messages.message import EXEMPT, WEAKENED, parse_message
from guard.model import Violation
from guard.project import Project
from guard.rules.behaviour import behaviour_of
from guard.rules.commit import JudgedCommit
from guard.wording.units import count

TITLE = "pull request title"


class Judged(NamedTuple):
    """What the rules say, and what kept them from it."""

    judgement: Judgement
    counts: tuple[str, ...] = ()
    """What the commits are, in numbers, a sentence each."""
    errors: tuple[GuardError, ...] = ()
    """Why commits could not be judged; all others are."""


class Behaviours:
    """Counts the commits that change how an agent behaves."""

    def __init__(self) -> None:
        self.changes = 0
        self.with_case = 0

    def hear(self, judged: JudgedCommit) -> None:
        """Take a commit that was judged."""
        found = behaviour_of(judged)
        self.changes += bool(found.changed)
        self.with_case += bool(found.changed) and not found.without_case

    def told(self) -> Iterator[str]:
        """Say how many carried a case, where any was there to carry one."""
        if self.changes:
            of = count(self.changes, "behaviour change")
            yield f"{self.with_case} of {of} carried a case"


def judge_commits(tip: Project, commits: Sequence[CommitInfo], today: str = "") -> Judged:
    """Judge each commit of the range; one that can't be judged keeps no other from it."""
    behaviours = Behaviours()
    errors: list[GuardError] = []
    judging = RangeJudge(
        tip.repo,
        commits,
        tip.store,
        tip.disabled,
        today=today,
        heard=behaviours.hear,
        failed=errors.append,
    )
    found = judging.judge()
    told = (*behaviours.told(), *cosmetic_count(found.cosmetic))
    return Judged(found, told, tuple(errors))


def judge_title(
    start: Project, tip: Project, told: Told, commits: Sequence[CommitInfo], today: str = ""
) -> Judgement:
    """Judge a pull request as the one commit that a squash merge makes of it.

    With ``fix.unit: range`` alone, where its title is known. What the commits' own trailers say
    stands in the squash too.
    """
    if not (told.title and tip.has_config and tip.policy.fix["unit"] == "range"):
        return Judgement()
    message = parse_message(squash_message(told, commits))
    change = change_of_trees(tip.repo, start.tree, tip.tree)
    found = judge_commit(start, tip, change, message, stage=RANGE, today=today)
    title = f"{TITLE} {message.header}"
    return found._replace(
        violations=tuple(v._replace(commit=title) for v in found.violations),
        notes=tuple(f"{TITLE}: {note}" for note in found.notes),
    )


def squash_message(told: Told, commits: Iterable[CommitInfo]) -> str:
    """Return the message of the squash: title, text, and our trailers of the commits."""
    trailers: list[str] = []
    for commit in commits:
        message = parse_message(commit.message)
        for key in (EXEMPT, WEAKENED):
            trailers += [f"{key}: {value}" for value in message.values(key)]
    body = told.body.replace("\r\n", "\n").strip()
    parts = (told.title.strip(), body, "\n".join(dict.fromkeys(trailers)))
    return "\n\n".join(part for part in parts if part) + "\n"


def without_repetition(
    of_tree: Iterable[Violation], of_commits: Judgement
) -> tuple[Violation, ...]:
    """Return what the rules say of the tree and of commits, each thing once."""
    known = {(v.rule, v.message) for v in of_commits.violations}
    fresh = (v for v in of_tree if (v.rule, v.message) not in known)
    return (*of_commits.violations, *fresh)
