"""The broken state of a regression: today's tree, with the agent as it was before its fix.

Three rungs for kind `parent`, the first that turns red decides (DESIGN section 7): live, the
fix's change taken back by three-way merge; pinned, all own paths as they were before; branch,
the same before the whole branch that brought the fix. Each differs from the tree under test on
the agent's own paths and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from guard.change import DiffEntry, diff_trees
from guard.errors import UnreadableError
from guard.git import bytes_of, text_of
from guard.globs import Matcher
from guard.project import Project
from guard.proofs.origin import History, Origin, commit_header
from guard.proofs.past_agent import PastAgent, agent_in, find_lacking, record_agent, relocated
from guard.proofs.patches import PatchError, apply_patch, touched_by
from guard.proofs.scratch import Scratch
from guard.regressions import Record
from guard.tree import Entry, Tree


class Rung(NamedTuple):
    """One way to rebuild the broken state."""

    state: str
    """live, pinned, branch, revision, patch or command."""
    tree: Tree | None = None
    """None where it can't be rebuilt."""
    reason: str = ""
    """Why it can't be, or why it is the same."""
    same: bool = False
    """Nothing differs from the tree under test."""
    origin: Origin | None = None
    touched: bool = True
    """Whether the origin changed the agent at all."""
    command: Mapping[str, Any] | None = None
    """The record's command, which stands for a broken state."""
    filed: Tree | None = None
    """What its kept evidence is filed under, where that isn't the tree itself."""


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
        self._patched: dict[str, Rung] = {}
        self._agents: dict[str, PastAgent] = {}
        self.offered: dict[str, bytes] = {}
        """Path → content of files that a record names and that aren't written yet."""

    def rungs(self, record: Record) -> Iterator[Rung]:
        """Yield the rungs, each built when it is asked for.

        Raises `UnreadableError` where history is missing.
        """
        if record.before["kind"] == "parent":
            yield from self._parent(record)
        else:
            yield self.pinned(record)

    def pinned(self, record: Record) -> Rung:
        """Return today's tree with all own paths as they were: the same whatever was edited since.

        Raises `UnreadableError` where history is missing.
        """
        if record.before["kind"] == "revision":
            return self.revision(record, str(record.before["rev"]))
        if record.before["kind"] == "patch":
            return self.patched(record)
        if record.before["kind"] == "command":
            return Rung("command", self.project.tree, command=record.before)
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

    def patched(self, record: Record) -> Rung:
        """Return today's tree with the record's patch applied."""
        if record.id not in self._patched:
            self._patched[record.id] = self._patch_applied(record, str(record.before["path"]))
        return self._patched[record.id]

    def _patch_applied(self, record: Record, path: str) -> Rung:
        patch = self._named_file(path)
        if patch is None:
            return Rung("patch", reason=f"its patch {path} is not there")
        now = self._now(record)
        own = now.own_entries()
        try:
            broken = apply_patch(self.scratch, own, patch)
        except PatchError as error:
            said = self._outside(touched_by(self.scratch, patch), now) or str(error)
            return Rung("patch", reason=f"{path} doesn't apply to today's tree: {said}")
        edits = _differing(own, broken)
        if not edits:
            return Rung("patch", reason=f"{path} changes nothing of today's tree", same=True)
        tree = self.scratch.edit_tree(now.tree.oid, edits)
        filed = self._filed_under(now, self.scratch.write_blob(patch))
        return self._checked("patch", record, tree)._replace(filed=filed)

    def _named_file(self, path: str) -> bytes | None:
        """Return a file that a record names, as the tree under test has it."""
        entry = self.project.tree.get(bytes_of(path))
        if path in self.offered or entry is None or not entry.mode.startswith("100"):
            return self.offered.get(path)
        return self.project.tree.read(path)

    def _outside(self, touched: Sequence[bytes], now: PastAgent) -> str:
        """Say which of the paths that a patch touches isn't the agent's own."""
        outside = [path for path in touched if not now.owns(path) and now.tree.get(path)]
        return f"it would change {text_of(outside[0])}, which is not its own" if outside else ""

    def _filed_under(self, now: PastAgent, broken: str) -> Tree:
        """Return a tree that stays the same when the agent is edited: what breaks it, no more."""
        own = sorted(now.own_entries())
        edits: dict[bytes, Entry | None] = dict.fromkeys(own)
        edits[own[0] if own else b"broken"] = Entry("100644", broken)
        return self._tree(self.scratch.edit_tree(now.tree.oid, edits))

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
        return self.scratch.edit_tree(self.project.tree.oid, _differing(today, placed))

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


def _differing(
    today: Mapping[bytes, Entry], then: Mapping[bytes, Entry]
) -> dict[bytes, Entry | None]:
    """Return what makes the one of the other; None where a path goes."""
    paths = dict.fromkeys((*today, *then))
    return {path: then.get(path) for path in paths if then.get(path) != today.get(path)}
