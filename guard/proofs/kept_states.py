"""What every broken state is checked for; and those that lie in the repository as files.

A patch is applied to today's tree; a capsule's files are laid in place of today's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guard.change import DiffEntry, diff_trees
from guard.git import bytes_of, text_of
from guard.project import Project
from guard.proofs.capsules import (
    Capsule,
    File,
    problem_of_capsule,
    read_capsule,
    write_capsule,
)
from guard.proofs.past_agent import PastAgent, find_lacking, relocated
from guard.proofs.patches import PatchError, apply_patch, touched_by
from guard.proofs.rung import Rung
from guard.proofs.scratch import Scratch
from guard.regressions import Record
from guard.tree import GITLINK, Entry, Tree


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


class KeptStates:
    """Builds broken states from what lies in the tree under test."""

    def __init__(self, project: Project, scratch: Scratch) -> None:
        self.project = project
        self.scratch = scratch
        self._patched: dict[str, Rung] = {}
        self._capsules: dict[str, Rung] = {}
        self._agents: dict[str, PastAgent] = {}
        self.offered: dict[str, bytes] = {}
        """Path → content of files that a record names and that aren't written yet."""

    # Patches ---------------------------------------------------------------------------

    def patched(self, record: Record) -> Rung:
        """Return today's tree with the record's patch applied."""
        if record.id not in self._patched:
            self._patched[record.id] = self._patch_applied(record, str(record.before["path"]))
        return self._patched[record.id]

    def _patch_applied(self, record: Record, path: str) -> Rung:
        patch = self._named_file(path)
        if patch is None:
            return Rung("patch", reason=f"its patch {path} is not there")
        now = self.now(record)
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
        return self.checked("patch", record, tree)._replace(filed=filed)

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
        return Tree(self.project.repo, self.scratch.edit_tree(now.tree.oid, edits))

    # Capsules --------------------------------------------------------------------------

    def capsule(self, record: Record) -> Rung:
        """Return today's tree with what the record's capsule holds in place of the agent."""
        path = str(record.before.get("capsule") or "")
        if path not in self._capsules:
            self._capsules[path] = self._unpacked(record, path) if path else Rung("capsule")
        return self._capsules[path]

    def capsule_problem(self, record: Record) -> str:
        """Return what is wrong with a record's capsule; nothing where all is well or none is."""
        path = str(record.before.get("capsule") or "")
        return problem_of_capsule(path, self._named_file(path)) if path else ""

    def _unpacked(self, record: Record, path: str) -> Rung:
        content = self._named_file(path)
        problem = problem_of_capsule(path, content)
        if problem or content is None:
            return Rung("capsule", reason=problem)
        capsule = read_capsule(content)
        now = self.now(record)
        then = self._encapsulated_agent(capsule, now)
        return self.checked("capsule", record, self.laid_over(then, now))

    def _encapsulated_agent(self, capsule: Capsule, now: PastAgent) -> PastAgent:
        files = capsule.files
        plain = {path: file.content for path, file in files.items() if file.mode != GITLINK}
        ids = dict(zip(plain, self.scratch.write_blobs(list(plain.values())), strict=True))
        entries = {
            path: Entry(file.mode, ids.get(path) or file.content.decode())
            for path, file in files.items()
        }
        tree = Tree(
            self.project.repo, self.scratch.edit_tree(self.project.repo.empty_tree, entries)
        )
        return PastAgent(now.agent._replace(paths=capsule.paths), files.__contains__, tree)

    def encapsulate(self, record: Record, broken: Tree) -> bytes:
        """Return a capsule of the agent's own paths in a broken state. Raises `CapsuleError`."""
        now = self.now(record)
        entries = {path: entry for path, entry in broken.entries().items() if now.owns(path)}
        contents = broken.read_many(p for p, e in entries.items() if e.mode != GITLINK)
        files = {
            path: File(entry.mode, contents.get(path, entry.oid.encode()))
            for path, entry in entries.items()
        }
        return write_capsule(Capsule(now.agent.name, now.agent.paths, files))

    # The agent, today ------------------------------------------------------------------

    def now(self, record: Record) -> PastAgent:
        """Return the agent of a record as it is in the tree under test."""
        if record.agent not in self._agents:
            agent = self.project.agents[record.agent]
            owns = self.project.own_paths(agent)
            self._agents[record.agent] = PastAgent(agent, owns, self.project.tree)
        return self._agents[record.agent]

    def laid_over(self, then: PastAgent, now: PastAgent) -> str:
        """Return today's tree with what the agent owned then in place of what it owns now."""
        today, placed = now.own_entries(), relocated(self.scratch, then, now)
        return self.scratch.edit_tree(self.project.tree.oid, _differing(today, placed))

    def checked(self, state: str, record: Record, oid: str) -> Rung:
        """Void a rung that reaches outside the agent, or in which there is no agent."""
        now = self.now(record)
        changed = diff_trees(self.project.repo, now.tree, Tree(self.project.repo, oid))
        if not changed:
            reason = "the agent is the same before the fix and today"
            return Rung(state, reason=reason, same=True)
        outside = next((entry.path for entry in changed if not now.owns(entry.path)), None)
        if outside is not None:
            return Rung(state, reason=f"it would change {text_of(outside)}, which is not its own")
        tree = EditedTree(now.tree, oid, changed)
        own = {path: entry for path, entry in tree.entries().items() if now.owns(path)}
        lacking = find_lacking(own, tree, now)
        return Rung(state, reason=lacking) if lacking else Rung(state, tree)


def _differing(
    today: Mapping[bytes, Entry], then: Mapping[bytes, Entry]
) -> dict[bytes, Entry | None]:
    """Return what makes the one of the other; None where a path goes."""
    paths = dict.fromkeys((*today, *then))
    return {path: then.get(path) for path in paths if then.get(path) != today.get(path)}
