"""How records came into regressions.json, read from history.

No hash is stored in a record: its origin is the newest commit that holds it where no parent
does, so that a rebase, an amend or a squash merge changes nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from guard.errors import UnreadableError
from guard.git import Repo
from guard.proofs.walk import ALL_SIDES, NOWHERE, Walk, extend, walk_all
from guard.store import Store

FORMAT = "origins-3"
#: How many commits below a tip are looked at for an earlier walk, more in each step.
NEARBY = (4, 32, 256, 1024)
#: Where a default branch is looked for: a remote's before a local one, these remotes' first.
REMOTES = ("origin", "upstream")
BRANCHES = ("HEAD", "main", "master")


class Origin(NamedTuple):
    """One way in which a record came in, or came back."""

    commit: str
    """Empty for the tree under test itself: not committed yet."""
    parent: str
    """The commit before; empty where there is none."""


class History:
    """The history of regressions.json up to one commit."""

    def __init__(self, repo: Repo, store: Store, tip: str = "HEAD") -> None:
        self.repo = repo
        self.store = store
        self.tip = repo.resolve(f"{tip}^{{commit}}") or ""
        """Full id; empty before the first commit."""

    @cached_property
    def shallow(self) -> frozenset[str]:
        """The commits at which a shallow clone ends."""
        try:
            with open(os.path.join(self.repo.common_dir, "shallow"), encoding="ascii") as file:
                return frozenset(file.read().split())
        except OSError:
            return frozenset()

    @cached_property
    def _edges(self) -> str:
        """What a walk depends on besides its tip: where the history is cut off."""
        return hashlib.sha256("\n".join(sorted(self.shallow)).encode()).hexdigest()

    @cached_property
    def _walked(self) -> Walk:
        """What brought in the records that the tip holds."""
        return self._found("", self._extended) if self.tip else NOWHERE

    @cached_property
    def _walked_all_sides(self) -> Walk:
        """The same, by the sides of merges too from which the file did not come."""

        def walk() -> Walk:
            return walk_all(self.repo, self.tip, ALL_SIDES)

        return self._found(ALL_SIDES, walk) if self.tip else NOWHERE

    def _found(self, how: str, walk: Callable[[], Walk]) -> Walk:
        """Return what is kept of a walk; walk where nothing is."""
        key = self._key(self.tip) + how
        kept = self.store.get_parsed(FORMAT, key)
        if kept is not None:
            return Walk(*kept)
        found = walk()
        self.store.put_parsed(FORMAT, {key: found})
        return found

    def _key(self, tip: str) -> str:
        return f"{tip} {self._edges}"

    def _extended(self) -> Walk:
        """Walk from what an earlier walk found, where there is one not far below."""
        for old, known in self._earlier():
            found = extend(self.repo, self.tip, old, known)
            if found is not None:
                return found
            break
        return self._walk()

    def _earlier(self) -> Iterator[tuple[str, Walk]]:
        """Yield the nearest ancestors whose walk is kept."""
        commits = self._lines("rev-list", f"--max-count={max(NEARBY)}", self.tip)
        for start, end in pairwise((0, *NEARBY)):
            keys = {self._key(commit): commit for commit in commits[start:end]}
            kept = self.store.get_parsed_many(FORMAT, keys)
            yield from ((keys[key], Walk(*kept[key])) for key in keys if key in kept)

    def _walk(self) -> Walk:
        return walk_all(self.repo, self.tip)

    def holds(self, record: str, reopened: int) -> bool:
        """Tell whether the record is committed, reopened as often as it is now."""
        return self.reopened(record) >= reopened

    def reopened(self, record: str) -> int:
        """Return how often the committed record was reopened; -1 where there is none."""
        return self._walked.now.get(record, -1)

    def commits_of(self, record: str) -> Sequence[str]:
        """Return the commits that brought the record in, the newest first."""
        return self._walked.origins.get(record, ())

    def origins(self, record: str) -> Iterator[Origin]:
        """Yield the commits that brought the record in, the newest first.

        Raises `UnreadableError` at the one where a shallow clone hides what was before.
        """
        for commit in self.commits_of(record):
            yield self._origin(commit)

    def left_behind(self, record: str) -> Iterator[Origin]:
        """Yield the commits that brought it in on sides which a merge took nothing of.

        Such a merge took the other side's whole file: `origins` knows that side alone.
        """
        known = self.commits_of(record)
        for commit in self._walked_all_sides.origins.get(record, ()):
            if commit not in known:
                yield self._origin(commit)

    def _origin(self, commit: str) -> Origin:
        if commit in self.shallow:
            raise _cut_off(commit)
        return Origin(commit, commit_header(self.repo, commit, "parent"))

    def before_branch(self, origin: Origin) -> str:
        """Return the commit before the whole branch that brought the origin; empty for none.

        That is the first parent of the merge that brought it into the chain of first parents,
        or, unmerged, where it left the default branch.
        """
        if not self.tip:
            return ""
        merged = self._merge_that_brought(origin.commit) if origin.commit else ""
        return merged or self._fork_point(origin.commit or self.tip)

    def _merge_that_brought(self, commit: str) -> str:
        call = ("rev-list", "--topo-order", "--parents", f"{commit}..{self.tip}")
        parents = {line[0]: line[1:] for line in map(str.split, self._lines(*call))}
        after = {commit}
        for child in reversed(parents):
            if after.intersection(parents[child]):
                after.add(child)
        current = self.tip
        while current in after and current != commit:
            following = parents[current][0]
            if following not in after:
                return following
            current = following
        return ""

    def _lines(self, *call: str) -> list[str]:
        return self.repo.out(*call).decode().splitlines()

    def _fork_point(self, commit: str) -> str:
        for name in default_branches(self.repo):
            branch = self.repo.resolve(f"{name}^{{commit}}")
            if branch is None:
                continue
            done = self.repo.run("merge-base", branch, commit, ok=None)
            base = done.out.decode().strip()
            return "" if base == commit else base
        return ""


def default_branches(repo: Repo) -> Iterator[str]:
    """Yield the refs in which a default branch is looked for, the likeliest first."""
    patterns = [f"refs/remotes/*/{name}" for name in BRANCHES]
    listed = repo.out("for-each-ref", "--format=%(refname)", *patterns)
    found = listed.decode("utf-8", "surrogateescape").splitlines()
    remotes = dict.fromkeys((*REMOTES, *(name.split("/")[2] for name in found)))
    for remote in remotes:
        yield from (n for b in BRANCHES if (n := f"refs/remotes/{remote}/{b}") in found)
    yield from (f"refs/heads/{name}" for name in BRANCHES[1:])


def commit_header(repo: Repo, commit: str, name: str) -> str:
    """Return the first value of a commit's header: its ``tree``, its first ``parent``.

    Read from the commit itself, whatever a walk showed; empty where the header has none.
    """
    item = repo.objects.read(commit)
    if item is None or item.kind != "commit":
        raise UnreadableError(
            f"commit {commit[:12]} is not here: a shallow clone", "git fetch --unshallow"
        )
    start = name.encode() + b" "
    lines = item.data.partition(b"\n\n")[0].splitlines()
    return next((line[len(start) :].decode() for line in lines if line.startswith(start)), "")


def _cut_off(commit: str) -> UnreadableError:
    return UnreadableError(
        f"the history ends at {commit[:12]}, where this record may have come in: a shallow clone",
        "git fetch --unshallow",
    )


def commits_before(repo: Repo, before_revs: Sequence[str]) -> list[str]:
    """Return the commits that a working tree or index follows: HEAD, and those being merged."""
    merging = os.path.join(repo.git_dir, "MERGE_HEAD")
    revs = list(before_revs)
    if os.path.exists(merging):
        with open(merging, encoding="ascii") as file:
            revs += file.read().split()
    return revs
