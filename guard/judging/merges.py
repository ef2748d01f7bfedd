"""What a merge does by itself: the commits of each side are judged on their own.

It is asked for what differs from all of its parents, as any commit is, and for what it loses: a
retained case that one parent holds and the merge doesn't, although the other never dropped
it (``-s ours``, or a conflict resolved the wrong way).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from guard.change import Change, DiffEntry, diff_trees, staged_change
from guard.errors import UnreadableError, UsageError
from guard.git import Repo
from guard.messages.message import Message
from guard.project import Project
from guard.rules.case_weakened import Loss, losses
from guard.rules.commit import COMMIT, JudgedCommit
from guard.tree import Tree


class Parent(NamedTuple):
    """One parent of a merge."""

    commit: str
    project: Project
    entries: tuple[DiffEntry, ...]
    """In what the merge differs from it."""

    @property
    def changed(self) -> tuple[bytes, ...]:
        """The paths of the entries."""
        return tuple(entry.path for entry in self.entries)


class MergeCommit(JudgedCommit):
    """A merge under judgement: it touches what differs from all of its parents.

    What it brings counts against the first parent, so the case of a side that is merged does.
    """

    def __init__(
        self,
        parents: Sequence[Parent],
        base: Project,
        new: Project,
        change: Change,
        message: Message,
        *,
        stage: str = COMMIT,
    ) -> None:
        super().__init__(base, new, change, message, stage=stage)
        self.of = parents
        self.lost: Sequence[Loss] = merge_losses(parents, new)
        """What it guards less than one of its parents."""
        self._by_itself = _by_itself(parents)

    @cached_property
    def owned(self) -> Mapping[str, tuple[DiffEntry, ...]]:
        """Agent → those of its own paths in which the merge is like no parent."""
        if not self._by_itself:
            return {}
        found = {
            agent: tuple(entry for entry in entries if entry.path in self._by_itself)
            for agent, entries in super().owned.items()
        }
        return {agent: entries for agent, entries in found.items() if entries}


def _by_itself(parents: Sequence[Parent]) -> frozenset[bytes]:
    first, *others = (frozenset(parent.changed) for parent in parents)
    return first.intersection(*others)


def parents_of(new: Project, change: Change) -> list[Parent]:
    """Return the parents of a merge, by its change."""
    found: list[Parent] = []
    for commit in change.parents:
        tree = tree_of(new.repo, commit)
        project = new.at(tree)
        if change.new.oid:
            entries = diff_trees(new.repo, tree, change.new)
        else:
            entries = staged_change(new.repo, commit).entries
        found.append(Parent(commit, project, entries))
    return found


def merge_losses(parents: Sequence[Parent], new: Project) -> list[Loss]:
    """Return what the merge guards less than one of its parents, by its own doing."""
    found: dict[tuple[str, str], Loss] = {}
    for parent in parents:
        for loss in losses_of(parent.project, new, parent.changed):
            name = (loss.subject, loss.what)
            if name not in found and not _given_up(loss, parent, parents):
                found[name] = loss
    return list(found.values())


def losses_of(base: Project, new: Project, changed: Sequence[bytes]) -> list[Loss]:
    """Return the losses against one parent; none where its own files can't be read."""
    try:
        _ = base.agents, base.records
    except UsageError:
        return []
    return losses(base, new, changed)


def _given_up(loss: Loss, parent: Parent, parents: Sequence[Parent]) -> bool:
    """Tell whether the same was lost on another parent's side alone, and judged there."""
    for other in parents:
        if other is not parent and (loss.subject, loss.what) in set(_lost_since(parent, other)):
            return True
    return False


def _lost_since(parent: Parent, other: Parent) -> Iterator[tuple[str, str]]:
    """Yield what ``other`` lost since the two parted."""
    repo = other.project.repo
    said = repo.run("merge-base", parent.commit, other.commit, ok=(0, 1)).out.split()
    if not said:
        return
    tree = tree_of(repo, said[0].decode())
    before = other.project.at(tree)
    changed = [entry.path for entry in diff_trees(repo, tree, other.project.tree)]
    for loss in losses_of(before, other.project, changed):
        yield loss.subject, loss.what


def tree_of(repo: Repo, commit: str) -> Tree:
    """Return the tree of a commit. Raises `UnreadableError` where history is missing."""
    item = repo.objects.read(f"{commit}^{{tree}}")
    if item is None:
        raise missing_commit(commit)
    return Tree(repo, item.oid)


def missing_commit(commit: str) -> UnreadableError:
    """Return the error for a commit that history should hold."""
    return UnreadableError(
        f"commit {commit} is missing (a shallow clone?)", "git fetch --unshallow"
    )
