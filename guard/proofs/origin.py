"""How records came into regressions.json, read from history in one walk.

No hash is stored in a record: its origin is the newest commit that holds it where no parent
does, so that a rebase, an amend or a squash merge changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from guard.errors import UnreadableError
from guard.git import Repo
from guard.regressions import FILE, LIST_SCHEMA
from guard.store import Store

FORMAT = "origins-2"
#: Id of a record → how often it was reopened.
Present = Mapping[str, int]
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
    def _walked(self) -> Mapping[str, Any]:
        """What the walk found: ``now`` (id → reopened) and ``origins`` (id → commits)."""
        if not self.tip:
            return {"now": {}, "origins": {}}
        edges = hashlib.sha256("\n".join(sorted(self.shallow)).encode()).hexdigest()
        key = f"{self.tip} {edges}"
        known = self.store.get_parsed(FORMAT, key)
        if known is None:
            known = self._walk()
            self.store.put_parsed(FORMAT, {key: known})
        return cast("Mapping[str, Any]", known)

    def _walk(self) -> dict[str, Any]:
        call = ("rev-list", "--topo-order", "--parents", self.tip, "--", FILE)
        lines = [line.split() for line in self.repo.out(*call).decode().splitlines()]
        states: dict[str, Present] = {}
        origins: dict[str, list[str]] = {}
        for commit, *parents in reversed(lines):
            before = _joined(states[parent] for parent in parents)
            states[commit] = self._present(commit, before)
            for name, reopened in states[commit].items():
                if before.get(name, -1) < reopened:
                    origins.setdefault(name, []).insert(0, commit)
        return {"now": states[lines[0][0]] if lines else {}, "origins": origins}

    def _present(self, commit: str, before: Present) -> Present:
        """Return the records of a commit; one that can't be parsed counts as its parents'."""
        item = self.repo.objects.read(f"{commit}:{FILE}")
        if item is None:
            if self.repo.out("ls-tree", commit, "--", FILE):
                raise UnreadableError(
                    f"{FILE} of {commit[:12]} is missing (a partial clone?)",
                    "git fetch --refetch --no-filter",
                )
            return {}
        found = _records(item.data)
        return before if found is None else found

    def holds(self, record: str, reopened: int) -> bool:
        """Tell whether the record is committed, reopened as often as it is now."""
        return self.reopened(record) >= reopened

    def reopened(self, record: str) -> int:
        """Return how often the committed record was reopened; -1 where there is none."""
        return int(self._walked["now"].get(record, -1))

    def origins(self, record: str) -> Iterator[Origin]:
        """Yield the commits that brought the record in, the newest first.

        Raises `UnreadableError` at the one where a shallow clone hides what was before.
        """
        for commit in self._walked["origins"].get(record, ()):
            if commit in self.shallow:
                raise _cut_off(commit)
            yield Origin(commit, commit_header(self.repo, commit, "parent"))

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


def _joined(states: Iterable[Present]) -> Present:
    """Return what any of the parents holds, reopened as often as in the one that did most."""
    found: dict[str, int] = {}
    for state in states:
        for name, reopened in state.items():
            found[name] = max(reopened, found.get(name, 0))
    return found


def _records(content: bytes) -> Present | None:
    """Return id → reopened. Read leniently: a version of long ago may hold other keys."""
    try:
        document: Any = json.loads(content.decode("utf-8-sig"))
        if document.get("schema") == LIST_SCHEMA:
            return dict.fromkeys((r["regression_id"] for r in document["regressions"]), 0)
        return {
            str(name): int(record.get("reopened", 0))
            for name, record in document["regressions"].items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def commits_before(repo: Repo, before_revs: Sequence[str]) -> list[str]:
    """Return the commits that a working tree or index follows: HEAD, and those being merged."""
    merging = os.path.join(repo.git_dir, "MERGE_HEAD")
    revs = list(before_revs)
    if os.path.exists(merging):
        with open(merging, encoding="ascii") as file:
            revs += file.read().split()
    return revs
