"""Remembers under which key the broken side of a record is kept, so that asking builds nothing.

To rebuild a broken state takes git and the past's configuration; what it comes to depends on
the commits that brought the record in and on the agent as it is today. While both are the same,
so is the key. What is remembered is no evidence: that lies under the key, and is looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final

from guard.git import bytes_of
from guard.globs import literal_prefix
from guard.model import Agent
from guard.project import Project
from guard.proofs.origin import History
from guard.regressions import Record
from guard.storage.records import dump

FORMAT: Final = "filed-1"


class Filed:
    """The keys of one project's records."""

    def __init__(self, project: Project, histories: Sequence[History]) -> None:
        self.project = project
        self.histories = histories
        self._owned: dict[str, Any] = {}
        self._known: dict[str, str] = {}
        self._fresh: dict[str, str] = {}

    def read(self, names: Iterable[str]) -> list[str]:
        """Look up many names at once; return the keys that are known."""
        found = self.project.store.get_parsed_many(FORMAT, [name for name in names if name])
        self._known.update(found)
        return [*found.values()]

    def find(self, name: str) -> str:
        """Return the key of a broken side; empty where it isn't known."""
        return self._known.get(name, "")

    def put(self, name: str, key: str) -> None:
        """Remember a key; `keep` writes it down."""
        if name and self._known.get(name) != key:
            self._fresh[name] = self._known[name] = key

    def keep(self) -> None:
        """Write down what is new, all at once."""
        if self._fresh:
            self.project.store.put_parsed(FORMAT, self._fresh)
            self._fresh = {}

    # What a key depends on -------------------------------------------------------------

    def name(self, record: Record, after_key: str) -> str:
        """Return what a record's key is remembered by; empty where that can't be told.

        ``after_key``: of the case's evidence on the tree under test, which tells the agent's own
        files, its checks and its case.
        """
        agent = self.project.agents[record.agent]
        source = None if self._has_dynamic_agents else self._source(record)
        if source is None:
            return ""
        facts = [
            *(record.id, record.agent, record.before, record.reopened, source, after_key),
            *(self._ownership(agent), sorted(self.project.disabled)),
        ]
        return hashlib.sha256(dump(facts).encode()).hexdigest()

    @cached_property
    def _has_dynamic_agents(self) -> bool:
        """Whether a plugin says which agents there are: then no file tells how it was."""
        plugins = self.project.plugins_with("guard_agents")
        return plugins is not None and plugins.implements("guard_agents")

    def _source(self, record: Record) -> Any:
        """Return what the state before is made from; None where it must be looked at."""
        if "capsule" in record.before:
            return None
        if record.before["kind"] == "parent":
            return self._commits(record)
        if record.before["kind"] == "revision":
            named = self.project.repo.objects.read(f"{record.before['rev']}^{{tree}}")
            return named.oid if named else None
        if record.before["kind"] == "patch":
            entry = self.project.tree.get(bytes_of(str(record.before["path"])))
            return list(entry) if entry else None
        return None

    def _commits(self, record: Record) -> list[str] | None:
        """Return the commits that brought a record in; None where it isn't committed as it is."""
        holding = (h for h in self.histories if h.holds(record.id, record.reopened))
        history = next(holding, None)
        if history is None:
            return None
        commits = history.commits_of(record.id)
        return None if history.shallow.intersection(commits) else list(commits)

    def _ownership(self, agent: Agent) -> Any:
        """Return what says which paths are the agent's own, whether they are there or not."""
        if agent.name not in self._owned:
            project = self.project
            folders = tuple(bytes_of(literal_prefix(glob)) for glob in agent.paths)
            self._owned[agent.name] = [
                *(agent.paths, project.depends_of(agent), project.case_globs),
                [each.evaluators for each in project.agents.values()],
                [path for path in self._named_files if bytes_of(path).startswith(folders)],
            ]
        return self._owned[agent.name]

    @cached_property
    def _named_files(self) -> list[str]:
        records = self.project.records.values()
        return sorted(path for record in records for path in record.named_files())
