"""``{repo}``: the tree under test, as targets and as checkers may see it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection

from guard.errors import UnreadableError
from guard.git import bytes_of, text_of
from guard.globs import compile_globs
from guard.tree import GITLINK, Tree
from guard.trials.export import check_out
from guard.trials.manifest import Manifest, same_content, scan_folder
from guard.trials.runfolder import RunPlace
from guard.trials.template import Template, lacking_error, make_template
from guard.workspace import remove_tree

PathTest = Callable[[bytes], bool]


class TargetRepo:
    """``{repo}`` while a target runs: without guard's files and the agent's own paths.

    The folder is there from the start, so that a namespace can hold it read-only; its files
    are written when a target first asks for them. What can't be had isn't there; where the
    agent names it (``needed``) that is an error.
    """

    def __init__(
        self, tree: Tree, place: RunPlace, hidden: PathTest, needed: PathTest = lambda path: False
    ) -> None:
        self.folder = place.new_folder("repo")
        self._tree = tree
        self._place = place
        self.hides = hidden
        self._needed = needed
        self._lock = threading.Lock()
        self._before: Manifest | None = None
        self._shown: dict[str, bool] = {}

    def filled(self) -> str:
        """Return the folder, with its files. Raises `UnreadableError`."""
        with self._lock:
            if self._before is None:
                self._fill()
            return self.folder

    def place_of(self, folder: str) -> str:
        """Return where a folder of the tree lies in it; nothing where it has no such files."""
        if folder not in self._shown:
            prefix = bytes_of(folder) + b"/" if folder else b""
            paths = self._tree.entries()
            self._shown[folder] = any(p.startswith(prefix) and not self.hides(p) for p in paths)
        try:
            return os.path.join(self.filled(), folder).rstrip("/") if self._shown[folder] else ""
        except UnreadableError:
            return ""

    def _fill(self) -> None:
        entries = self._tree.entries()
        shown = [path for path in sorted(entries) if not self.hides(path)]
        scratch = self._place.new_folder("scratch")
        files = [path for path in shown if entries[path].mode != GITLINK]
        written = check_out(self._tree, files, scratch, self.folder)
        remove_tree(scratch)
        for one in written.lacking:
            if self._needed(one.path):
                raise lacking_error([one])
            self._remove(one.path)
        root = os.fsencode(self.folder)
        for path in shown:
            if entries[path].mode == GITLINK:
                os.makedirs(os.path.join(root, path))
        self._before = scan_folder(root)

    def _remove(self, path: bytes) -> None:
        """Take away what stands in the place of a file: a pointer to it."""
        place = os.path.join(os.fsencode(self.folder), path)
        if os.path.lexists(place):
            os.unlink(place)

    def spoiled(self, started_ns: int) -> str:
        """Return what was changed in it since a trial started; then there is a fresh one.

        For where it can't be made read-only.
        """
        with self._lock:
            before = self._before
            if before is None:
                return ""
            now = scan_folder(os.fsencode(self.folder), before, started_ns)
            if same_content(before, now):
                return ""
            self.folder = self._place.new_folder("repo")
            self._before = None
            differing = {p for p, item in before.items() if p not in now or now[p] != item}
            return "{repo}/" + text_of(min(differing | (now.keys() - before.keys())))


class CheckerRepo:
    """``{repo}`` for checkers: guard's part of the tree, and what an argv names."""

    def __init__(self, tree: Tree, place: RunPlace, shown: PathTest) -> None:
        self._tree = tree
        self._place = place
        self._shown = shown
        self._lock = threading.Lock()
        self._templates: dict[frozenset[str], Template] = {}

    def template(self, named: Collection[str]) -> Template:
        """Return the files that checkers see; ``named`` are written as ``{repo}/…`` in argvs."""
        key = frozenset(named)
        with self._lock:
            if key not in self._templates:
                self._templates[key] = self._made(key)
            return self._templates[key]

    def _made(self, named: Collection[str]) -> Template:
        is_named = compile_globs(_literal(name) for name in named)
        shown = [p for p in sorted(self._tree.entries()) if self._shown(p) or is_named(p)]
        return make_template(self._tree, shown, b"", self._place.new_path("template"))


def _literal(name: str) -> str:
    """Return a glob for a path, in whose name wildcards stand for themselves."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
