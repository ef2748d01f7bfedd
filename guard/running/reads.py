"""What trials read of the workspace beside the agent's own files: evidence stands while it does.

Where a target can't tell what its trials read, data is no part of the evidence; it is noted all
the same, since both sides of a proof must have met the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, cast

from guard.git import bytes_of, text_of
from guard.globs import Matcher
from guard.model import Agent
from guard.project import Project
from guard.results import TrialResult
from guard.storage.records import Receipt
from guard.tree import GITLINK, Entry, Tree
from guard.trials.hiding import hidden_from_workspace
from guard.trials.reading import CONTENTS, NAMES
from guard.trials.template import folder_of

#: What a receipt keeps it under: name → state.
READS: Final = "reads"
#: What a receipt keeps the state of all data under, where nobody can tell what of it was read.
DATA: Final = "data"
ABSENT: Final = ""


class Reads:
    """Tells the state of what was read, in one tree."""

    def __init__(self, project: Project, tree: Tree | None = None) -> None:
        """``tree``: that of a state with other data than the project's."""
        self._project = project
        self._tree = tree or project.tree
        self._grounds: dict[str, _Ground] = {}

    def of(self, agent: Agent, trials: Iterable[TrialResult]) -> dict[str, str]:
        """Return name → state of what trials on this tree were seen to read."""
        names = {name for trial in trials for name in trial.observation.files_read or ()}
        ground = self._ground(agent)
        states = ((name, ground.state(name)) for name in sorted(names))
        return {name: state for name, state in states if state is not None}

    def all(self, agent: Agent) -> str:
        """Return what tells all that trials may read beside the agent's own files from another."""
        return self._ground(agent).state("." + CONTENTS) or ""

    def hold(self, receipt: Receipt) -> bool:
        """Tell whether all that the trials of a receipt read is the same in this tree."""
        noted = receipt.evidence.get(READS)
        if not noted:
            return True
        agent = self._project.agents.get(receipt.agent)
        if agent is None or not isinstance(noted, Mapping):
            return False
        ground = self._ground(agent)
        reads = cast("Mapping[str, Any]", noted)
        return all(ground.state(name) == state for name, state in reads.items())

    def _ground(self, agent: Agent) -> _Ground:
        if agent.name not in self._grounds:
            self._grounds[agent.name] = _Ground(self._project, self._tree, agent)
        return self._grounds[agent.name]


class _Ground:
    """The files that the workspace of one agent is laid from."""

    def __init__(self, project: Project, tree: Tree, agent: Agent) -> None:
        self._tree = tree
        self._folder = folder_of(agent.workspace)
        self._own: Matcher = project.own_paths(agent)
        self._hidden: Matcher = hidden_from_workspace(project, agent)
        self._known: dict[str, str | None] = {}

    def state(self, name: str) -> str | None:
        """Return what tells a state from others; None for the agent's own, which is in the key."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> str | None:
        for form in (CONTENTS, NAMES):
            if name.endswith(form):
                return self._digest(name.removesuffix(form), contents=form == CONTENTS)
        path = self._path(name)
        if self._own(path):
            return None
        if self._hidden(path):
            return ABSENT
        entry = self._entry(path)
        return f"{entry.mode} {entry.oid}" if entry else ABSENT

    def _path(self, name: str) -> bytes:
        inside = b"" if name == "." else bytes_of(name)
        return b"/".join(part for part in (self._folder.rstrip(b"/"), inside) if part)

    def _entry(self, path: bytes) -> Entry | None:
        """Return the entry of a path; of a file in a submodule the submodule's."""
        entry = self._tree.get(path)
        while entry is None and b"/" in path:
            path = path.rpartition(b"/")[0]
            above = self._tree.get(path)
            entry = above if above and above.mode == GITLINK else None
        return entry

    def _digest(self, name: str, *, contents: bool) -> str:
        folder = self._path(name)
        start = folder + b"/" if folder else b""
        lines = [
            f"{text_of(path)}\0{entry.mode} {entry.oid}" if contents else text_of(path)
            for path, entry in self._listed
            if path.startswith(start)
        ]
        written = "\n".join(lines).encode("utf-8", "surrogateescape")
        return f"{len(lines)} {hashlib.sha256(written).hexdigest()}"

    @cached_property
    def _listed(self) -> list[tuple[bytes, Entry]]:
        entries = sorted(self._tree.entries().items())
        return [(p, e) for p, e in entries if not (self._own(p) or self._hidden(p))]
