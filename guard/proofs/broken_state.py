"""The broken state of a regression: today's tree, with the agent as it was before its fix.

Three rungs for kind `parent`, the first that turns red decides: live, the fix's change taken
back by three-way merge; pinned, all own paths as they were before; branch, the same before the
whole branch that brought the fix. The other kinds have one rung each, and a
record's capsule is the last of any. Each differs from the tree under test on
the agent's own paths and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from guard.change import DiffEntry, diff_trees
from guard.errors import UnreadableError
from guard.globs import Matcher
from guard.output import shell_path
from guard.project import Project
from guard.proofs.kept_states import KeptStates
from guard.proofs.origin import History, Origin, commit_header
from guard.proofs.past_agent import PastAgent, agent_in, record_agent
from guard.proofs.rung import Rung
from guard.proofs.scratch import Scratch
from guard.regressions import Record
from guard.tree import Tree

#: A commit's full id.
ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class BrokenStates(KeptStates):
    """Rebuilds the broken states of one project's records."""

    def __init__(self, project: Project, histories: Sequence[History], scratch: Scratch) -> None:
        super().__init__(project, scratch)
        self.histories = histories
        """Of the commit under test; for a working tree or index, of the commits it follows."""
        self._past: dict[tuple[str, tuple[str, ...]], PastAgent | None] = {}
        self._found: dict[tuple[str, int], tuple[History, Origin, bool]] = {}
        # Records share commits, and a commit's trees are listed and compared once.
        self._trees = {project.tree.oid: project.tree}
        self._diffs: dict[tuple[str, str], tuple[DiffEntry, ...]] = {}
        self._laid: dict[tuple[str, str, str], Rung] = {}

    def rungs(self, record: Record) -> Iterator[Rung]:
        """Yield the rungs, each built when it is asked for; the record's capsule comes last.

        Raises `UnreadableError` where history is missing, and no capsule stands for it.
        """
        built: set[str] = set()
        for rung in chain(self._of_history(record), self._encapsulated(record)):
            if rung.tree is None or rung.tree.oid not in built:
                yield rung
            if rung.tree is not None:
                built.add(rung.tree.oid)

    def _of_history(self, record: Record) -> Iterator[Rung]:
        """Yield what the record's kind has, as far as history is there."""
        if self._by_capsule_alone(record):
            return
        try:
            yield from self._of_kind(record)
        except UnreadableError:
            if not record.before.get("capsule"):
                raise

    def _of_kind(self, record: Record) -> Iterator[Rung]:
        if record.before["kind"] == "parent":
            yield from self._parent(record)
        else:
            yield self._named(record)

    def _encapsulated(self, record: Record) -> Iterator[Rung]:
        if record.before.get("capsule"):
            yield self.capsule(record)

    def pinned(self, record: Record) -> Rung:
        """Return today's tree with all own paths as they were: the same whatever was edited since.

        Raises `UnreadableError` where history is missing, and no capsule stands for it.
        """
        if self._by_capsule_alone(record):
            return self.capsule(record)
        try:
            if record.before["kind"] != "parent":
                return self._named(record)
            _, origin, _ = self._origin(record)
            return self._pinned("pinned", record, self._tree_of(origin.parent), origin)
        except UnreadableError:
            if not record.before.get("capsule"):
                raise
            return self.capsule(record)

    def _by_capsule_alone(self, record: Record) -> bool:
        """Tell whether a capsule takes a command's place: a state to run the case on shows more."""
        return record.before["kind"] == "command" and self.capsule(record).tree is not None

    def _named(self, record: Record) -> Rung:
        """Return the one state of a kind other than parent."""
        if record.before["kind"] == "revision":
            return self.revision(record, str(record.before["rev"]))
        if record.before["kind"] == "patch":
            return self.patched(record)
        return Rung("command", self.project.tree, command=record.before)

    def revision(self, record: Record, rev: str) -> Rung:
        """Return today's tree with the agent's own paths as a revision has them."""
        oid = self.project.repo.resolve(f"{rev}^{{tree}}")
        if oid is None:
            # Without the word git fetches what a tag names, and not the tag.
            named = rev if ID.fullmatch(rev) else f"tag {shell_path(rev)}"
            raise UnreadableError(
                f"{rev} is not here, which {record.id} names as its state before the fix",
                f"git fetch origin {named}",
            )
        return self._pinned("revision", record, self._tree(oid), None)

    # Kind parent -----------------------------------------------------------------------

    def _parent(self, record: Record) -> Iterator[Rung]:
        history, origin, touched = self._origin(record)
        for rung in self._ladder(record, history, origin):
            yield rung._replace(origin=origin, touched=touched)
        buried = None if touched else self._left_behind(record, history)
        for rung in self._ladder(record, history, buried) if buried else ():
            yield rung._replace(origin=buried, touched=True)

    def _left_behind(self, record: Record, history: History) -> Origin | None:
        """Return the fix on a side that a merge left behind, whose record was added again."""
        found = history.left_behind(record.id) if history.holds(record.id, 0) else ()
        return next((origin for origin in found if self.changes_agent(record, origin)), None)

    def _ladder(self, record: Record, history: History, origin: Origin) -> Iterator[Rung]:
        before = self._tree_of(origin.parent)
        yield self._live(record, origin, before)
        yield self._pinned("pinned", record, before, origin)
        wider = history.before_branch(origin)
        if wider and wider != origin.parent:
            yield self._pinned("branch", record, self._tree_of(wider), origin)

    def _origin(self, record: Record) -> tuple[History, Origin, bool]:
        """Return the newest origin that changed the agent, else the newest, and whether it did."""
        key = (record.id, record.reopened)
        if key not in self._found:
            self._found[key] = self._find_origin(record)
        return self._found[key]

    def _find_origin(self, record: Record) -> tuple[History, Origin, bool]:
        history = next((h for h in self.histories if h.holds(record.id, record.reopened)), None)
        if history is None:
            first, origin = self.histories[0], Origin("", self.histories[0].tip)
            touched = self.changes_agent(record, origin)
            # Reopened, with no edit of the agent: what it stands for is its latest fix.
            history = next((h for h in self.histories if h.holds(record.id, 0)), None)
            if touched or history is None:
                return first, origin, touched
        newest: Origin | None = None
        for origin in history.origins(record.id):
            newest = newest or origin
            if self.changes_agent(record, origin):
                return history, origin, True
        assert newest is not None
        return history, newest, False

    def changes_agent(self, record: Record, origin: Origin) -> bool:
        """Tell whether a commit, or what isn't committed yet, changes the agent's own paths."""
        fixed, before = self._fixed(origin), self._tree_of(origin.parent)
        owns = self._owned_around(record, fixed, before)
        return any(owns(entry.path) for entry in self._diff(before, fixed))

    def _fixed(self, origin: Origin) -> Tree:
        return self._tree_of(origin.commit) if origin.commit else self.project.tree

    def _tree_of(self, commit: str) -> Tree:
        repo = self.project.repo
        return self._tree(commit_header(repo, commit, "tree") if commit else repo.empty_tree)

    def _tree(self, oid: str) -> Tree:
        return self._trees.setdefault(oid, Tree(self.project.repo, oid))

    def _diff(self, old: Tree, new: Tree) -> tuple[DiffEntry, ...]:
        key = (old.oid, new.oid)
        if key not in self._diffs:
            self._diffs[key] = diff_trees(self.project.repo, old, new)
        return self._diffs[key]

    # Rungs -----------------------------------------------------------------------------

    def _live(self, record: Record, origin: Origin, before: Tree) -> Rung:
        today, fixed = self.project.tree, self._fixed(origin)
        owns = self._owned_around(record, fixed, before)
        taken_back = {
            entry.path: entry.old for entry in self._diff(before, fixed) if owns(entry.path)
        }
        if not taken_back:
            reason = "the commit of the record changes nothing of the agent"
            return Rung("live", reason=reason, same=True)
        if not self.scratch.merges_trees:
            return Rung("live", reason="this git is older than 2.38 and can't merge trees")
        without = self.scratch.edit_tree(fixed.oid, taken_back)
        merged = self.scratch.merge_trees(fixed.oid, today.oid, without)
        if merged is None:
            return Rung("live", reason="the agent's text has changed since where the fix is")
        return self.checked("live", record, merged)

    def _pinned(self, state: str, record: Record, before: Tree, origin: Origin | None) -> Rung:
        now = self.now(record)
        fixed = self._fixed(origin) if origin else None
        key = (before.oid, fixed.oid if fixed else "", record.agent)
        if key not in self._laid:
            then = self._then(record, before, fixed)
            self._laid[key] = self.checked(state, record, self.laid_over(then, now))
        return self._laid[key]._replace(state=state)

    # The agent, today and then ---------------------------------------------------------

    def _then(self, record: Record, before: Tree, fixed: Tree | None) -> PastAgent:
        """Return the agent before the fix: as that tree declares it, else as the next one does."""
        names = self._names(record, fixed)
        found = self._agent_in(before, names)
        if found is None and fixed is not None:
            found = self._agent_in(fixed, names)
        return (found or self.now(record))._replace(tree=before)

    def _owned_around(self, record: Record, fixed: Tree, before: Tree) -> Matcher:
        """Return a test of what was the agent's own on either side of the fix.

        Less what by the rules since is not: what the fix brought for its record, above all.
        """
        names, now = self._names(record, fixed), self.now(record)
        found = [self._agent_in(tree, names) for tree in (fixed, before)]
        owners = [past.owns for past in found if past] or [now.owns]
        later = [past.withholds() for past in (found[0], now) if past]
        return lambda path: (
            any(owns(path) for owns in owners) and not any(withheld(path) for withheld in later)
        )

    def _names(self, record: Record, fixed: Tree | None) -> tuple[str, ...]:
        then = record_agent(self.project, fixed, record.id) if fixed else None
        return (then, record.agent) if then else (record.agent,)

    def _agent_in(self, tree: Tree, names: tuple[str, ...]) -> PastAgent | None:
        key = (tree.oid, names)
        if key not in self._past:
            self._past[key] = agent_in(self.project, tree, names)
        return self._past[key]
