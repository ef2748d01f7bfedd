"""The graphs that a deploy manifest of LangGraph names: langgraph.json, or one in its form."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from guard.plugin import Project, Served, TargetError, read_json
from guard_langgraph.names import names_of

FILE = "langgraph.json"
_CODE = (".py", ".js", ".ts", ".mjs", ".mts", ".cjs", ".cts", ".jsx", ".tsx")


class Place(NamedTuple):
    """Where a manifest says that a graph is."""

    path: str
    """The file, from the repository's root; empty where a module is named instead."""
    module: str
    """The module; empty where a file is named."""
    attribute: str


def read_served(project: Project) -> list[Served]:
    """Return an entry for each graph of each manifest. Raises `TargetError`."""
    found: list[Served] = []
    for manifest in project.served:
        graphs = read_graphs(project, manifest)
        if graphs is None:
            continue
        for name, entry in graphs.items():
            said = what_is_wrong(project, manifest, entry)
            if said:
                raise TargetError(f"{manifest}: graph {name}: {entry} names nothing: {said}")
        found += [Served(name, manifest, entry) for name, entry in graphs.items()]
        if not graphs:
            found.append(Served("", manifest))
    return found


def read_graphs(project: Project, manifest: str) -> Mapping[str, str] | None:
    """Return name → entry of a manifest's graphs, None where it isn't in this form.

    Raises `TargetError`.
    """
    is_ours = posixpath.basename(manifest) == FILE
    content = project.read(manifest)
    if content is None or not (is_ours or manifest.endswith(".json")):
        return None
    try:
        document = read_json(content, manifest)
    except TargetError:
        if is_ours:
            raise
        return None
    graphs = cast("dict[str, Any]", document).get("graphs") if isinstance(document, dict) else None
    if not isinstance(graphs, dict):
        if is_ours:
            raise TargetError(f"{manifest}: `graphs` must be a mapping from a name to FILE:OBJECT")
        return None
    named = cast("dict[str, Any]", graphs)
    return {name: _entry(manifest, name, value) for name, value in named.items()}


def _entry(manifest: str, name: str, value: Any) -> str:
    """Return what stands for a graph: the text, or its ``path`` where it is described."""
    entry = cast("dict[str, Any]", value).get("path") if isinstance(value, dict) else value
    if not name.strip():
        raise TargetError(f"{manifest}: a graph has no name")
    if not isinstance(entry, str) or not all(entry.rpartition(":")):
        raise TargetError(f"{manifest}: graph {name} must be FILE:OBJECT, not {value!r:.80}")
    return entry


def place_of(manifest: str, entry: str) -> Place:
    """Return where an entry of a manifest leads to."""
    file, _, attribute = entry.rpartition(":")
    if "/" not in file and not file.endswith(_CODE):
        return Place("", file, attribute)
    return Place(
        posixpath.normpath(posixpath.join(posixpath.dirname(manifest), file)), "", attribute
    )


def what_is_wrong(project: Project, manifest: str, entry: str) -> str | None:
    """Say why an entry names nothing, as far as the tree tells; None where it may be there."""
    place = place_of(manifest, entry)
    if not place.path:
        return None
    content = project.read(place.path)
    if content is None:
        return f"there is no {place.path}"
    names = names_of(content) if place.path.endswith(".py") else None
    if names is None or place.attribute.partition(".")[0] in names:
        return None
    return f"{place.path} has no {place.attribute}"
