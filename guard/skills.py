"""Skills as a client discovers them: their folders, and the name and description it lists.

Adding, removing or renaming a skill, or editing a description, changes which skill answers
a request: every case of agents that share the workspace is affected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from guard.errors import UnreadableError
from guard.git import text_of
from guard.store import Store
from guard.tree import GITLINK, Tree

FILE = b"SKILL.md"
FORMAT = "skill-1"


def is_skill(path: bytes) -> bool:
    """Tell whether a path is a skill's entry file."""
    return path.rpartition(b"/")[2] == FILE


def skill_heads(tree: Tree, paths: Iterable[bytes], store: Store) -> dict[str, tuple[str, str]]:
    """Return path → (name, description) of the skills among ``paths``.

    Where one can't be read (a partial clone), its id stands for both.
    """
    entries = {path: entry for path in paths if is_skill(path) and (entry := tree.get(path))}
    oids = {path: entry.oid for path, entry in entries.items() if entry.mode != GITLINK}
    known = store.get_parsed_many(FORMAT, set(oids.values()))
    wanted = {oid: path for path, oid in oids.items() if oid not in known}
    try:
        blobs = tree.read_blobs(wanted)
    except UnreadableError:
        blobs = {}
    fresh = {oid: list(head_of(content)) for oid, content in blobs.items()}
    if fresh:
        store.put_parsed(FORMAT, fresh)
    heads = {**known, **fresh}
    told = {path: heads.get(oid, (oid, "")) for path, oid in oids.items()}
    return {text_of(path): (head[0], head[1]) for path, head in told.items()}


def head_of(content: bytes) -> tuple[str, str]:
    """Return the name and description of a SKILL.md; empty where it states none."""
    from guard.cases.markdown import split_front_matter
    from guard.errors import ConfigError
    from guard.yamlfile import load_yaml

    try:
        source, _ = split_front_matter("SKILL.md", content.decode("utf-8-sig", "replace"))
        document = load_yaml(source, "SKILL.md")
    except ConfigError:
        return "", ""
    if not isinstance(document, dict):
        return "", ""
    found = cast("Mapping[str, object]", document)
    return str(found.get("name", "")), str(found.get("description", ""))
