"""Git's bisection over a range of commits, by plumbing that writes nothing.

``git bisect`` itself moves HEAD and keeps its state in the git directory; `rev-list` weighs the
commits in the same way, and what is known of them is kept here.
"""

from __future__ import annotations

import os
import random
from typing import Final

from guard.errors import UnreadableError, UsageError
from guard.git import Repo
from guard.judging.ranges import read_commit

#: What is known of a commit.
GOOD: Final = "good"
BAD: Final = "bad"
SKIPPED: Final = "skipped"
UNSHALLOW: Final = "git fetch --unshallow"


class Search:
    """The commits after the good ones, up to the bad one, and what each turned out to be."""

    def __init__(self, repo: Repo, good: str, bad: str, *, first_parent: bool = False) -> None:
        self.repo = repo
        self.first_parent = first_parent
        self.marks: dict[str, str] = {bad: BAD, good: GOOD}

    def mark(self, commit: str, kind: str) -> None:
        """Note what a commit is; a later word on the same one counts."""
        self.marks[commit] = kind

    @property
    def bad(self) -> str:
        """The oldest commit that is known to be bad: each one found is an ancestor of the last."""
        return [commit for commit, kind in self.marks.items() if kind == BAD][-1]

    def following(self) -> str | None:
        """Return the commit that halves what is left; None where nothing more can be tried.

        Next to one that can't be tested stand others that can't: once the best is skipped, one
        farther away is taken, as `git bisect skip` does.
        """
        weighed = self._listed("--bisect-all")  # those first that halve it best
        open_ones = [commit for commit in weighed if commit not in self.marks]
        if not open_ones or open_ones[0] == weighed[0]:
            return next(iter(open_ones), None)
        skipped = sum(kind == SKIPPED for kind in self.marks.values())
        return open_ones[int(len(open_ones) * random.Random(skipped).random() ** 1.5)]

    def suspects(self) -> list[str]:
        """Return what may be the first bad commit: all that is left, the newest first."""
        return self._listed()

    def parents(self, commit: str) -> tuple[str, ...]:
        """Return the parents of a commit; the first alone where no other is followed."""
        found = read_commit(self.repo, commit).parents
        return found[:1] if self.first_parent else found

    def _listed(self, *options: str) -> list[str]:
        goods = [commit for commit, kind in self.marks.items() if kind == GOOD]
        followed = ("--first-parent",) if self.first_parent else ()
        call = ("rev-list", *options, *followed, self.bad, "--not", *goods, "--")
        return [line.split()[0] for line in self.repo.out(*call).decode().splitlines()]


def find_commit(repo: Repo, rev: str) -> str:
    """Return the full id of a commit. Raises `UsageError` where there is none of that name."""
    found = repo.resolve(f"{rev}^{{commit}}")
    if found is None:
        hint = UNSHALLOW if is_shallow(repo) else "git log --oneline -5"
        raise UsageError(f"{rev} names no commit here", hint)
    return found


def bases_between(repo: Repo, good: str, bad: str) -> list[str]:
    """Return the commits from which both come; none where the good one is one of them.

    Raises `UsageError` where they have none, and `UnreadableError` where a shallow clone ends
    before that is known.
    """
    bases = repo.run("merge-base", "--all", good, bad, ok=(0, 1)).out.decode().split()
    if not bases and is_shallow(repo):
        raise UnreadableError("the history ends before --good and --bad meet", UNSHALLOW)
    if not bases:
        raise UsageError("--good and --bad have no history in common", "git log --oneline -5")
    return [] if bases == [good] else bases


def is_shallow(repo: Repo) -> bool:
    """Tell whether history ends somewhere: a shallow clone."""
    return os.path.exists(os.path.join(repo.common_dir, "shallow"))
