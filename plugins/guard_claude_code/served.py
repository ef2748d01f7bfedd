"""What a plugin of Claude Code serves: its skills, commands and subagents.

``marketplace.json`` lists plugins, ``plugin.json`` describes one. Both lie in a folder
``.claude-plugin``, beside what they describe. What isn't named there is found by its folder, as the
client finds it. A plugin whose source is elsewhere is not this repository's to guard.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from guard.plugin import Project, Served, TargetError, read_json

MARKETPLACE, PLUGIN = "marketplace.json", "plugin.json"
_HOME = ".claude-plugin"
_SKILL = "SKILL.md"
#: Key of a manifest, and the folder that is looked into beside it.
_KINDS = ("skills", "commands", "agents")


class Part(NamedTuple):
    """One skill, command or subagent of a plugin."""

    plugin: str
    name: str
    path: str
    """Its folder or file, from the repository's root."""


def read_served(project: Project) -> list[Served]:
    """Return an entry for each part of each plugin. Raises `TargetError`."""
    named = any(map(_is_manifest, project.served))
    files: frozenset[str] = frozenset(project.paths() if named else ())
    found: list[Served] = []
    for manifest in filter(_is_manifest, project.served):
        document = _mapping(read_json(project.read(manifest) or b"", manifest), manifest)
        root = _root_of(manifest)
        if posixpath.basename(manifest) == PLUGIN:
            parts = list(_Plugin(project, files, manifest, root, document).parts())
        else:
            parts = list(_of_marketplace(project, files, manifest, root, document))
        found += _entries(manifest, dict.fromkeys(parts))
    return found


def _is_manifest(path: str) -> bool:
    return posixpath.basename(path) in (MARKETPLACE, PLUGIN)


def _root_of(manifest: str) -> str:
    """Return the folder that a manifest's paths start from; empty for the repository's root."""
    folder = posixpath.dirname(manifest)
    return posixpath.dirname(folder) if posixpath.basename(folder) == _HOME else folder


def _entries(manifest: str, parts: Mapping[Part, None]) -> Iterator[Served]:
    """Yield an entry for each part; where two share a name the plugin's is put before it."""
    places = {(part.name, part.path) for part in parts}
    shared = {name for name, number in Counter(name for name, _ in places).items() if number > 1}
    for part in parts:
        name = f"{part.plugin}:{part.name}" if part.name in shared else part.name
        yield Served(name, manifest, part.path)
    if not parts:
        yield Served("", manifest)


def _of_marketplace(
    project: Project, files: frozenset[str], manifest: str, root: str, document: Mapping[str, Any]
) -> Iterator[Part]:
    plugins: object = document.get("plugins")
    if not isinstance(plugins, list):
        raise TargetError(f"{manifest}: `plugins` must be a list")
    metadata = document.get("metadata")
    base = cast("dict[str, Any]", metadata).get("pluginRoot") if isinstance(metadata, dict) else ""
    for place, item in enumerate(cast("list[object]", plugins), 1):
        entry = _mapping(item, f"{manifest}: plugin {place}")
        source = entry.get("source")
        if isinstance(source, Mapping):
            continue
        if not isinstance(source, str) or not isinstance(base or "", str):
            raise TargetError(f"{manifest}: plugin {place}: `source` must be a path or a mapping")
        below = source if source.startswith("./") else posixpath.join(base or "", source)
        folder = _joined(root, below)
        if folder and not any(path.startswith(f"{folder}/") for path in files):
            raise TargetError(f"{manifest}: plugin {place}: source {source}: there is no {folder}/")
        own = _joined(folder, f"{_HOME}/{PLUGIN}")
        described = own in files and entry.get("strict") is not False
        if described:
            told = _mapping(read_json(project.read(own) or b"", own), own)
            yield from _Plugin(project, files, own, folder, told).parts()
        yield from _Plugin(project, files, manifest, folder, entry).parts(found_too=not described)


class _Plugin:
    """One plugin, as one manifest describes it."""

    def __init__(
        self,
        project: Project,
        files: frozenset[str],
        manifest: str,
        root: str,
        told: Mapping[str, Any],
    ) -> None:
        self._project = project
        self._files = files
        self._manifest = manifest
        self._root = root
        self._told = told
        name = told.get("name")
        if not isinstance(name, str) or not name.strip():
            raise TargetError(f"{manifest}: a plugin has no `name`")
        self._name = name

    def parts(self, *, found_too: bool = True) -> Iterator[Part]:
        """Yield what it serves; ``found_too``: also what is there and isn't named."""
        for kind in _KINDS:
            named = self._named(kind)
            for path in named:
                yield from self._at(kind, path)
            # An entry that is the whole definition serves what it lists; else folders are added.
            whole = self._told.get("strict") is False and bool(named)
            if found_too and not whole:
                yield from self._in_folder(kind, _joined(self._root, kind))
        own = _joined(self._root, _SKILL)
        if found_too and own in self._files and not self._named("skills"):
            yield Part(self._name, self._name, self._root or ".")

    def _named(self, kind: str) -> list[str]:
        value: Any = self._told.get(kind, ())
        named: list[object] = [value] if isinstance(value, str) else list(_items(value))
        found = [path for path in named if isinstance(path, str) and path.strip()]
        if len(found) != len(named) or (value and not isinstance(value, (str, list, dict))):
            raise TargetError(f"{self._manifest}: {self._name}: `{kind}` must be paths")
        return found

    def _at(self, kind: str, named: str) -> Iterator[Part]:
        """Yield what a path of the manifest leads to. Raises `TargetError` for nothing."""
        path = _joined(self._root, named)
        if kind == "skills":
            path = path.removesuffix(f"/{_SKILL}")
            alone = _joined(path, _SKILL) in self._files
        else:
            alone = path in self._files
        found = [self._part(kind, path)] if alone else list(self._in_folder(kind, path))
        if not found:
            lacking = f"there is no {kind.removesuffix('s')} in {path or 'the root'}"
            raise TargetError(
                f"{self._manifest}: {self._name}: `{kind}`: {named} names nothing: {lacking}"
            )
        yield from found

    def _in_folder(self, kind: str, folder: str) -> Iterator[Part]:
        start = f"{folder}/" if folder else ""
        for path in sorted(path for path in self._files if path.startswith(start)):
            below = path[len(start) :]
            if kind != "skills" and below.endswith(".md"):
                yield self._part(kind, path)
            elif kind == "skills" and below.count("/") == 1 and below.endswith(f"/{_SKILL}"):
                yield self._part(kind, posixpath.dirname(path))

    def _part(self, kind: str, path: str) -> Part:
        name = posixpath.basename(path) or self._name
        return Part(self._name, name if kind == "skills" else name.removesuffix(".md"), path)


def _items(value: Any) -> Iterator[object]:
    """Yield the items of a list, or the sources of commands that stand under their names."""
    if isinstance(value, list):
        yield from cast("list[object]", value)
    elif isinstance(value, dict):
        for item in cast("dict[str, object]", value).values():
            source = cast("dict[str, object]", item).get("source") if isinstance(item, dict) else 0
            if source is not None:
                yield source


def _joined(folder: str, path: str) -> str:
    """Return a path from the repository's root; empty for the root itself."""
    found = posixpath.normpath(posixpath.join(folder, path))
    if found == ".." or found.startswith(("../", "/")):
        raise TargetError(f"{path} leads out of the repository")
    return "" if found == "." else found


def _mapping(document: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        raise TargetError(f"{where}: must be a mapping")
    return cast("Mapping[str, Any]", document)
