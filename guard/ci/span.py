"""Which commits a job brings: from what was there before to the commit that is checked out.

Told by ``--base`` or by the service's event; where neither helps by the default branch, and that
is said. No guess leaves a commit out in silence: without a base there is no range. Nothing that the
author of the commits writes says where it begins: no message, no shape of a merge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from guard.ci.named import UNSHALLOW, unknown_base
from guard.ci.services import Told, short_branch
from guard.errors import UnreadableError, UsageError
from guard.git import Repo
from guard.judging.ranges import SHORT, CommitInfo, own_commits, read_commit, shallow_commits
from guard.proofs.origin import REMOTES, default_branches

_ID = r"[0-9a-f]{7,64}"
BASE_HINT = "guard ci --base REF    # what was there before; or: guard ci --all"


class Span(NamedTuple):
    """The commits from a base to the tip."""

    tip: str
    base: str
    """Empty where all of the history is new."""
    start: str
    """The commit whose tree the tip's is compared with: where the two parted."""
    not_in: tuple[str, ...]
    """What has been published, as rev-list takes it."""
    said: str
    """Since when, and who says so: to be said aloud."""
    known: bool = True
    """Whether there is a base at all; else no commit is judged."""

    def commits(self, repo: Repo) -> list[CommitInfo]:
        """Return the commits, the oldest first."""
        return own_commits(repo, [self.tip], self.not_in) if self.known else []


def find_span(
    repo: Repo, stated: str, told: Told, *, optional: bool = False, untrusted: bool = False
) -> Span:
    """Return the range that a job is about.

    ``stated`` is ``--base``; ``optional``: whether there may be none; ``untrusted``: whether the
    base must be one that the author of the commits can't have pushed. Raises `UsageError` where
    there is no base, `UnreadableError` where a shallow clone doesn't reach it.
    """
    tip = repo.resolve("HEAD^{commit}")
    if tip is None:
        raise UsageError("there is no commit to judge yet", "git commit")
    finder = _Finder(repo, told, tip, untrusted=untrusted)
    if stated:
        return finder.by_name(stated)
    finder.check_checkout()
    found = finder.by_pull_request() or finder.by_push()
    found = found or finder.by_default_branch("no base is named") or finder.by_upstream()
    if found is None and not optional:
        raise finder.nothing("no base is named, and the default branch has this commit already")
    if found is None:
        said = "no base is known, so no commit is judged by the rules"
        return Span(tip, tip, tip, (tip,), said, known=False)
    return found


class _Finder:
    """Looks for the base of one tip."""

    def __init__(self, repo: Repo, told: Told, tip: str, *, untrusted: bool) -> None:
        self.repo = repo
        self.told = told
        self.tip = tip
        self.untrusted = untrusted

    # Ways to a base --------------------------------------------------------------------

    def by_name(self, stated: str) -> Span:
        """Return the range since a revision that is named."""
        base = self._commit(stated)
        if base is not None:
            shown = "" if base.startswith(stated) else f" ({base[:SHORT]})"
            return self._span(base, f"since {stated}{shown}")
        if not re.fullmatch(_ID, stated):
            raise unknown_base(self.repo, stated)
        return self._without(stated)

    def check_checkout(self) -> None:
        """Refuse to judge something else than the pull request: its commit must be in HEAD."""
        head = self.told.head
        if not head or head == self.tip or head in read_commit(self.repo, self.tip).parents:
            return
        if self._commit(head) is None or not self._contains(head, self.tip):
            raise UsageError(
                f"HEAD is {self.tip[:SHORT]}, which doesn't hold the pull request's own commit "
                f"{head[:SHORT]}",
                f"check that commit out first: ref: {head}",
            )

    def by_pull_request(self) -> Span | None:
        """Return the range since what a pull request goes into."""
        told = self.told
        if not told.is_pull_request:
            return None
        branch = self._branch(told.target)
        base = self._commit(told.base) if told.base else None
        if base is None and told.base and shallow_commits(self.repo):
            raise self._cut_off(told.base)
        since = self._newest(base, branch)
        if since is None:
            return self._without(told.base or told.target)
        said = f"since {since[:SHORT]} of {told.target} ({told.service})"
        return self._span(since, said, branch)

    def _newest(self, base: str | None, branch: str | None) -> str | None:
        """Return the base of the event, or what its branch has become since: HEAD may hold that."""
        if base is None or branch is None:
            return base or branch
        went_on = self._contains(base, branch) and not self._contains(self.tip, branch)
        return branch if went_on else base

    def by_push(self) -> Span | None:
        """Return the range since what the pushed branch named before.

        A stranger may have pushed to any branch but the default one before, too.
        """
        if not self.told.before or (self.untrusted and not self._is_default()):
            return None
        base = self._commit(self.told.before)
        if base is None:
            return self._without(self.told.before)
        said = f"since {base[:SHORT]}, which was there before this push ({self.told.service})"
        return self._span(base, said, self._default_commit())

    def by_default_branch(self, why: str, *, new: bool = False) -> Span | None:
        """Return the range since the default branch; ``new``: whether the branch is."""
        found = next(self._default_branches(), None)
        if found is None:
            return self._span("", f"since the beginning ({why})") if new else None
        name, oid = found
        parted = self._merge_base(oid)
        if not parted and shallow_commits(self.repo):
            raise self._cut_off(oid)
        if parted != self.tip:
            since = f"since {parted[:SHORT]}, the merge base with {name}"
            apart = f"since the beginning, for {name} shares no commit"
            return self._span(oid, f"{since if parted else apart} ({why})")
        return self._in_default_branch(name, why) if new else None

    def _in_default_branch(self, name: str, why: str) -> Span:
        """Return the range of a new branch that the default branch holds, or is."""
        if self.told.branch and self.told.branch != short_branch(name):
            return self._span(self.tip, f"since {name}, which has all of them ({why})")
        return self._span("", f"since the beginning ({why})")

    def by_upstream(self) -> Span | None:
        """Return the range since what HEAD's branch follows."""
        upstream = None if self.untrusted else self._commit("@{upstream}")
        if self.told.service or upstream is None or self._merge_base(upstream) == self.tip:
            return None
        return self._span(upstream, f"since {upstream[:SHORT]}, the upstream (no base is named)")

    def _without(self, base: str) -> Span:
        """Return the range where the base that is named isn't here."""
        new = not base.strip("0")
        if not new and shallow_commits(self.repo):
            raise self._cut_off(base)
        shown = base[:SHORT] if re.fullmatch(_ID, base) else base
        why = "a new branch" if new else f"{shown} is not here (a forced push?)"
        found = self.by_default_branch(why, new=new)
        if found is None:
            raise self.nothing(why)
        return found

    # What git knows --------------------------------------------------------------------

    def _span(self, base: str, said: str, published: str | None = None) -> Span:
        """Return the span; ``published`` is left out too, unless it holds the tip itself."""
        not_in = [base] if base else []
        if published and published != base and not self._contains(self.tip, published):
            not_in.append(published)
        start = self._merge_base(base) or base if base else ""
        return Span(self.tip, base, start, tuple(not_in), said)

    def _commit(self, name: str) -> str | None:
        return self.repo.resolve(f"{name}^{{commit}}") if name.strip("0") else None

    def _branch(self, name: str) -> str | None:
        """Return the commit of a branch as the remote has it, else as it is here."""
        if not name:
            return None
        there = self._commit(f"refs/remotes/origin/{name}")
        here = None if there else self._commit(f"refs/heads/{name}")
        # One that holds HEAD is the author's own: a branch of a fork has any name.
        return there or (here if here and not self._contains(self.tip, here) else None)

    def _default_branches(self) -> Iterator[tuple[str, str]]:
        name = self.told.default
        named = (f"refs/remotes/origin/{name}", f"refs/heads/{name}") if name else ()
        for ref in (*named, *default_branches(self.repo)):
            commit = None if self.untrusted and _is_strangers(ref) else self._commit(ref)
            if commit is not None:
                yield _shown(ref), commit

    def _default_commit(self) -> str | None:
        """Return the default branch's commit, where another branch was pushed."""
        _, commit = next(self._default_branches(), ("", None))
        return commit if self.told.branch and not self._is_default() else None

    def _is_default(self) -> bool:
        """Tell whether it is the default branch that was pushed."""
        name, _ = next(self._default_branches(), ("", ""))
        return bool(name) and self.told.branch == short_branch(name)

    def _merge_base(self, other: str) -> str:
        done = self.repo.run("merge-base", other, self.tip, ok=None)
        return done.out.decode().strip() if done.code == 0 else ""

    def _contains(self, commit: str, other: str) -> bool:
        """Tell whether ``other`` has the commit."""
        return self.repo.run("merge-base", "--is-ancestor", commit, other, ok=None).code == 0

    def _cut_off(self, base: str) -> UnreadableError:
        return UnreadableError(
            f"the history doesn't reach {base[:SHORT]}: this is a shallow clone", UNSHALLOW
        )

    def nothing(self, why: str) -> UsageError:
        """Return the error for a range without a base."""
        return UsageError(f"no base to judge from: {why}", BASE_HINT)


def _is_strangers(ref: str) -> bool:
    """Tell whether a ref may be of a remote that was added for somebody's fork."""
    return ref.startswith("refs/remotes/") and ref.split("/")[2] not in REMOTES


def _shown(ref: str) -> str:
    return ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")
