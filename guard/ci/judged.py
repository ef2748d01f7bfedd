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
from guard.rules.behaviour import behaviour_of, brings_case
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

    def __init__(self, *, by_range: bool = False) -> None:
        """Make ready. ``by_range``: whether a later commit may bring the case."""
        self.changes = 0
        self._by_range = by_range
        self._lacking: list[set[str]] = []
        """For each change without a case, the agents whose case it lacks."""

    def hear(self, judged: JudgedCommit) -> None:
        """Take a commit that was judged."""
        found = behaviour_of(judged)
        if self._by_range:
            waited_for = set[str]().union(*self._lacking)
            brought = {agent for agent in waited_for if brings_case(judged, agent)}
            self._lacking = [left for one in self._lacking if (left := one - brought)]
        self.changes += bool(found.changed)
        if found.without_case:
            self._lacking.append(set(found.without_case))

    def told(self) -> Iterator[str]:
        """Say how many carried a case, where any was there to carry one."""
        if self.changes:
            of = count(self.changes, "behaviour change")
            with_case = self.changes - len(self._lacking)
            later = ", there or in a later commit" if self._by_range else ""
            yield f"{with_case} of {of} carried a case{later}"


def judge_commits(tip: Project, commits: Sequence[CommitInfo], today: str = "") -> Judged:
    """Judge each commit of the range; one that can't be judged keeps no other from it."""
    behaviours = Behaviours(by_range=is_by_range(tip))
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


def is_by_range(tip: Project) -> bool:
    """Tell whether what a fix lacks may come in a later commit."""
    return tip.has_config and tip.policy.fix["unit"] == "range"


def judge_title(
    start: Project,
    tip: Project,
    told: Told,
    commits: Sequence[CommitInfo],
    today: str = "",
    *,
    known: Judgement = Judgement(),  # noqa: B008  # it is immutable
) -> Judgement:
    """Judge a pull request as the one commit that a squash merge makes of it.

    With ``fix.unit: range`` alone, where its title is known. What the commits' own trailers say
    stands in the squash too. What is ``known`` of a commit isn't said again of the title.
    """
    if not (told.title and is_by_range(tip)):
        return Judgement()
    message = parse_message(squash_message(told, commits))
    change = change_of_trees(tip.repo, start.tree, tip.tree)
    found = judge_commit(start, tip, change, message, stage=RANGE, today=today)
    title = f"{TITLE} {message.header}"
    said = set(map(_key, known.violations))
    return found._replace(
        violations=tuple(v._replace(commit=title) for v in found.violations if _key(v) not in said),
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
    known = set(map(_key, of_commits.violations))
    return (*of_commits.violations, *(v for v in of_tree if _key(v) not in known))


def _key(violation: Violation) -> tuple[str, str]:
    return violation.rule, violation.message
