"""The stages of one run: prepared when they are first needed, closed when nobody needs them.

Each holds folders and processes: 500 proofs on as many trees would hold them all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from guard.closing import Closing
from guard.git import Repo

if TYPE_CHECKING:
    # Where receipts answer all, none of it is needed.
    from guard.trials.runfolder import RunFolder
    from guard.trials.stage import Stage

    Prepare = Callable[[RunFolder], Stage]

#: Agent (or what else is run), and the id of the tree.
Name = tuple[str, str]


class Stages(Closing):
    """Stages by name, shared by all who use one at the same time; on the main thread alone."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._folder: RunFolder | None = None
        self._open: dict[Name, Stage] = {}
        self._users: Counter[Name] = Counter()

    def lend(self, name: Name, prepare: Prepare) -> Lease:
        """Return a stage to be used for a while; it is prepared when it is first asked for."""
        return Lease(self, name, prepare)

    def get(self, name: Name, prepare: Prepare) -> Stage:
        """Return a stage, prepared where it isn't yet."""
        if name not in self._open:
            if self._folder is None:
                from guard.trials.runfolder import RunFolder

                self._folder = RunFolder(self._repo)
            self._open[name] = prepare(self._folder)
        return self._open[name]

    def enter(self, name: Name) -> None:
        """Note one more user of a stage."""
        self._users[name] += 1

    def leave(self, name: Name) -> None:
        """Note one user less; the last one closes the stage."""
        self._users[name] -= 1
        if not self._users[name]:
            del self._users[name]
            if name in self._open:
                self._open.pop(name).close()

    def close(self) -> None:
        """Remove every folder of the run and end its helpers."""
        for stage in self._open.values():
            stage.close()
        self._open.clear()
        self._users.clear()
        if self._folder is not None:
            self._folder.close()
            self._folder = None


class Lease:
    """The use of a stage by one series of trials."""

    def __init__(self, stages: Stages, name: Name, prepare: Prepare) -> None:
        self._stages = stages
        self._name = name
        self._prepare = prepare
        self._is_taken = False

    def take(self) -> None:
        """Hold the stage, once it is prepared, until this is closed."""
        if not self._is_taken:
            self._is_taken = True
            self._stages.enter(self._name)

    @property
    def stage(self) -> Stage:
        """The stage, prepared now where it isn't yet; held until this is closed."""
        self.take()
        return self._stages.get(self._name, self._prepare)

    def close(self) -> None:
        """Need the stage no longer; asking for it again takes it again."""
        if self._is_taken:
            self._is_taken = False
            self._stages.leave(self._name)
