"""What a trial's search paths lead to: the workspace, wherever they led into the checkout.

An editable install, ``PYTHONPATH`` or a folder of programs on PATH names the user's own files:
in a namespace they are out of sight, and without one they are today's code on both sides of a
proof. So the workspace's folder of the same name comes first; what the agent's workspace
doesn't hold comes from ``{repo}``, the rest of the tree under test.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from guard.git import Repo, bytes_of
from guard.trials.interpreter import Answer, ask_interpreter, find_environment, find_interpreter
from guard.trials.loaded import Loaded, OwnFiles, find_loaded
from guard.trials.repoviews import TargetRepo
from guard.trials.template import Template

#: From this version on byte-code can be written elsewhere than beside its source.
CACHE_ELSEWHERE: Final = (3, 8)
MOST_NAMES: Final = 500
NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
CACHE: Final = "PYTHONPYCACHEPREFIX"
#: What a user installed for himself is in no trial's HOME.
NO_HOME: Final = "/nonexistent"


class Program(NamedTuple):
    """How the agent's program is started."""

    argv: Sequence[str] = ()
    env: Mapping[str, str] = {}
    python: str = ""
    """The agent's own interpreter, absolute."""


class _Found(NamedTuple):
    own: OwnFiles
    answer: Answer | None = None
    folders: tuple[str, ...] = ()
    """Of the checkout, from its root, in the order in which modules are looked for there."""


class Imports:
    """The search paths of one stage's trials; its interpreter is asked when first needed."""

    def __init__(
        self,
        repo: Repo,
        workspace: str,
        template: Template,
        target_repo: TargetRepo,
        program: Program,
    ) -> None:
        """Nothing is looked for yet."""
        self._roots = checkouts_of(repo)
        self._inside = workspace.strip("/")
        self._template = template
        self._target_repo = target_repo
        self._program = program
        self._lock = threading.Lock()
        self._found: _Found | None = None

    def settled(self, env: Mapping[str, str], workspace: str) -> dict[str, str]:
        """Return a trial's environment with its search paths led into the workspace."""
        settled = self._led({**env, "PYTHONPATH": env.get("PYTHONPATH", "")}, env, workspace)
        answer = self._interpreter.answer
        if answer is not None and answer.version >= CACHE_ELSEWHERE:
            # What is written to the trial's own cache tells which files were loaded.
            settled.pop(NO_BYTECODE, None)
        return settled

    def with_stated(
        self, env: Mapping[str, str], stated: Mapping[str, str], workspace: str
    ) -> dict[str, str]:
        """Add variables that a target sets for its program; byte-code stays the trial's own."""
        merged = self._led(stated, {**env, **stated}, workspace)
        return {**merged, CACHE: env[CACHE]} if CACHE in env else merged

    def loaded(self, workspace: str, cache: str, argv: Sequence[str]) -> Loaded:
        """Tell what a trial's Python programs loaded of the agent's own files."""
        own, answer, _ = self._interpreter
        if answer is None:
            return Loaded()
        elsewhere = [*answer.path, *(_folder_of(name, place) for name, place in answer.modules)]
        return find_loaded(own, workspace, cache, argv, self._roots, elsewhere)

    @property
    def _interpreter(self) -> _Found:
        with self._lock:
            self._found = self._found or self._ask()
            return self._found

    def _ask(self) -> _Found:
        """Find out where the agent's interpreter looks for modules; starts none for no Python."""
        argv, env, python = self._program
        path = env.get("PATH", "")
        found = find_interpreter(argv, path, python, self._content)
        found = found or find_environment(path, self._roots)
        own = OwnFiles(self._template, self._inside, self._target_repo.hides)
        names = sorted(own.top_names)[:MOST_NAMES]
        asked = ask_interpreter(found, {**env, "HOME": NO_HOME}, names) if found else None
        if asked is None:
            return _Found(own)
        folders = [self._relative(entry) for entry in asked.path]
        folders += [self._relative(_folder_of(name, place)) for name, place in asked.modules]
        inside = tuple(dict.fromkeys(f for f in folders if f is not None))
        own.add_roots(inside)
        return _Found(own, asked, inside)

    def _content(self, path: str) -> bytes | None:
        return self._template.content(bytes_of(path))

    def _led(
        self, stated: Mapping[str, str], env: Mapping[str, str], workspace: str
    ) -> dict[str, str]:
        """Return an environment in which what is stated leads into the workspace."""
        led = dict(env)
        if "PATH" in stated:
            entries = stated["PATH"].split(os.pathsep)
            led["PATH"] = os.pathsep.join(self._mapped(e, workspace) or e for e in entries)
        if "PYTHONPATH" in stated:
            led["PYTHONPATH"] = os.pathsep.join(self._python_path(stated["PYTHONPATH"], workspace))
        if not led.get("PYTHONPATH"):
            led.pop("PYTHONPATH", None)
        return led

    def _python_path(self, stated: str, workspace: str) -> list[str]:
        """Return the folders stated, each led into the workspace, and those of the environment."""
        entries: list[str] = []
        for entry in stated.split(os.pathsep) if stated else ():
            mapped = self._mapped(entry, workspace)
            if mapped or self._relative(entry) is None:
                entries.append(mapped or entry)
        found = [self._counterpart(folder, workspace) for folder in self._interpreter.folders]
        return list(dict.fromkeys((*entries, *filter(None, found))))

    def _mapped(self, entry: str, workspace: str) -> str:
        relative = self._relative(entry)
        return "" if relative is None else self._counterpart(relative, workspace)

    def _relative(self, entry: str) -> str | None:
        """Return a path inside a checkout from its root; None for what lies elsewhere."""
        if not os.path.isabs(entry):
            return None
        for place in (os.path.normpath(entry), os.path.realpath(entry)):
            for root in self._roots:
                if place == root or place.startswith(root + "/"):
                    return place[len(root) + 1 :]
        return None

    def _counterpart(self, folder: str, workspace: str) -> str:
        """Return what stands for a folder of the checkout; nothing where the tree has none."""
        inside = self._inside
        if not inside or folder == inside or folder.startswith(inside + "/"):
            below = folder[len(inside) :].strip("/")
            there = not below or bytes_of(below) in self._template.folders
            return os.path.join(workspace, below).rstrip("/") if there else ""
        return self._target_repo.place_of(folder)


def checkouts_of(repo: Repo) -> tuple[str, ...]:
    """Return the checkouts of a repository: this one, the main one and other linked ones."""
    found = [repo.root]
    if os.path.basename(repo.common_dir) == ".git":
        found.append(os.path.dirname(repo.common_dir))
    linked = os.path.join(repo.common_dir, "worktrees")
    for name in sorted(os.listdir(linked)) if os.path.isdir(linked) else ():
        try:
            with open(os.path.join(linked, name, "gitdir"), encoding="utf-8") as file:
                found.append(os.path.dirname(file.read().strip()))
        except (OSError, UnicodeError):
            continue
    roots = [
        place
        for root in found
        if root
        for place in (os.path.normpath(root), os.path.realpath(root))
    ]
    # The longest first: a linked checkout may lie inside another one.
    return tuple(sorted(dict.fromkeys(roots), key=len, reverse=True))


def _folder_of(name: str, place: str) -> str:
    """Return the folder by which a module of a name is found at a place; nothing where by none."""
    place = os.path.realpath(place)
    if os.path.basename(place) == "__init__.py":
        place = os.path.dirname(place)
    place = place.removesuffix(".py")
    tail = "/" + name.replace(".", "/")
    return place[: -len(tail)] or "/" if place.endswith(tail) else ""
