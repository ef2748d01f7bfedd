"""What all trials of one agent on one tree share, made once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from guard.closing import Closing
from guard.errors import Skip
from guard.git import Repo, text_of
from guard.globs import compile_globs, folders_above, samples_below
from guard.model import Agent, Case
from guard.plugin.api import Evaluator, Target
from guard.tree import GITLINK, Tree
from guard.trials.environment import shared_environment
from guard.trials.given import given_pieces
from guard.trials.options import fill_options
from guard.trials.preconditions import Files, find_broken
from guard.trials.redaction import Redactor
from guard.trials.repoviews import CheckerRepo, PathTest, TargetRepo
from guard.trials.runfolder import RunFolder, RunPlace
from guard.trials.sandbox import Layout, Sandbox, open_sandbox, plan_hidden, plan_kept
from guard.trials.template import Piece, Template, folder_paths, make_template
from guard.workspace import Workspace


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
        self.place = place
        self.target_repo = target_repo
        self.checker_repo = checker_repo
        self.incomplete = ""
        """Why a trial would run only part of the agent; empty where it runs all of it."""
        self.missing = ""
        """Why no trial can run on this machine; empty where one can."""
        try:
            self.shared_env = shared_environment(agent.env, python)
        except Skip as error:
            self.missing, self.shared_env = error.message, {}
        self.redactor = Redactor({name: self.shared_env.get(name, "") for name in agent.env})
        self._tree = tree
        self._python = python
        self._lock = threading.Lock()
        self._free: list[Slot] = []
        self._given: dict[str, tuple[Piece, ...]] = {}
        self._stale: dict[str, str] = {}

    @contextmanager
    def slot(self) -> Generator[Slot]:
        """Lend a slot to one trial; a new one is made where all are taken."""
        with self._lock:
            slot = self._free.pop() if self._free else None
        slot = slot or Slot(self.place.new_folder("slot"), self._open_sandbox)
        try:
            yield slot
        finally:
            if slot.usable:
                with self._lock:
                    self._free.append(slot)
            else:
                slot.close()

    def _open_sandbox(self, folder: str) -> Sandbox:
        repo = self._tree.repo
        private = (repo.root, repo.git_dir, repo.common_dir, self.place.root)
        hidden = plan_hidden(private, os.environ.get("HOME", "/"))
        if hidden is None:
            return open_sandbox(None)
        environments = plan_kept(hidden, os.environ.get("PATH", ""), self._python)
        kept = (*environments, (folder, False), (self.target_repo.folder, True))
        return open_sandbox(Layout(hidden, kept))

    def given(self, case: Case) -> tuple[Piece, ...]:
        """Return the files that a case lays into its workspace. Raises `UsageError`."""
        if not case.given:
            return ()
        with self._lock:
            if case.id not in self._given:
                self._given[case.id] = tuple(given_pieces(case, self._tree))
            return self._given[case.id]

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
        """End the helper processes; the folders go with the run's."""
        with self._lock:
            for slot in self._free:
                slot.close()
            self._free.clear()


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
    interpreter, absolute. The tests take a path from the repository's root. Raises
    `ConfigError` for options that the target refuses and `UnreadableError` where git can't
    give the files.
    """
    chosen = fill_options(target, agent) if options is None else options
    paths, prefix = folder_paths(tree.entries(), agent.workspace)
    shown = [path for path in paths if not hide_from_workspace(path)]
    template = make_template(tree, shown, prefix, run.place().new_path("template"))
    place = run.place(template.size)
    stage = Stage(
        tree=tree,
        agent=agent,
        target=target,
        evaluators=evaluators,
        options=chosen,
        template=template,
        place=place,
        target_repo=TargetRepo(tree, place, hide_from_target),
        checker_repo=CheckerRepo(tree, place, show_to_checker),
        python=python[0] if python and os.path.isabs(python[0]) else "",
    )
    stage.incomplete = find_submodule(tree, agent)
    return stage


def find_submodule(tree: Tree, agent: Agent) -> str:
    """Say where files of the agent lie in a submodule, whose folder a trial finds empty."""
    inside, above = compile_globs(agent.paths), folders_above(agent.paths)
    for path, entry in tree.entries().items():
        if entry.mode != GITLINK:
            continue
        if inside(path) or path in above or any(map(inside, samples_below(path, agent.paths))):
            return f"{text_of(path)} is a submodule: its files are not in this repository"
    return ""
