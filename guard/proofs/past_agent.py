"""An agent as it was: which paths were its own in an older tree, and where they lie today."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, cast

from guard.errors import GuardError
from guard.git import bytes_of
from guard.globs import Matcher, compile_globs, literal_prefix
from guard.model import Agent
from guard.project import Project
from guard.proofs.scratch import Scratch
from guard.skills import is_skill
from guard.tree import GITLINK, Entry, Tree

Entries = Mapping[bytes, Entry]
#: Folder or file then → folder or file now.
Moves = Mapping[bytes, bytes]


#: How the reason begins where a state has no agent to run.
NO_AGENT: Final = "there was no agent before"


class PastAgent(NamedTuple):
    """One agent in one tree."""

    agent: Agent
    owns: Matcher
    tree: Tree

    def withholds(self) -> Matcher:
        """Return a test of what its globs match that isn't its own: guard's files, data."""
        inside = compile_globs(self.agent.paths)
        return lambda path: inside(path) and not self.owns(path)

    def own_entries(self) -> dict[bytes, Entry]:
        """Return the agent's own paths with their entries."""
        prefixes = {literal_prefix(glob) for glob in self.agent.paths}
        folders = [b""] if "" in prefixes else [bytes_of(prefix) for prefix in sorted(prefixes)]
        listed = [self.tree.below(folder) for folder in folders]
        return {p: entry for below in listed for p, entry in below.items() if self.owns(p)}


def agent_in(project: Project, tree: Tree, names: Iterable[str]) -> PastAgent | None:
    """Return the first of the named agents that the tree's own guard.yaml declares.

    None where there is none, or where its configuration can't be read by this guard.
    """
    past = Project(project.repo, tree, project.store, project.disabled)
    try:
        for name in dict.fromkeys(names):
            if name in past.agents:
                return PastAgent(past.agents[name], past.own_paths(past.agents[name]), tree)
    except GuardError:
        return None
    return None


def record_agent(project: Project, tree: Tree, record: str) -> str | None:
    """Return the name of the agent that a record names in an older tree."""
    past = Project(project.repo, tree, project.store, project.disabled)
    try:
        return past.records[record].agent if record in past.records else None
    except GuardError:
        return None


def relocated(scratch: Scratch, then: PastAgent, now: PastAgent) -> dict[bytes, Entry]:
    """Return what the agent owned then, at the places where those files lie now.

    What has no place among its own paths of today is left out.
    """
    old, new = then.own_entries(), now.own_entries()
    moves = {**_moves_of_globs(then.agent, now.agent), **_moved_folders(scratch, old, new)}
    stayed = {path: entry for path, entry in old.items() if path in new}
    moved = {_place(path, moves): entry for path, entry in old.items() if path not in new}
    return {path: entry for path, entry in {**moved, **stayed}.items() if now.owns(path)}


def _place(path: bytes, moves: Moves) -> bytes:
    """Follow the move of the deepest folder that moved."""
    head = path
    while head:
        if head in moves:
            return moves[head] + path[len(head) :]
        head = head.rpartition(b"/")[0]
    return path


def _moves_of_globs(then: Agent, now: Agent) -> Moves:
    """Return the folders that guard.yaml names elsewhere now, glob by glob."""
    if len(then.paths) != len(now.paths):
        return {}
    pairs = [
        (bytes_of(literal_prefix(old)), bytes_of(literal_prefix(new)))
        for old, new in zip(then.paths, now.paths, strict=True)
    ]
    return {old: new for old, new in pairs if old and new and old != new}


def _moved_folders(scratch: Scratch, old: Entries, new: Entries) -> Moves:
    """Return the folders that git sees renamed as a whole, by the files it pairs.

    A file renamed within its folder stays where it was: the old text refers to its old name.
    """
    if not (old.keys() - new.keys() and new.keys() - old.keys()):
        return {}
    trees = [scratch.edit_tree(scratch.repo.empty_tree, entries) for entries in (old, new)]
    options = ("-r", "-z", "--find-renames", "--diff-filter=R", "--name-status")
    fields = scratch.run("diff-tree", *options, *trees).out.split(b"\0")
    votes: Counter[tuple[bytes, bytes]] = Counter()
    for before, after in zip(fields[1::3], fields[2::3], strict=False):
        pair = _without_common_end(before, after)
        # A folder that still holds files has not moved: only this file has.
        if pair[0] != before and not any(path.startswith(pair[0] + b"/") for path in new):
            votes[pair] += 1
    return {pair[0]: pair[1] for pair, _ in reversed(votes.most_common())}


def _without_common_end(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    old, new = before.split(b"/"), after.split(b"/")
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        old.pop()
        new.pop()
    return b"/".join(old), b"/".join(new)


def find_lacking(entries: Entries, tree: Tree, now: PastAgent) -> str:
    """Say why a state has no agent to run: no own path, or not the entry file of today.

    A file in which nothing is written counts as none, where today's has something in it.
    """
    own = {path: entry for path, entry in entries.items() if now.owns(path)}
    if not own:
        return f"{NO_AGENT}: none of its own paths were there"
    today = now.own_entries()
    held = _Held(own, tree, today, now.tree)
    skills = [path for path in today if is_skill(path)]
    if skills and not any(map(held.holds, skills)):
        return f"{NO_AGENT}: {held.lack(skills[0])}"
    for path in _started(now.agent):
        if path in today and not held.holds(path):
            return f"{NO_AGENT}: {held.lack(path)}"
    if _is_written(tree, own) or not _is_written(now.tree, today):
        return ""
    return f"{NO_AGENT}: nothing is written in its own files"


class _Held(NamedTuple):
    """What a state holds of an agent, beside what is there today."""

    own: Entries
    tree: Tree
    today: Entries
    now: Tree

    def holds(self, path: bytes) -> bool:
        """Tell whether a file is there, and is as little empty as today's."""
        entry = self.own.get(path)
        if entry is None:
            return False
        return entry == self.today.get(path) or not (
            _is_blank(self.tree, path, entry) and not self._is_blank_today(path)
        )

    def _is_blank_today(self, path: bytes) -> bool:
        entry = self.today.get(path)
        return entry is not None and _is_blank(self.now, path, entry)

    def lack(self, path: bytes) -> str:
        name = path.decode("utf-8", "replace")
        return f"no {name} with anything in it" if path in self.own else f"no {name}"


def _is_written(tree: Tree, own: Entries) -> bool:
    """Tell whether there is anything in any of the files; the first one mostly tells."""
    return not all(_is_blank(tree, path, entry) for path, entry in own.items())


def _is_blank(tree: Tree, path: bytes, entry: Entry) -> bool:
    if entry.mode == GITLINK:
        return False
    content = tree.read_blobs({entry.oid: path})[entry.oid]
    return not content.removeprefix(codecs.BOM_UTF8).strip()


def _started(agent: Agent) -> list[bytes]:
    """Return the files that the agent's options start, from the repository's root."""
    argv = agent.options.get("argv", ())
    words = map(str, cast("Iterable[object]", argv) if isinstance(argv, (list, tuple)) else ())
    folder = f"{agent.workspace}/" if agent.workspace else ""
    names = [word.removeprefix("{workspace}/").removeprefix("./") for word in words]
    return [bytes_of(folder + name) for name in names]
