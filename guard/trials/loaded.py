"""Which of the agent's own Python files a trial loaded, and whether from its workspace.

Python itself tells: each trial has an empty folder for byte-code, and what is imported from a
source file is cached there under the path of that file. A program that switches this off, or
is no Python, can't be told from: then nothing is claimed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from guard.git import bytes_of, text_of
from guard.trials.template import Template

INIT = "__init__.py"


class Loaded(NamedTuple):
    """What is known of the files that a trial loaded."""

    from_workspace: bool | None = None
    """None: it can't be told."""
    elsewhere: str = ""
    """A file of the agent's own that came from another place, in words."""


class OwnFiles:
    """The agent's own Python files, and the names by which they are imported."""

    def __init__(self, template: Template, inside: str, is_own: Callable[[bytes], bool]) -> None:
        """``inside``: the workspace's folder in the tree; ``is_own`` takes paths of the tree."""
        self._prefix = bytes_of(inside) + b"/" if inside else b""
        self._is_own = is_own
        python = [text_of(path) for path in template.pieces if path.endswith(b".py")]
        self.files = frozenset(path for path in python if self.is_own(path))
        """From the workspace's root."""
        self._packages = frozenset(os.path.dirname(path) for path in python if _is_init(path))
        self.by_name: dict[str, str] = {}
        """Path as imports find it (``pkg/core.py``) → file."""
        for path in self.files:
            self.by_name[path[len(self._root_of(path)) :]] = path
        self.add_roots([f"{inside}/src" if inside else "src"])

    def is_own(self, path: str) -> bool:
        """Tell whether a file of the workspace is the agent's own."""
        return self._is_own(self._prefix + bytes_of(path))

    def of_tree(self, path: str) -> bool:
        """Tell whether a path from the repository's root is the agent's own."""
        return self._is_own(bytes_of(path))

    def add_roots(self, folders: Iterable[str]) -> None:
        """Name further folders, from the repository's root, in which modules are looked for."""
        prefix = text_of(self._prefix)
        for folder in folders:
            root = f"{folder}/" if folder else ""
            for path in self.files:
                if (prefix + path).startswith(root):
                    self.by_name[(prefix + path)[len(root) :]] = path

    @property
    def top_names(self) -> frozenset[str]:
        """Modules and packages by the names that are imported first."""
        names = {name.partition("/")[0].removesuffix(".py") for name in self.by_name}
        return frozenset(name for name in names if name.isidentifier())

    def told(self, name: str, place: str) -> str:
        """Say that a file came from another place, and what would bring the workspace's own."""
        file = self.by_name[name]
        whole = text_of(self._prefix) + file
        root = file[: -len(name)].rstrip("/") or "."
        mends = f"options: {{env: {{PYTHONPATH: {root}}}}}"
        if len(name) > len(file):
            mends = f"workspace: {whole[: -len(name)].rstrip('/') or '.'}"
        return f"{_told(file, place)} (`{mends}` mends that)"

    def _root_of(self, path: str) -> str:
        """Return the folder above a file's outermost package, with a slash at its end."""
        folder = os.path.dirname(path)
        while folder and folder in self._packages:
            folder = os.path.dirname(folder)
        return f"{folder}/" if folder else ""


def find_loaded(
    own: OwnFiles,
    workspace: str,
    cache: str,
    argv: Sequence[str],
    checkouts: Iterable[str],
    elsewhere: Iterable[str],
) -> Loaded:
    """Tell from the byte-code in ``cache`` what was loaded.

    ``elsewhere``: folders in which the interpreter looks for modules. ``checkouts``: those
    of the repository, whose files are never the trial's.
    """
    if not os.path.isdir(cache):
        return Loaded()
    mine = {path for root in _both(workspace) for path in _sources(cache, root)} & own.files
    for root in checkouts:
        for path in sorted(filter(own.of_tree, _sources(cache, root))):
            return Loaded(False, _told(path, os.path.join(root, path)))
    tops = {name.partition("/")[0] for name in own.by_name}
    for root in dict.fromkeys(filter(None, elsewhere)):
        for path in sorted(_sources(cache, root, tops)):
            if own.by_name.get(path, path) in own.files - mine:
                return Loaded(False, own.told(path, os.path.join(root, path)))
    if mine or _main_file(own, workspace, argv):
        return Loaded(True)
    return Loaded()


def _told(own: str, place: str) -> str:
    return f"agent_not_loaded: {own} was loaded from {place}, not from the workspace"


def _both(path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((path, os.path.realpath(path))))


def _sources(cache: str, root: str, tops: Container[str] | None = None) -> Iterator[str]:
    """Yield the source files below a folder whose byte-code is there, from that folder.

    ``tops``: the modules and packages in it that are asked for.
    """
    top = os.path.join(cache, root.lstrip("/"))
    for folder, folders, files in os.walk(top):
        prefix = "" if folder == top else f"{os.path.relpath(folder, top)}/"
        names = [f"{file.partition('.')[0]}.py" for file in files]
        if not prefix and tops is not None:
            folders[:] = [name for name in folders if name in tops]
            names = [name for name in names if name in tops]
        yield from (f"{prefix}{name}" for name in names)


def _main_file(own: OwnFiles, workspace: str, argv: Sequence[str]) -> bool:
    """Tell whether the program itself is a file of the agent's: what is run leaves no byte-code."""
    words = [word for word in argv[1:3] if word]
    if words[:1] == ["-m"] and len(words) > 1:
        path = words[1].replace(".", "/")
        return f"{path}.py" in own.files or f"{path}/__main__.py" in own.files
    if not words or words[0].startswith("-"):
        return False
    return os.path.relpath(os.path.join(workspace, words[0]), workspace) in own.files


def _is_init(path: str) -> bool:
    return os.path.basename(path) == INIT
