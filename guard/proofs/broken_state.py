"""The broken state of a regression: today's tree, with the agent as it was before its fix.

Three rungs for kind `parent`, the first that turns red decides (DESIGN section 7): live, the
fix's change taken back by three-way merge; pinned, all own paths as they were before; branch,
the same before the whole branch that brought the fix. Each differs from the tree under test on
the agent's own paths and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guard.change import DiffEntry, diff_trees
from guard.errors import UnreadableError
from guard.git import text_of
from guard.globs import Matcher
from guard.project import Project
from guard.proofs.origin import History, Origin, commit_header
from guard.proofs.past_agent import PastAgent, agent_in, find_lacking, record_agent, relocated
from guard.proofs.scratch import Scratch
from guard.regressions import Record
from guard.tree import Tree


class Rung(NamedTuple):
    """One way to rebuild the broken state."""

    state: str
    """live, pinned, branch or revision."""
    tree: Tree | None = None
    """None where it can't be rebuilt."""
    reason: str = ""
    """Why it can't be, or why it is the same."""
    same: bool = False
    """Nothing differs from the tree under test."""
    origin: Origin | None = None
    touched: bool = True
    """Whether the origin changed the agent at all."""


class EditedTree(Tree):
    """A tree that differs little from one whose entries are known: they aren't listed again."""

    def __init__(self, base: Tree, oid: str, changed: Sequence[DiffEntry]) -> None:
        super().__init__(base.repo, oid)
        entries = dict(base.entries())
        for entry in changed:
            if entry.new is None:
                del entries[entry.path]
            else:
                entries[entry.path] = entry.new
        self._entries = entries


class BrokenStates:
    """Rebuilds the broken states of one project's records."""

    def __init__(self, project: Project, histories: Sequence[History], scratch: Scratch) -> None:
        self.project = project
        self.histories = histories
        """Of the commit under test; for a working tree or index, of the commits it follows."""
        self.scratch = scratch
        self._past: dict[tuple[str, tuple[str, ...]], PastAgent | None] = {}
        self._found: dict[tuple[str, int], tuple[History, Origin, bool]] = {}
        # Records share commits, and a commit's trees are listed and compared once.
        self._trees = {project.tree.oid: project.tree}
        self._diffs: dict[tuple[str, str], tuple[DiffEntry, ...]] = {}
        self._laid: dict[tuple[str, str, str], Rung] = {}
        self._agents: dict[str, PastAgent] = {}

    def rungs(self, record: Record) -> Iterator[Rung]:
        """Yield the rungs, each built when it is asked for.

        Raises `UnreadableError` where history is missing.
        """
        if record.before["kind"] == "revision":
            yield self.revision(record, str(record.before["rev"]))
        else:
            yield from self._parent(record)

    def pinned(self, record: Record) -> Rung:
        """Return today's tree with all own paths as they were: the same whatever was edited since.

        Raises `UnreadableError` where history is missing.
        """
        if record.before["kind"] == "revision":
            return self.revision(record, str(record.before["rev"]))
        _, origin, _ = self._origin(record)
        return self._pinned("pinned", record, self._tree_of(origin.parent), origin)

    def revision(self, record: Record, rev: str) -> Rung:
        """Return today's tree with the agent's own paths as a revision has them."""
        oid = self.project.repo.resolve(f"{rev}^{{tree}}")
        if oid is None:
            raise UnreadableError(
                f"{rev} is not here, which {record.id} names as its state before the fix",
                f"git fetch origin {rev}",
            )
        return self._pinned("revision", record, self._tree(oid), None)

    # Kind parent -----------------------------------------------------------------------

    def _parent(self, record: Record) -> Iterator[Rung]:
        history, origin, touched = self._origin(record)
        built: set[str] = set()
        for rung in self._ladder(record, history, origin):
            if rung.tree is not None and rung.tree.oid in built:
                continue
            if rung.tree is not None:
                built.add(rung.tree.oid)
            yield rung._replace(origin=origin, touched=touched)

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
            first = self.histories[0]
            origin = Origin("", first.tip)
            return first, origin, self.changes_agent(record, origin)
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
        return self._checked("live", record, merged)

    def _pinned(self, state: str, record: Record, before: Tree, origin: Origin | None) -> Rung:
        now = self._now(record)
        fixed = self._fixed(origin) if origin else None
        key = (before.oid, fixed.oid if fixed else "", record.agent)
        if key not in self._laid:
            then = self._then(record, before, fixed)
            self._laid[key] = self._checked(state, record, self._laid_over(then, now))
        return self._laid[key]._replace(state=state)

    def _laid_over(self, then: PastAgent, now: PastAgent) -> str:
        """Return today's tree with what the agent owned then in place of what it owns now."""
        today, placed = now.own_entries(), relocated(self.scratch, then, now)
        edits = {
            path: placed.get(path)
            for path in (*today, *placed)
            if placed.get(path) != today.get(path)
        }
        return self.scratch.edit_tree(self.project.tree.oid, edits)

    def _checked(self, state: str, record: Record, oid: str) -> Rung:
        """Void a rung that reaches outside the agent, or in which there is no agent."""
        now = self._now(record)
        changed = diff_trees(self.project.repo, now.tree, Tree(self.project.repo, oid))
        if not changed:
            reason = "the agent is the same before the fix and today"
            return Rung(state, reason=reason, same=True)
        outside = next((entry.path for entry in changed if not now.owns(entry.path)), None)
        if outside is not None:
            return Rung(state, reason=f"it would change {text_of(outside)}, which is not its own")
        tree = EditedTree(now.tree, oid, changed)
        own = {path: entry for path, entry in tree.entries().items() if now.owns(path)}
        lacking = find_lacking(own, now)
        return Rung(state, reason=lacking) if lacking else Rung(state, tree)

    # The agent, today and then ---------------------------------------------------------

    def _now(self, record: Record) -> PastAgent:
        if record.agent not in self._agents:
            agent = self.project.agents[record.agent]
            owns = self.project.own_paths(agent)
            self._agents[record.agent] = PastAgent(agent, owns, self.project.tree)
        return self._agents[record.agent]

    def _then(self, record: Record, before: Tree, fixed: Tree | None) -> PastAgent:
        """Return the agent before the fix: as that tree declares it, else as the next one does."""
        names = self._names(record, fixed)
        found = self._agent_in(before, names)
        if found is None and fixed is not None:
            found = self._agent_in(fixed, names)
        return (found or self._now(record))._replace(tree=before)

    def _owned_around(self, record: Record, fixed: Tree, before: Tree) -> Matcher:
        """Return a test of what was the agent's own on either side of the fix."""
        names = self._names(record, fixed)
        found = [self._agent_in(tree, names) for tree in (fixed, before)]
        owners = [past.owns for past in found if past] or [self._now(record).owns]
        return lambda path: any(owns(path) for owns in owners)

    def _names(self, record: Record, fixed: Tree | None) -> tuple[str, ...]:
        then = record_agent(self.project, fixed, record.id) if fixed else None
        return (then, record.agent) if then else (record.agent,)

    def _agent_in(self, tree: Tree, names: tuple[str, ...]) -> PastAgent | None:
        key = (tree.oid, names)
        if key not in self._past:
            self._past[key] = agent_in(self.project, tree, names)
        return self._past[key]
