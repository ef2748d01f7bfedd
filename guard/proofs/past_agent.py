"""An agent as it was: which paths were its own in an older tree, and where they lie today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, cast

from guard.errors import GuardError
from guard.git import bytes_of
from guard.globs import Matcher, literal_prefix
from guard.model import Agent
from guard.project import Project
from guard.proofs.scratch import Scratch
from guard.skills import is_skill
from guard.tree import Entry, Tree

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


def find_lacking(entries: Entries, now: PastAgent) -> str:
    """Say why a state has no agent to run: no own path, or not the entry file of today."""
    own = {path for path in entries if now.owns(path)}
    if not own:
        return f"{NO_AGENT}: none of its own paths were there"
    today = now.own_entries()
    skills = [path for path in today if is_skill(path)]
    if skills and not own.intersection(skills):
        return f"{NO_AGENT}: no {skills[0].decode('utf-8', 'replace')}"
    lacking = [path for path in _started(now.agent) if path in today and path not in own]
    if lacking:
        return f"{NO_AGENT}: no {lacking[0].decode('utf-8', 'replace')}"
    return ""


def _started(agent: Agent) -> list[bytes]:
    """Return the files that the agent's options start, from the repository's root."""
    argv = agent.options.get("argv", ())
    words = map(str, cast("Iterable[object]", argv) if isinstance(argv, (list, tuple)) else ())
    folder = f"{agent.workspace}/" if agent.workspace else ""
    names = [word.removeprefix("{workspace}/").removeprefix("./") for word in words]
    return [bytes_of(folder + name) for name in names]
