"""Whether a case still stands on the files it was written for, told from git's objects alone.

A receipt is not void when a data file changes, and a precondition may no longer hold then.
Asking costs no workspace, and no run.
"""

from __future__ import annotations

from guard.errors import UnreadableError
from guard.model import Agent, Case
from guard.project import Project
from guard.tree import GITLINK, SYMLINK, Tree
from guard.trials.given import given_pieces
from guard.trials.hiding import hidden_from_workspace
from guard.trials.manifest import FILE, LINK, Item
from guard.trials.preconditions import Files, find_broken
from guard.trials.submodules import with_submodules
from guard.trials.template import Piece, folder_of, folder_paths


class Ground:
    """The workspaces of a project's agents, as preconditions see them."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files: dict[str, Files] = {}

    def find_broken(self, case: Case) -> str:
        """Return the first precondition that doesn't hold; nothing if all do."""
        if not case.preconditions:
            return ""
        if case.agent not in self._files:
            agent = self._project.agents[case.agent]
            self._files[case.agent] = _files_of(self._project, agent)
        try:
            given = {piece.path: piece for piece in given_pieces(case, self._project.tree)}
            return find_broken(case.preconditions, _with_given(self._files[case.agent], given))
        except UnreadableError as error:
            return error.message  # nothing is known to hold, so no receipt answers


def _files_of(project: Project, agent: Agent) -> Files:
    tree, _ = with_submodules(project.tree, folder_of(agent.workspace))
    entries = tree.entries()
    paths, prefix = folder_paths(entries, agent.workspace)
    hidden = hidden_from_workspace(project, agent)
    shown = {path[len(prefix) :]: path for path in paths if not hidden(path)}
    manifest = {
        name: Item(LINK if entries[path].mode == SYMLINK else FILE)
        for name, path in shown.items()
        if entries[path].mode != GITLINK
    }
    contents: dict[bytes, bytes] = {}

    def content(name: bytes) -> bytes | None:
        if not contents:
            contents.update(_contents(tree, shown))
        return contents.get(name)

    return Files(manifest, content)


def _contents(tree: Tree, shown: dict[bytes, bytes]) -> dict[bytes, bytes]:
    found = tree.read_many(shown.values())
    return {name: found[path] for name, path in shown.items() if path in found}


def _with_given(files: Files, given: dict[bytes, Piece]) -> Files:
    if not given:
        return files
    manifest = {**files.manifest, **{path: Item(FILE) for path in given}}

    def content(name: bytes) -> bytes | None:
        return given[name].data if name in given else files.content(name)

    return Files(manifest, content)
