"""What all trials of one agent on one tree share, made once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, cast

from guard.closing import Closing
from guard.errors import Skip, UnreadableError
from guard.git import Repo, text_of
from guard.globs import compile_globs, literal
from guard.model import Agent, Case
from guard.plugin.api import Evaluator, Prerequisite, Target
from guard.plugin.doubles import StorageDouble
from guard.references import named_in_repo
from guard.results import Fingerprint
from guard.tree import GITLINK, Tree
from guard.trials.environment import shared_environment
from guard.trials.export import check_out
from guard.trials.given import given_pieces
from guard.trials.imports import Imports, Program
from guard.trials.links import leading_out
from guard.trials.options import fill_options
from guard.trials.preconditions import Files, find_broken
from guard.trials.private import make_private_folders
from guard.trials.redaction import Redactor
from guard.trials.repoviews import CheckerRepo, PathTest, TargetRepo
from guard.trials.runfolder import RunFolder, RunPlace, RunShare
from guard.trials.sandbox import Layout, Sandbox, open_sandbox, plan_hidden, plan_kept
from guard.trials.submodules import with_submodules
from guard.trials.template import (
    Piece,
    Template,
    folder_of,
    folder_paths,
    lacking_error,
    make_template,
    size_of,
)
from guard.trials.ways import OVERLAY, choose_way, find_overlay, wanted
from guard.workspace import Way, Workspace, lay_workspace


class Slot:
    """Where one trial at a time runs: a folder of its own, and what starts its programs."""

    def __init__(self, folder: str, open_own: Callable[[str], Sandbox]) -> None:
        self.folder = folder
        self._open_own = open_own

    @cached_property
    def sandbox(self) -> Sandbox:
        """What starts programs; opened by the first that needs it."""
        return self._open_own(self.folder)

    @property
    def usable(self) -> bool:
        """Whether another trial can run here."""
        return "sandbox" not in vars(self) or self.sandbox.starter.usable

    def clean(self) -> bool:
        """Take away what the last trial left for the next; tell whether that could be done."""
        return "sandbox" not in vars(self) or self.sandbox.clean()

    def close(self) -> None:
        """End the helper process, if there is one."""
        if "sandbox" in vars(self):
            self.sandbox.starter.close()


class Stage(Closing):
    """One agent on one tree, ready for trials from several threads; made by `prepare_stage`."""

    def __init__(
        self,
        tree: Tree,
        agent: Agent,
        target: Target,
        evaluators: Sequence[Evaluator],
        options: Mapping[str, Any],
        template: Template,
        way: Way,
        share: RunShare,
        place: RunPlace,
        target_repo: TargetRepo,
        checker_repo: CheckerRepo,
        python: str,
    ) -> None:
        self.agent = agent
        self.target = target
        self.evaluators = tuple(evaluators)
        self.options = options
        self.template = template
        self.way = way
        self.share = share
        self.place = place
        self.target_repo = target_repo
        self.checker_repo = checker_repo
        self.python: tuple[str, ...] = ()
        """The argv of the agent's own Python, absolute; empty where it names none."""
        self.doubles: tuple[StorageDouble, ...] = ()
        """The stand-ins for storage that the agent's options name."""
        self.prerequisites: Mapping[str, Prerequisite] = {}
        """Name → what plugins may set up for trials."""
        self.asked = Fingerprint()
        """What the target says that it drives, where that was asked."""
        self.incomplete = ""
        """Which file of the workspace can't be had, and why; empty where all of it is there."""
        self.missing = ""
        """Why no trial can run on this machine; empty where one can."""
        try:
            self.shared_env = shared_environment(agent.env, python)
        except Skip as error:
            self.missing, self.shared_env = error.message, {}
        program = Program(_argv_of(options), self.shared_env, python)
        self.imports = Imports(tree.repo, agent.workspace, template, target_repo, program)
        """Where the agent's Python finds modules."""
        self.redactor = Redactor({name: self.shared_env.get(name, "") for name in agent.env})
        self._tree = tree
        self._python = python
        self._lock = threading.Lock()
        self._free: list[Slot] = []
        self._given: dict[str, tuple[Piece, ...]] = {}
        self._unreadable: dict[str, str] = {}
        self._stale: dict[str, str] = {}

    @contextmanager
    def slot(self) -> Generator[Slot]:
        """Lend a slot to one trial; a new one is made where all are taken."""
        with self._lock:
            while self._free and not self._free[-1].usable:
                # Whatever stopped another run in this process stopped it too.
                self._free.pop().close()
            slot = self._free.pop() if self._free else None
        slot = slot or Slot(self.place.new_folder("slot"), self._open_sandbox)
        try:
            yield slot
        finally:
            if slot.usable and slot.clean():
                with self._lock:
                    self._free.append(slot)
            else:
                slot.close()

    def lay(self, slot: Slot, name: str, given: Sequence[Piece]) -> Workspace:
        """Lay a workspace in a slot. Raises `UsageError` where ``given`` would leave it."""
        return lay_workspace(slot.folder, name, self.template, given, self.way)

    def _open_sandbox(self, folder: str) -> Sandbox:
        hidden = _hidden(self._tree.repo, self.place)
        if hidden is None:
            return open_sandbox(None)
        environments = plan_kept(hidden, os.environ.get("PATH", ""), self._python)
        kept = (*environments, (folder, False), (self.target_repo.folder, True))
        return open_sandbox(Layout(hidden, kept, make_private_folders(self.place)))

    def read(self, path: str) -> bytes | None:
        """Return the content of a file of the tree, or None."""
        return self._tree.read(path)

    def files(self) -> dict[str, str]:
        """Return path → git's id of its content, of every file of the tree."""
        entries = self._tree.entries().items()
        return {text_of(path): entry.oid for path, entry in entries if entry.mode != GITLINK}

    def lay_files(self) -> str:
        """Lay all files of the tree into a folder of the run's own; return its path."""
        paths = [path for path, entry in self._tree.entries().items() if entry.mode != GITLINK]
        place = self.share.place()
        folder = place.new_folder("ground")
        with self._lock:
            written = check_out(self._tree, paths, place.new_path("scratch"), folder)
        if written.lacking:
            raise lacking_error(written.lacking)
        return folder

    def given(self, case: Case) -> tuple[Piece, ...]:
        """Return the files that a case lays into its workspace. Raises `UsageError`."""
        if not case.given:
            return ()
        with self._lock:
            if case.id not in self._given:
                try:
                    self._given[case.id] = tuple(given_pieces(case, self._tree))
                except UnreadableError as error:
                    self._given[case.id] = ()
                    self._unreadable[case.id] = told(error)
            return self._given[case.id]

    def lacking(self, case: Case) -> str:
        """Return which file of a case's workspace can't be had, and why; nothing where all can."""
        self.given(case)
        return self.incomplete or self._unreadable.get(case.id, "")

    def stale(self, case: Case, workspace: Workspace) -> str:
        """Return the first precondition that doesn't hold: the same for all trials of a case."""
        if not case.preconditions:
            return ""
        with self._lock:
            if case.id not in self._stale:
                files = Files(workspace.before, workspace.content_before)
                self._stale[case.id] = find_broken(case.preconditions, files)
            return self._stale[case.id]

    def close(self) -> None:
        """End the helper processes, and remove the folders."""
        with self._lock:
            for slot in self._free:
                slot.close()
            self._free.clear()
        self.share.remove()


def prepare_stage(
    repo: Repo,
    tree: Tree,
    agent: Agent,
    target: Target,
    evaluators: Sequence[Evaluator],
    options: Mapping[str, Any] | None = None,
    *,
    run: RunFolder,
    hide_from_target: PathTest,
    hide_from_workspace: PathTest,
    show_to_checker: PathTest = lambda path: True,
    python: Sequence[str] = (),
) -> Stage:
    """Make ready what all trials of an agent on a tree share.

    ``options``: validated already, where given. ``python``: the argv of the agent's own
    interpreter, absolute. The tests take a path from the repository's root. Where a file of the
    workspace can't be had, `Stage.incomplete` says so. Raises `ConfigError` for options that the
    target refuses.
    """
    chosen = fill_options(target, agent) if options is None else options
    share = RunShare(run)
    template, way, place, incomplete = _make_template(tree, agent, hide_from_workspace, share)
    stage = Stage(
        tree=tree,
        agent=agent,
        target=target,
        evaluators=evaluators,
        options=chosen,
        template=template,
        way=way,
        share=share,
        place=place,
        target_repo=TargetRepo(tree, place, hide_from_target, _needed(chosen)),
        checker_repo=CheckerRepo(tree, place, show_to_checker),
        python=python[0] if python and os.path.isabs(python[0]) else "",
    )
    stage.incomplete = incomplete
    stage.python = tuple(python)
    return stage


def _argv_of(options: Mapping[str, Any]) -> Sequence[str]:
    """Return the program that a target's options name, where they name one."""
    argv: object = options.get("argv")
    return [str(word) for word in cast("list[object]", argv)] if isinstance(argv, list) else ()


def _needed(options: Mapping[str, Any]) -> PathTest:
    """Return a test of what a target's options name in ``{repo}``."""
    return compile_globs(map(literal, named_in_repo(options)))


def _make_template(
    tree: Tree, agent: Agent, hidden: PathTest, run: RunShare
) -> tuple[Template, Way, RunPlace, str]:
    """Return what the agent's workspaces are laid from, how and where, and why it isn't all."""
    whole, lacking = with_submodules(tree, folder_of(agent.workspace))
    paths, prefix = folder_paths(whole.entries(), agent.workspace)
    shown = [path for path in paths if not hidden(path)]
    lacking += leading_out(whole, shown, prefix, compile_globs(agent.paths))
    options = problem = ""
    template, incomplete = Template(()), ""
    place = run.place()
    try:
        if lacking:
            raise lacking_error(lacking)
        if wanted(len(shown)) == OVERLAY:
            place = run.place(size_of(whole, shown))
            options, problem = find_overlay(place, hides=_hidden(tree.repo, place) is not None)
        folder, keep = place.new_path("template"), bool(options)
        template = make_template(whole, shown, prefix, folder, keep=keep)
    except UnreadableError as error:
        incomplete = told(error)
    if not template.folder:
        place = run.place(template.size)
    return template, choose_way(template, place, options, problem), place, incomplete


def _hidden(repo: Repo, place: RunPlace) -> tuple[str, ...] | None:
    """Return the folders that trials don't see; None where that can't be."""
    private = (repo.root, repo.git_dir, repo.common_dir, place.root)
    return plan_hidden(private, os.environ.get("HOME", "/"))


def told(error: UnreadableError) -> str:
    """Return what can't be had as one reason, with the command that brings it."""
    return f"{error.message} ({error.hint})" if error.hint else error.message
