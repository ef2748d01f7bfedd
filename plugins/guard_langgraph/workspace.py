"""Which object of the workspace the deploy manifest names for an agent."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, cast

from guard.plugin import Project, TargetError, Trial
from guard_langgraph.runner_values import is_dict, is_list
from guard_langgraph.served import FILE, place_of, read_graphs

_NOT_LOOKED_INTO: Final = ("node_modules", "__pycache__", "site-packages")


class Named(NamedTuple):
    """The object that a manifest names: what is run, and nothing else."""

    manifest: str
    """From the workspace's root."""
    graph: str
    entry: str
    path: str
    """The graph's file, from the workspace's root; empty where a module is named."""
    module: str
    attribute: str
    roots: tuple[str, ...]
    """Folders in which its modules are found, from the workspace's root."""
    env: Mapping[str, str]
    """Variables that the manifest states."""


def find_named(trial: Trial) -> Named:
    """Return what is to be run. Raises `TargetError` in one line."""
    files = _Files(trial.workspace)
    manifest = trial.options["manifest"] or find_manifest(files.paths())
    manifest = posixpath.normpath(manifest)
    if not files.is_inside(manifest):
        raise TargetError(f"a stand-in graph is refused: {manifest} lies outside of the workspace")
    project = Project(trial.workspace, files.read, files.paths)
    graphs = read_graphs(project, manifest)
    if graphs is None:
        raise TargetError(
            f"there is no {manifest} in the workspace, or it names no `graphs`: "
            "`options: {manifest: PATH}` names it from the workspace's root"
        )
    name = trial.options["graph"] or trial.agent
    if name not in graphs:
        raise TargetError(f"{manifest} serves no graph {name}{nearest(name, list(graphs))}")
    return _named(files, manifest, name, graphs[name])


def find_manifest(paths: Sequence[str]) -> str:
    """Return the manifest that lies the nearest to the workspace's root. Raises `TargetError`."""
    found = [path for path in paths if posixpath.basename(path) == FILE]
    if not found:
        raise TargetError(
            f"there is no {FILE} in the workspace: the graphs that are served stand there"
        )
    least = min(path.count("/") for path in found)
    near = sorted(path for path in found if path.count("/") == least)
    if len(near) > 1:
        raise TargetError(
            f"several manifests: `options: {{manifest: {near[0]}}}` names one of them"
        )
    return near[0]


def nearest(name: str, known: Sequence[str]) -> str:
    """Return what may have been meant, and what there is."""
    close = get_close_matches(name, known, 1)
    meant = f"; did you mean `{close[0]}`?" if close else ""
    told = ", ".join(sorted(known)[:8]) or "none"
    return f"{meant} (there are: {told}; `options: {{graph: NAME}}` names one)"


def _named(files: _Files, manifest: str, name: str, entry: str) -> Named:
    place = place_of(manifest, entry)
    if place.path:
        if not files.is_inside(place.path):
            raise TargetError(
                f"a stand-in graph is refused: {manifest} names {entry} for {name}, which lies "
                "outside of the workspace"
            )
        if not place.path.endswith(".py"):
            raise TargetError(f"{manifest}: graph {name} is {entry}: only Python graphs can be run")
        if files.read(place.path) is None:
            raise TargetError(f"{manifest}: graph {name}: {entry} names nothing: no {place.path}")
    document = cast("dict[str, Any]", json.loads(files.read(manifest) or b"{}"))
    folder = posixpath.dirname(manifest)
    return Named(
        manifest,
        name,
        entry,
        *place,
        roots=tuple(_roots(files, folder, document)),
        env=_env(files, folder, document.get("env")),
    )


def _roots(files: _Files, folder: str, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the manifest's folder and its dependencies that are folders, as LangGraph adds them.

    Each with its `src` behind it, where an installer would look.
    """
    stated: Any = document.get("dependencies")
    listed = stated if is_list(stated) else []
    seen: set[str] = set()
    for dependency in (".", *listed):
        if not isinstance(dependency, str) or (dependency != "." and "/" not in dependency):
            continue
        root = posixpath.normpath(posixpath.join(folder, dependency))
        for place in (root, posixpath.normpath(posixpath.join(root, "src"))):
            if place not in seen and files.is_folder(place):
                seen.add(place)
                yield place


def _env(files: _Files, folder: str, stated: Any) -> dict[str, str]:
    """Return the variables of a manifest: written there, or in the file that it names."""
    if is_dict(stated):
        return {str(name): str(value) for name, value in stated.items()}
    if not isinstance(stated, str):
        return {}
    content = files.read(posixpath.normpath(posixpath.join(folder, stated))) or b""
    lines = content.decode("utf-8", "replace").splitlines()
    pairs = [line.strip().removeprefix("export ").partition("=") for line in lines]
    return {
        name.strip(): value.strip().strip("'\"")
        for name, equals, value in pairs
        if equals and not name.startswith("#")
    }


class _Files:
    """The files of a trial's workspace."""

    def __init__(self, root: str) -> None:
        self._root = root

    def is_inside(self, path: str) -> bool:
        """Tell whether a path stays in the workspace, also where a link leads."""
        root = os.path.realpath(self._root)
        real = os.path.realpath(os.path.join(root, path))
        return not os.path.isabs(path) and real.startswith(root + "/")

    def is_folder(self, path: str) -> bool:
        """Tell whether a path is a folder of the workspace, or the workspace itself."""
        inside = path == "." or self.is_inside(path)
        return inside and os.path.isdir(os.path.join(self._root, path))

    def read(self, path: str) -> bytes | None:
        """Return a file's content; None where there is none in the workspace."""
        if not self.is_inside(path):
            return None
        try:
            with open(os.path.join(self._root, path), "rb") as file:
                return file.read()
        except OSError:
            return None

    def paths(self) -> list[str]:
        """Return the files of the workspace, folders of packages left out."""
        found: list[str] = []
        for folder, folders, names in os.walk(self._root):
            folders[:] = [n for n in folders if n not in _NOT_LOOKED_INTO and n[0] != "."]
            inside = os.path.relpath(folder, self._root)
            found += [n if inside == "." else f"{inside}/{n}" for n in names]
        return found
