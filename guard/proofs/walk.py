"""Which commits brought records in: regressions.json read through history, newest first.

One walk answers for all records. A later tip extends what an earlier one found by its new
commits alone, wherever that is sure to come to the same; else all is walked anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from guard.errors import UnreadableError
from guard.git import Repo
from guard.objects import FETCH_MISSING
from guard.regressions import FILE, LIST_SCHEMA
from guard.tree import Entry, parse_folder

#: Id of a record → how often it was reopened.
Present = Mapping[str, int]
#: Commit → its parents; children come before them.
Parents = dict[str, Sequence[str]]

#: Follows every parent of a merge, also where the file came from one alone.
ALL_SIDES: Final = "--full-history"
#: New commits above which a walk that git prunes by itself is quicker.
MOST_NEW: Final = 5000
#: Older commits, besides the earlier tip, on which new ones may rest.
MOST_FORKS: Final = 8


class Walk(NamedTuple):
    """What a walk found. Made of lists and mappings alone: it is kept as JSON."""

    now: Present
    """The records at the tip."""
    origins: Mapping[str, Sequence[str]]
    """Record → the commits that brought it in, the newest first."""
    listed: Sequence[str]
    """Every commit that changed the file, in no order that means anything."""


NOWHERE: Final = Walk({}, {}, ())


def walk_all(repo: Repo, tip: str, *options: str) -> Walk:
    """Read the whole history of the file."""
    graph = _listing(repo, *options, tip, "--", FILE)
    if not graph.parents:
        return NOWHERE
    states: dict[str, Present] = {}
    found = _origins(_Versions(repo), graph, states)
    head = next(iter(graph.parents))
    return Walk(states[head], found, list(graph.parents))


class _Graph(NamedTuple):
    """Commits with their parents, children before them, and the times at which they were made."""

    parents: Parents
    times: Mapping[str, int]


def _listing(repo: Repo, *arguments: str) -> _Graph:
    call = ("rev-list", "--topo-order", "--parents", "--timestamp", *arguments)
    lines = [line.split() for line in repo.out(*call).decode().splitlines()]
    return _Graph({line[1]: line[2:] for line in lines}, {line[1]: int(line[0]) for line in lines})


def _origins(
    versions: _Versions, graph: _Graph, states: dict[str, Present]
) -> dict[str, Sequence[str]]:
    """Return the origins among these commits, and enter what each of them holds."""
    found: dict[str, list[str]] = {}
    for commit in reversed(graph.parents):
        before = _joined(states[parent] for parent in graph.parents[commit])
        # One that can't be parsed counts as its parents'.
        state = versions.present(commit)
        states[commit] = before if state is None else state
        if states[commit] is before:
            continue
        for name, reopened in states[commit].items():
            if before.get(name, -1) < reopened:
                found.setdefault(name, []).append(commit)
    return _sorted(found, graph)


def _sorted(found: Mapping[str, Sequence[str]], graph: _Graph) -> dict[str, Sequence[str]]:
    """Sort each record's commits: a later one first, of parallel ones the last made.

    A function of these commits alone, so that an extended walk sorts as a whole one does.
    """
    several = [commit for commits in found.values() if len(commits) > 1 for commit in commits]
    bits = {commit: 1 << number for number, commit in enumerate(dict.fromkeys(several))}
    below: dict[str, int] = {}
    for commit in reversed(graph.parents) if bits else ():
        below[commit] = 0
        for parent in graph.parents[commit]:
            below[commit] |= below.get(parent, 0) | bits.get(parent, 0)

    def newest_first(commits: Sequence[str]) -> Iterator[str]:
        left = set(commits)
        while len(left) > 1:
            top = [c for c in left if not any(below[other] & bits[c] for other in left)]
            newest = max(top, key=lambda commit: (graph.times[commit], commit))
            left.remove(newest)
            yield newest
        yield from left

    return {name: list(newest_first(commits)) for name, commits in found.items()}


# Extending an earlier walk -------------------------------------------------------------------


class _NewCommits:
    """The commits since an earlier tip, simplified as git does it for a whole history."""

    def __init__(self, repo: Repo, tip: str, old: str) -> None:
        self.tip = tip
        self.old = old
        self.graph = _listing(repo, tip, f"^{old}")
        self.versions = _Versions(repo)

    def follow_old(self) -> bool:
        """Tell whether they come after the old tip, and are few enough to be read one by one."""
        parents = self.graph.parents
        return len(parents) <= MOST_NEW and any(self.old in line for line in parents.values())

    def is_new(self, commit: str) -> bool:
        return commit in self.graph.parents

    def followed(self, commit: str) -> Sequence[str]:
        """Return the parents that git follows: one from which the file came is enough."""
        parents = self.graph.parents[commit]
        entry = self.versions.entry
        same = next((parent for parent in parents if entry(parent) == entry(commit)), None)
        return parents if same is None else (same,)

    def changes(self, commit: str) -> bool:
        """Tell whether the file differs from that of every parent."""
        entry, parents = self.versions.entry(commit), self.graph.parents[commit]
        return entry not in map(self.versions.entry, parents) if parents else entry is not None

    @cached_property
    def reached(self) -> frozenset[str]:
        """What is followed from the tip on: new commits, and the old ones that they rest on."""
        seen, waiting = {self.tip}, [self.tip]
        while waiting:
            commit = waiting.pop()
            if self.is_new(commit):
                fresh = [parent for parent in self.followed(commit) if parent not in seen]
                seen.update(fresh)
                waiting += fresh
        return frozenset(seen)

    def forks(self) -> list[str]:
        """Return the old commits, besides the tip, that new ones rest on."""
        return [c for c in self.reached if not self.is_new(c) and c != self.old]

    def after_old(self) -> set[str]:
        """Return the commits that come after the old tip, by what is followed."""
        found = {self.old}
        for commit in reversed(self.graph.parents):
            if commit in self.reached and not found.isdisjoint(self.followed(commit)):
                found.add(commit)
        return found

    def changing(self) -> _Graph:
        """Return those that change the file, and what each of them changes it from."""
        order = [c for c in self.graph.parents if c in self.reached and self.changes(c)]
        near: Parents = {c: [n for p in self.followed(c) for n in self.nearest(p)] for c in order}
        return _Graph(near, self.graph.times)

    def nearest(self, commit: str) -> Iterator[str]:
        """Yield the next commit downwards that changes the file, or is old."""
        while self.is_new(commit) and not self.changes(commit):
            parents = self.followed(commit)
            if not parents:
                return
            commit = parents[0]
        yield commit


def extend(repo: Repo, tip: str, old: str, known: Walk) -> Walk | None:
    """Return the walk from a tip by what is known from an older one.

    None where the old tip isn't among its ancestors, or where it isn't sure that a whole walk
    would come to the same: where git would not follow the old tip at all, where a new commit
    rests on one that the earlier walk passed by, and where a record came in on two sides.
    """
    new = _NewCommits(repo, tip, old)
    if not new.follow_old() or old not in new.reached:
        return None
    states: dict[str, Present] = {old: known.now}
    states.update(_of_forks(repo, new, known))
    if not new.reached.difference(new.graph.parents).issubset(states):
        return None
    graph = new.changing()
    found = _origins(new.versions, graph, states)
    after = new.after_old()
    if any(not after.issuperset(c) for name, c in found.items() if name in known.origins):
        return None
    names = dict.fromkeys((*known.origins, *found))
    origins = {n: [*found.get(n, ()), *known.origins.get(n, ())] for n in names}
    now = [states[commit] for commit in new.nearest(tip)]
    return Walk(_joined(now), origins, [*graph.parents, *known.listed])


def _of_forks(repo: Repo, new: _NewCommits, known: Walk) -> dict[str, Present]:
    """Return what older commits hold whose file came from what the earlier walk went through."""
    forks = new.forks()
    if len(forks) > MOST_FORKS:
        return {}
    listed, found = set(known.listed), dict[str, Present]()
    for commit in forks:
        head = repo.out("rev-list", "--max-count=1", commit, "--", FILE).decode().strip()
        state = new.versions.present(commit) if not head or head in listed else None
        if state is not None:
            found[commit] = state
    return found


# One version of the file ---------------------------------------------------------------------


class _Versions:
    """The file as commits have it: each content is parsed once, however many hold it."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self._entries: dict[str, Entry | None] = {}
        self._parsed: dict[str, Present | None] = {}

    def entry(self, commit: str) -> Entry | None:
        """Return what a commit has at the file's place."""
        if commit not in self._entries:
            item = self.repo.objects.read(f"{commit}^{{tree}}")
            if item is None:
                raise UnreadableError(f"the tree of {commit[:12]} is missing", FETCH_MISSING)
            folder = parse_folder(item.data, len(item.oid) // 2)
            self._entries[commit] = folder.get(FILE.encode())
        return self._entries[commit]

    def present(self, commit: str) -> Present | None:
        """Return the records of a commit; None where they can't be parsed."""
        entry = self.entry(commit)
        if entry is None:
            return {}
        if entry.oid not in self._parsed:
            item = self.repo.objects.read(entry.oid)
            if item is None:
                said = f"{FILE} of {commit[:12]} is missing (a partial clone?)"
                raise UnreadableError(said, FETCH_MISSING)
            self._parsed[entry.oid] = _records(item.data)
        return self._parsed[entry.oid]


def _joined(states: Iterable[Present]) -> Present:
    """Return what any of the parents holds, reopened as often as in the one that did most."""
    different = list({id(state): state for state in states}.values())
    if len(different) == 1:
        return different[0]
    found: dict[str, int] = {}
    for state in different:
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
