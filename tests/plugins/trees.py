"""A tree as plugins see it, made of texts."""

from __future__ import annotations

from collections.abc import Mapping

from guard.plugin import Project


def view(files: Mapping[str, str], *served: str) -> Project:
    """Return a project with these files, whose guard.yaml names these manifests."""
    contents = {path: text.encode() for path, text in files.items()}
    return Project("/nowhere", contents.get, lambda: list(contents), served)
