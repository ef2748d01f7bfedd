"""A commit's project, told from its parent's: what the commit leaves alone isn't read again.

A history is judged commit by commit, and nearly every commit leaves guard.yaml, the agents and
most cases and records as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from guard import config as config_file
from guard import regressions as regressions_file
from guard.change import DiffEntry
from guard.git import bytes_of
from guard.globs import compile_globs, literal
from guard.judging.record_texts import RecordTexts, Version
from guard.model import Case
from guard.patterns import matching_folders
from guard.project import Project
from guard.regressions import Record
from guard.tree import GITLINK, Entry, Tree

CONFIG = bytes_of(config_file.FILE)
RECORDS = bytes_of(regressions_file.FILE)
#: Paths of which a tree remembers that they differ from the listing that it stands on.
MOST_PENDING = 1000
#: What is the same wherever guard.yaml and the plugins' files are.
_OF_CONFIG = ("has_config", "config")
#: What is the same where, beside that, no agent comes or goes.
_OF_AGENTS = ("agents", "case_globs", "_case_matchers")
_OF_RECORDS = ("records", "regressions_document")
_OF_BOTH = ("is_guards_own",)
_OF_MACHINE = ("_entry_points", "_hooks_of")


class NextTree(Tree):
    """A tree of which the difference to a known one is known."""

    def __init__(self, before: Tree, oid: str, entries: Sequence[DiffEntry]) -> None:
        super().__init__(before.repo, oid)
        self._listed: Mapping[bytes, Entry] | None = before._entries
        self._pending: dict[bytes, Entry | None] = {}
        if isinstance(before, NextTree) and self._listed is None:
            self._listed, self._pending = before._listed, dict(before._pending)
        known = before._looked_up
        self._looked_up = {path: known[path] for path in (CONFIG, RECORDS) if path in known}
        for entry in entries:
            self._pending[entry.path] = self._looked_up[entry.path] = entry.new
            known.setdefault(entry.path, entry.old)
        if len(self._pending) > MOST_PENDING:
            self._listed, self._pending = None, {}

    def entries(self) -> Mapping[bytes, Entry]:
        """Return path → entry for all files, without a listing of its own where one is known."""
        if self._entries is None and self._listed is not None:
            joined = {**self._listed, **self._pending}
            self._entries = {path: entry for path, entry in sorted(joined.items()) if entry}
        return super().entries()


class Successor(Project):
    """The project of a tree that is known by its difference to another one's."""

    def __init__(
        self, before: Project, tree: Tree, entries: Sequence[DiffEntry], texts: RecordTexts
    ) -> None:
        super().__init__(before.repo, tree, before.store, before.disabled)
        self._texts = texts
        self._known_cases: Mapping[str, Case] | None = None
        self._changed: frozenset[bytes] = frozenset()
        self._take(before, _OF_MACHINE)
        paths = frozenset(entry.path for entry in entries)
        same_agents = False
        if keeps_config(before, paths):
            self._take(before, _OF_CONFIG)
            self._plugins, self._asked = before._plugins, before._asked
            same_agents = keeps_agents(before, entries)
        if same_agents:
            self._take(before, _OF_AGENTS)
            self._remember_cases(before, paths)
        if RECORDS not in paths:
            self._take(before, (*_OF_RECORDS, *(_OF_BOTH if same_agents else ())))

    def _take(self, before: Project, names: Iterable[str]) -> None:
        known = vars(before)
        vars(self).update({name: known[name] for name in names if name in known})

    def _remember_cases(self, before: Project, paths: frozenset[bytes]) -> None:
        known = vars(before).get("cases")
        if known is None and isinstance(before, Successor):
            known, paths = before._known_cases, before._changed | paths
        if known is not None and len(paths) <= MOST_PENDING:
            self._known_cases, self._changed = known, paths

    @cached_property
    def cases(self) -> Mapping[str, Case]:
        """Id → case, of every agent."""
        if self._known_cases is None:
            return self._unique(self.load_cases(self.case_paths(self.tree.entries())))
        changed = self.load_cases(self.case_paths(self._changed))
        kept = (c for c in self._known_cases.values() if bytes_of(c.path) not in self._changed)
        return self._unique(sorted((*kept, *changed), key=lambda case: bytes_of(case.path)))

    @cached_property
    def _version(self) -> Version:
        entry = self.tree.get(RECORDS)
        if entry is None:
            return Version(regressions_file.EMPTY, {})
        return self._texts.read(self.tree.read(RECORDS) or b"")

    @cached_property
    def records(self) -> Mapping[str, Record]:
        """Id → record of regressions.json."""
        return self._version.records

    @cached_property
    def regressions_document(self) -> Mapping[str, Any]:
        """regressions.json, validated; an empty one where there is none."""
        return self._version.document


def keeps_config(before: Project, paths: frozenset[bytes]) -> bool:
    """Tell whether guard.yaml and the repository's plugins stay as they are known to be."""
    if CONFIG in paths or "config" not in vars(before):
        return False
    folders = {file.rpartition("/")[0] for file in before.config.plugins}
    # Beside a plugin lies what it imports.
    code = compile_globs(literal(folder) if folder else "*" for folder in folders)
    return not any(map(code, paths))


def keeps_agents(before: Project, entries: Iterable[DiffEntry]) -> bool:
    """Tell whether, with the same guard.yaml, there are the same agents."""
    if "agents" not in vars(before):
        return False
    plugins = before.plugins_with("guard_agents")
    if plugins is not None and plugins.implements("guard_agents"):
        return False  # it may look at any file
    patterns = [str(d["each"]) for d in before.config.agents.values() if "each" in d]
    return not patterns or not any(_may_add_or_remove(before, e, patterns) for e in entries)


def _may_add_or_remove(before: Project, entry: DiffEntry, patterns: Iterable[str]) -> bool:
    """Tell whether an entry may make a folder come or go that a pattern matches."""
    if entry.old and entry.new and GITLINK not in (entry.old.mode, entry.new.mode):
        return False
    folders = [f for each in patterns for f in matching_folders(each, [entry.path]).values()]
    if entry.new is None or entry.new.mode == GITLINK or entry.old:
        return bool(folders) or any(compile_globs([each])(entry.path) for each in patterns)
    known = {glob for agent in before.agents.values() for glob in agent.paths}
    return any(f"{literal(folder)}/**" not in known for folder in folders)
