"""The commits of a range, read in bulk, and each judged by the offline rules.

Two git processes for any number of commits: one walk, and one for all their differences;
objects come through the reader that is open anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from guard.change import DIFF_OPTIONS, Change, DiffEntry, parse_raw
from guard.errors import GuardError
from guard.git import Repo
from guard.judging.guarded import concerns
from guard.judging.judge import RANGE, Judgement, judge_commit, judge_merge
from guard.judging.merges import Parent, merge_losses, missing_commit
from guard.messages.message import parse_message, stored_message
from guard.project import Project
from guard.rules.commit import JudgedCommit
from guard.store import Store
from guard.tree import Tree

#: Digits of a commit's id that people are shown.
SHORT = 10


class CommitInfo(NamedTuple):
    """One commit, as its object tells: no replacement, graft or configuration in between."""

    id: str
    tree: str
    parents: tuple[str, ...]
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message that isn't empty."""
        return parse_message(self.message).header

    @property
    def title(self) -> str:
        """The short id and the subject."""
        return f"{self.id[:SHORT]} {self.subject}"


def own_commits(repo: Repo, tips: Iterable[str], not_in: Iterable[str]) -> list[CommitInfo]:
    """Return the commits of the tips, without those in ``not_in``, the oldest first.

    ``not_in`` takes what rev-list does: ids, refs, ``--remotes=NAME``, ``--all``.
    Raises `UnreadableError` where history is missing.
    """
    listed = repo.out("rev-list", "--topo-order", "--reverse", *tips, "--not", *not_in, "--")
    return [read_commit(repo, oid) for oid in listed.decode().split()]


def read_commit(repo: Repo, oid: str) -> CommitInfo:
    """Return one commit. Raises `UnreadableError` where it is missing."""
    item = repo.objects.read(oid)
    if item is None or item.kind != "commit":
        raise missing_commit(oid)
    headers = [line.split(b" ", 1) for line in item.data.partition(b"\n\n")[0].split(b"\n")]
    tree = next(value for key, *rest in headers for value in rest if key == b"tree")
    parents = tuple(v.decode() for key, *rest in headers for v in rest if key == b"parent")
    return CommitInfo(item.oid, tree.decode(), parents, stored_message(item.data))


def judge_range(
    repo: Repo,
    commits: Sequence[CommitInfo],
    store: Store,
    disabled: frozenset[str] = frozenset(),
    *,
    today: str = "",
    project_of: Callable[[Tree], Project] | None = None,
) -> Judgement:
    """Judge each commit against its first parent, a merge by what it loses of its parents.

    ``commits`` are in the order of `own_commits`. Violations name the commit. With ``fix.unit:
    range`` in the last one's guard.yaml, what a fix lacks may come in a later commit.
    ``project_of`` a tree is what judges it, where that isn't the tree's own guard.yaml.
    """
    made = project_of or (lambda tree: Project(repo, tree, store, disabled))
    judged = _Range(repo, commits, made)
    found = [judged.judge(commit, today) for commit in commits]
    return Judgement(
        tuple(v for one in found for v in one.violations),
        tuple(note for one in found for note in one.notes),
        tuple(text for one in found for text in one.exempt),
    )


class _Range:
    """The trees of a range, each read once."""

    def __init__(
        self, repo: Repo, commits: Sequence[CommitInfo], project_of: Callable[[Tree], Project]
    ) -> None:
        self.repo = repo
        self.commits = commits
        self._project_of = project_of
        self._projects: dict[str, Project] = {}
        self._trees = {commit.id: commit.tree for commit in commits}
        self._differences = differences(repo, self._pairs())
        self._places = {commit.id: place for place, commit in enumerate(commits)}
        self._by_place: list[tuple[int, JudgedCommit]] | None = None

    def judge(self, commit: CommitInfo, today: str) -> Judgement:
        """Judge one commit of the range; an error names it too."""
        try:
            judgement = self._judge(commit, today)
        except GuardError as error:
            error.message = f"commit {commit.title}: {error.message}"
            raise
        return Judgement(
            tuple(v._replace(commit=commit.title) for v in judgement.violations),
            tuple(f"{commit.title}: {note}" for note in judgement.notes),
            judgement.exempt,
        )

    def _judge(self, commit: CommitInfo, today: str) -> Judgement:
        change, base, new = self.change(commit)
        message = parse_message(commit.message)
        if len(commit.parents) > 1:
            lost = merge_losses(self._parents(commit), new)
            return judge_merge(lost, base, new, message, today)
        if not _may_concern(change, base, new):
            return Judgement()
        followers = self._later(commit) if self._by_range else ()
        return judge_commit(
            base, new, change, message, stage=RANGE, followers=followers, today=today
        )

    def change(self, commit: CommitInfo) -> tuple[Change, Project, Project]:
        """Return what a commit changes of its first parent, and both sides."""
        before = self._tree_of(commit.parents[0]) if commit.parents else self.repo.empty_tree
        base, new = self._project(before), self._project(commit.tree)
        entries = self._differences.get((before, commit.tree), ())
        message = commit.message.encode("utf-8", "surrogateescape")
        change = Change(base.tree, new.tree, entries, message, commit.id, commit.parents)
        return change, base, new

    @property
    def _by_range(self) -> bool:
        tip = self._project(self.commits[-1].tree)
        return bool(tip.policy.fix["unit"] == "range")

    def _later(self, commit: CommitInfo) -> Sequence[JudgedCommit]:
        """Return the commits after one, that may bring what it lacks."""
        if self._by_place is None:
            self._by_place = list(self._bringing())
        place = self._places[commit.id]
        return [other for at, other in self._by_place if at > place]

    def _bringing(self) -> Iterator[tuple[int, JudgedCommit]]:
        for place, commit in enumerate(self.commits):
            change, base, new = self.change(commit)
            if len(commit.parents) < 2 and _may_concern(change, base, new):
                message = parse_message(commit.message)
                yield place, JudgedCommit(base, new, change, message, stage=RANGE)

    def _parents(self, commit: CommitInfo) -> list[Parent]:
        found: list[Parent] = []
        for oid in commit.parents:
            tree = self._tree_of(oid)
            entries = self._differences.get((tree, commit.tree), ())
            paths = tuple(entry.path for entry in entries)
            found.append(Parent(oid, self._project(tree), paths))
        return found

    def _project(self, tree: str) -> Project:
        if tree not in self._projects:
            self._projects[tree] = self._project_of(Tree(self.repo, tree))
        return self._projects[tree]

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for commit in self.commits:
            if not commit.parents:
                yield self.repo.empty_tree, commit.tree
            for parent in commit.parents:
                yield self._tree_of(parent), commit.tree

    def _tree_of(self, oid: str) -> str:
        if oid not in self._trees:
            self._trees[oid] = read_commit(self.repo, oid).tree
        return self._trees[oid]


def _may_concern(change: Change, base: Project, new: Project) -> bool:
    return concerns(base, change.entries) or concerns(new, change.entries)


def differences(
    repo: Repo, pairs: Iterable[tuple[str, str]]
) -> Mapping[tuple[str, str], tuple[DiffEntry, ...]]:
    """Return (old tree, new tree) → what differs, for those that differ at all."""
    wanted = [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
    if not wanted:
        return {}
    lines = "".join(f"{old} {new}\n" for old, new in wanted).encode()
    said = repo.out("diff-tree", "--stdin", "-r", *DIFF_OPTIONS, input=lines)
    return dict(_split_differences(said))


def _split_differences(said: bytes) -> Iterator[tuple[tuple[str, str], tuple[DiffEntry, ...]]]:
    """Part the answer at its headings, ``OLD NEW`` and a line feed: no NUL stands behind one."""
    pair, fields = ("", ""), list[bytes]()
    for field in said.split(b"\0"):
        *headings, rest = field.split(b"\n") if len(fields) % 2 == 0 else (field,)
        for heading in headings:
            if pair[0]:
                yield pair, parse_raw(b"\0".join(fields))
            old, _, new = heading.decode().partition(" ")
            pair, fields = (old, new), []
        fields.append(rest)
    if pair[0]:
        yield pair, parse_raw(b"\0".join(fields))
